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

/* The thread that found the race. */
static struct dh_thread finder = {.uid = {1}};

/* Thread uid has slot uid, and a block of ids of its own. */
static void access_of(u32 uid, u32 clock, uptr pc, dh_lockset_t locks)
{
    static dh_id_t next[4];
    static u32 left[4];
    struct dh_access_rec r = {.clock = clock,
                              .slot = dh_slot_from(uid),
                              .uid = dh_uid_from(uid),
                              .kind = DH_WRITE,
                              .lockset = locks,
                              .ctx = dh_ctx_leaf(DH_CTX_NONE, (const void *)pc)};
    if (!left[uid])
        next[uid] = dh_ids_take(1, &left[uid]);
    assert_true(dh_id_put(next[uid], &r));
    next[uid] = dh_id_from(dh_id_raw(next[uid]) + 1);
    left[uid]--;
}

static void access_at(uptr pc, dh_lockset_t locks)
{
    access_of(2, 1, pc, locks);
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
    dh_discipline_find(&finder, HERE, THERE, &d);
    assert_int_equal(d.accesses, 0);
    assert_int_equal(d.held, 0);
    for (int i = 0; i < 14; i++)
        access_at(i % 2 ? HERE : THERE, one);
    access_at(HERE, DH_LOCKSET_EMPTY);
    for (int i = 0; i < 40; i++)
        access_at(ELSEWHERE, with(DH_LOCKSET_EMPTY, OTHER_LOCK, OTHER_CALL));
    dh_discipline_find(&finder, HERE, THERE, &d);
    assert_int_equal(d.accesses, 15);
    assert_int_equal(d.lock, LOCK);
    assert_int_equal(d.held, 14);
    assert_int_equal(d.taken_at, CALL);
    assert_int_equal(d.held_from, 14);
    dh_discipline_find(&finder, THERE, THERE, &d);
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
    dh_discipline_find(&finder, PLACE, PLACE, &d);
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
    dh_discipline_find(&finder, PLACE, PLACE, &d);
    assert_int_equal(d.accesses, 501);
    assert_int_equal(d.held, 1);
}

/* The finder learned from `addr` what thread `uid` did after `before`, up to `clock`. */
static void learn(uptr addr, u32 epoch, u32 uid, u32 before, u32 clock)
{
    finder.taught[finder.n_taught++ % DH_TAUGHT] =
        (struct dh_taught){addr, epoch, dh_slot_from(uid), before, clock};
}

/* Items that are handed over by a lock which neither side holds when it accesses them. */
static void handed_over(void **state)
{
    (void)state;
    struct dh_discipline d;
    enum { GIVE = 0xb000, TAKE = 0xc000, OTHER = 0xd000 };
    for (u32 i = 0; i < 9; i++) {
        access_of(2, 10 + i, GIVE, DH_LOCKSET_EMPTY);
        access_of(1, 20 + 2 * i, TAKE, DH_LOCKSET_EMPTY);
        if (i < 6)
            learn(LOCK, 19 + 2 * i, 2, 9 + i, 10 + i);
        else
            learn(OTHER_LOCK, 19 + 2 * i, 3, i, i + 1); /* of a thread that was never there */
    }
    access_of(1, 20, TAKE, with(DH_LOCKSET_EMPTY, OTHER_LOCK, CALL)); /* of an epoch that is counted */
    dh_discipline_find(&finder, TAKE, GIVE, &d);
    assert_int_equal(d.observations, 9 + 1); /* it stands apart in the table */
    assert_int_equal(d.ordered, 6);
    assert_int_equal(d.order, LOCK);
    /* Two lessons before one access, and one of the same epoch, which may have come later. */
    learn(LOCK, 17, 2, 9, 10);
    learn(LOCK, 36, 2, 17, 18);
    dh_discipline_find(&finder, TAKE, GIVE, &d);
    assert_int_equal(d.ordered, 6);
    dh_discipline_find(&finder, TAKE, OTHER, &d);
    assert_int_equal(d.ordered, 0);
    /* What was learned before the lessons that are kept is not known, nor are the accesses of then. */
    for (u32 i = 0; i < DH_TAUGHT; i++)
        learn(LOCK, 29, 2, 13, 15);
    dh_discipline_find(&finder, TAKE, GIVE, &d);
    assert_int_equal(d.observations, 4);
    assert_int_equal(d.ordered, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),
        cmocka_unit_test(locks_of_objects),
        cmocka_unit_test(many_locks),
        cmocka_unit_test(handed_over),
    };
    if (!dh_ids_init())
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
