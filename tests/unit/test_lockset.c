/*
 * test_lockset.c - src/runtime/threads/lockset.c.
 */
#include "runtime/threads/lockset.h"
#include "unit/check.h"

#define UNKNOWN (DH_LOCKSET_MAX + 1)

/* Sets and contexts are plain numbers here. */
static u32 with(u32 set, uptr lock, bool read, u32 ctx)
{
    return dh_lockset_raw(dh_lockset_with(dh_lockset_from(set), lock, read, dh_ctx_from(ctx)));
}

static void sets(void **state)
{
    (void)state;
    u32 a = with(0, 0x1000, false, 1), ab = with(a, 0x2000, true, 2);
    assert_true(a != 0 && ab != 0 && a != ab);
    assert_int_equal(with(0, 0x1000, false, 1), a);
    assert_int_equal(with(a, 0x2000, true, 2), ab);
    assert_true(with(a, 0x2000, false, 2) != ab); /* another mode */
    assert_true(with(a, 0x2000, true, 3) != ab);  /* taken elsewhere */
    assert_true(with(0, 0x2000, true, 2) != ab);
    const struct dh_lockset_node *n = dh_lockset_node(dh_lockset_from(ab));
    assert_true(n->lock == 0x2000 && n->read && dh_ctx_raw(n->ctx) == 2 && dh_lockset_raw(n->parent) == a);
    n = dh_lockset_node(dh_lockset_from(a));
    assert_true(n->lock == 0x1000 && !n->read && dh_ctx_raw(n->ctx) == 1 && dh_lockset_is_empty(n->parent));
    u32 high = with(0, 0x7ffffffff000, true, 5);
    assert_true(dh_lockset_node(dh_lockset_from(high))->lock == 0x7ffffffff000);
}

/* A full table: new sets are unknown, known ones stay known, and unknown plus a lock is unknown. */
static void full(void **state)
{
    (void)state;
    u32 known = with(0, 0x3000, false, 1), last = 0;
    u64 made = 0;
    for (uptr lock = 0x100000; last != UNKNOWN; lock += 64, made++)
        last = with(0, lock, false, 1);
    assert_true(made <= UNKNOWN);
    for (int i = 0; i < 1000; i++) /* no number past the last one, however often it is asked for */
        assert_int_equal(with(known, 0x900000000 + (uptr)i, false, 1), UNKNOWN);
    assert_int_equal(with(0, 0x3000, false, 1), known);
    assert_int_equal(with(UNKNOWN, 0x3000, false, 1), UNKNOWN);
    assert_true(dh_lockset_node(dh_lockset_from(known))->lock == 0x3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets),
        cmocka_unit_test(full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
