/*
 * test_cell.c - src/runtime/shadow/cell.h and what it shares with ids.h: the numbers in a cell.
 */
#include "runtime/shadow/cell.h"
#include "runtime/shadow/ids.h"
#include "runtime/threads/lockset.h"
#include "unit/check.h"

static void round_trip(void **state)
{
    (void)state;
    static const u32 ids[] = {0, 1, 255, 256, 4096, 1u << 26, DH_ID_MAX - 1, DH_ID_MAX};
    for (size_t i = 0; i < DH_ARRAY_LEN(ids); i++) {
        for (u32 mask = 0; mask <= DH_MASK_FULL; mask++) {
            u32 c = dh_cell_make(ids[i], mask);
            assert_false(dh_cell_is_history(c));
            assert_int_equal(dh_cell_id(c), ids[i]);
            assert_int_equal(dh_cell_mask(c), mask);
            assert_true((c == 0) == (ids[i] == 0 && mask == 0));
        }
    }
    for (u32 index = 1; index < 1u << 30; index <<= 1) {
        u32 c = index | DH_CELL_HISTORY, s = index | DH_CELL_SPLIT;
        assert_true(dh_cell_is_history(c) && !dh_cell_is_split(c) && !dh_cell_is_simple(c));
        assert_true(dh_cell_is_split(s) && !dh_cell_is_history(s) && !dh_cell_is_simple(s));
        assert_int_equal(dh_cell_history_index(c), index);
        assert_int_equal(dh_cell_split_index(s), index);
    }
}

/* The inlined check: cell - base < count accepts the epoch's ids with all four bytes, and nothing else. */
static void one_comparison(void **state)
{
    (void)state;
    const u32 first = 5000, count = 3, base = dh_cell_make(first, DH_MASK_FULL);
    for (u32 id = first - 2; id < first + count + 2; id++) {
        for (u32 mask = 0; mask <= DH_MASK_FULL; mask++) {
            bool hit = dh_cell_make(id, mask) - base < count;
            assert_int_equal(hit, mask == DH_MASK_FULL && id >= first && id < first + count);
        }
        assert_false((id | DH_CELL_HISTORY) - base < count);
        assert_false((id | DH_CELL_SPLIT) - base < count);
    }
    assert_false(0 - base < count);
    /* The last ids there are: no wrap into histories. */
    u32 last = dh_cell_make(DH_ID_MAX, DH_MASK_FULL);
    assert_true(last - dh_cell_make(DH_ID_MAX - 1, DH_MASK_FULL) < 2);
    assert_false(DH_CELL_HISTORY - dh_cell_make(DH_ID_MAX - 1, DH_MASK_FULL) < 2);
    /* All zero is valid: nothing hits. */
    assert_false(0u - 0u < 0u);
}

/* What is put is what is got, at the limits of every field. */
static void record(void **state)
{
    (void)state;
    assert_int_equal(sizeof(struct dh_id_rec), 8);
    u32 count, id = 0;
    assert_true(dh_ids_init());
    id = dh_ids_take(2, &count);
    assert_true(id != 0 && count == 2 * DH_ID_BLOCK);
    struct dh_access_rec r = {.clock = ~0u - 1023, .slot = 65535, .uid = ~0u}, got;
    assert_true(dh_id_put(id, &r));
    r = (struct dh_access_rec){.clock = ~0u,
                               .slot = 65535,
                               .uid = ~0u,
                               .ctx = (1u << 27) - 1,
                               .lockset = DH_LOCKSET_UNKNOWN,
                               .kind = 15,
                               .size = 5};
    assert_true(dh_id_put(id + 1, &r));
    got = dh_id_get(id + 1);
    assert_memory_equal(&got, &r, sizeof(r));
    assert_int_equal(dh_id_block(id + 1)->youngest, ~0u);
    got = dh_id_get(id);
    assert_int_equal(got.clock, ~0u - 1023);
    assert_int_equal(got.ctx, 0);
    /* Too much later than the block's first, and another thread's: a new block takes them. */
    r.clock = 0;
    assert_false(dh_id_put(id + 2, &r));
    assert_true(dh_id_put(id + DH_ID_BLOCK, &r));
    r.uid = 7;
    assert_false(dh_id_put(id + DH_ID_BLOCK + 1, &r));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(one_comparison),
        cmocka_unit_test(record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
