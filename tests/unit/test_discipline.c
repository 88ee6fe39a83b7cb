/*
 * test_discipline.c - src/runtime/report/discipline.c: which lock the accesses at a place are made under.
 *
 * Contexts and lock sets are the real ones; ids are taken and written here, as the engine does it.
 */
#include "unit/check.h"

#include "runtime/report/discipline.h"
#include "runtime/shadow/ids.h"
#include "runtime/sink/tap.h"
#include "runtime/threads/cfi.h"

enum { HERE = 0x1000, THERE = 0x2000, ELSEWHERE = 0x3000, CALL = 0x4000, OTHER_CALL = 0x5000 };
enum { LOCK = 0x700000, OTHER_LOCK = 0x700100 };

/* For context.c: nothing is recorded, and recursion is not the subject here. */
const struct dh_tap *dh_tap;

uptr dh_cfi_function(uptr pc)
{
    return pc;
}

static dh_id_t next;
static u32 left;

static void access_at(uptr pc, dh_lockset_t locks)
{
    struct dh_access_rec r = {.clock = 1, .uid = dh_uid_from(2), .kind = DH_WRITE, .lockset = locks};
    r.ctx = dh_ctx_leaf(DH_CTX_NONE, (const void *)pc);
    if (!left)
        next = dh_ids_take(1, &left);
    assert_true(dh_id_put(next, &r));
    next = dh_id_from(dh_id_raw(next) + 1);
    left--;
}

static dh_lockset_t with(dh_lockset_t set, uptr lock, uptr call)
{
    return dh_lockset_with(set, lock, false, dh_ctx_leaf(DH_CTX_NONE, (const void *)call));
}

static void counts(void **state)
{
    (void)state;
    struct dh_discipline d;
    dh_lockset_t one = with(DH_LOCKSET_EMPTY, LOCK, CALL);
    dh_discipline_find(HERE, THERE, &d);
    assert_int_equal(d.accesses, 0);
    assert_int_equal(d.held, 0);
    for (int i = 0; i < 14; i++)
        access_at(i % 2 ? HERE : THERE, one);
    access_at(HERE, DH_LOCKSET_EMPTY);
    for (int i = 0; i < 40; i++)
        access_at(ELSEWHERE, with(DH_LOCKSET_EMPTY, OTHER_LOCK, OTHER_CALL));
    dh_discipline_find(HERE, THERE, &d);
    assert_int_equal(d.accesses, 15);
    assert_int_equal(d.lock, LOCK);
    assert_int_equal(d.held, 14);
    assert_int_equal(d.taken_at, CALL);
    assert_int_equal(d.held_from, 14);
    dh_discipline_find(THERE, THERE, &d);
    assert_int_equal(d.accesses, 7);
    assert_int_equal(d.held, 7);
}

/* Each object has a lock of its own: no lock is held often, but all are taken by one call. */
static void locks_of_objects(void **state)
{
    (void)state;
    struct dh_discipline d;
    enum { PLACE = 0x6000 };
    for (uptr i = 0; i < 10; i++) {
        dh_lockset_t outer = with(DH_LOCKSET_EMPTY, LOCK + 0x1000 * (i + 1), CALL);
        access_at(PLACE, with(outer, OTHER_LOCK + 0x1000 * (i + 1), CALL));
    }
    dh_discipline_find(PLACE, PLACE, &d);
    assert_int_equal(d.accesses, 10);
    assert_int_equal(d.held, 1);
    assert_int_equal(d.taken_at, CALL);
    assert_int_equal(d.held_from, 10); /* not 20: it is one access that took two */
}

/* More locks than are told apart, and a set that is not known: nothing is counted twice or out of bounds. */
static void many_locks(void **state)
{
    (void)state;
    struct dh_discipline d;
    enum { PLACE = 0x8000 };
    for (uptr i = 0; i < 500; i++)
        access_at(PLACE, with(DH_LOCKSET_EMPTY, 0x900000 + 64 * i, 0xa000 + 16 * i));
    access_at(PLACE, DH_LOCKSET_UNKNOWN);
    dh_discipline_find(PLACE, PLACE, &d);
    assert_int_equal(d.accesses, 501);
    assert_int_equal(d.held, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),
        cmocka_unit_test(locks_of_objects),
        cmocka_unit_test(many_locks),
    };
    if (!dh_ids_init())
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
