/*
 * test_cell.c - src/runtime/shadow/cell.h and what it shares with ids.h: the numbers in a cell.
 */
#include "runtime/shadow/cell.h"
#include "runtime/shadow/ids.h"
#include "runtime/shadow/pair.h"
#include "runtime/threads/lockset.h"
#include "unit/handles.h"

static void round_trip(void **state)
{
    (void)state;
    static const u32 ids[] = {0, 1, 255, 256, 4096, 1u << 26, DH_ID_MAX - 1, DH_ID_MAX};
    for (size_t i = 0; i < DH_ARRAY_LEN(ids); i++) {
        for (u32 mask = 0; mask <= DH_MASK_ALL; mask++) {
            dh_cell_t c = cell_of(ids[i], mask);
            assert_false(dh_cell_is_history(c));
            assert_int_equal(id_of(c), ids[i]);
            assert_int_equal(dh_mask_raw(dh_cell_mask(c)), mask);
            assert_true(dh_cell_is_none(c) == (ids[i] == 0 && mask == 0));
        }
    }
    for (u32 index = 1; index < 1u << 30; index <<= 1) {
        dh_cell_t c = dh_cell_of_history(index), s = dh_cell_of_split(index);
        assert_true(dh_cell_is_history(c) && !dh_cell_is_split(c) && !dh_cell_is_simple(c));
        assert_true(dh_cell_is_split(s) && !dh_cell_is_history(s) && !dh_cell_is_simple(s));
        assert_int_equal(dh_cell_history_index(c), index);
        assert_int_equal(dh_cell_split_index(s), index);
    }
}

/* Sets of bytes, against the definition byte by byte. */
static void masks(void **state)
{
    (void)state;
    for (u32 x = 0; x <= DH_MASK_ALL; x++) {
        const dh_mask_t a = dh_mask_from(x);
        u32 low = 0, high = 0, n = 0;
        for (u32 k = 0; k < 4; k++)
            n += x >> k & 1;
        while (low < 4 && (x >> low & 1))
            low++;
        while (high < 4 && (x >> (3 - high) & 1))
            high++;
        assert_int_equal(dh_mask_count(a), n);
        assert_int_equal(dh_mask_low_run(a), low);
        assert_int_equal(dh_mask_high_run(a), high);
        for (dh_mask_t rest = a; !dh_mask_is_none(rest); rest = dh_mask_rest(rest), n--)
            assert_true(dh_mask_has(a, dh_mask_first(rest)));
        assert_int_equal(n, 0);
        for (u32 y = 0; y <= DH_MASK_ALL; y++) {
            const dh_mask_t b = dh_mask_from(y);
            assert_int_equal(dh_mask_meets(a, b), !dh_mask_is_none(dh_mask_and(a, b)));
            assert_int_equal(dh_mask_covers(a, b), dh_mask_is_none(dh_mask_minus(b, a)));
            assert_int_equal(dh_mask_is_full(dh_mask_or(a, b)), (x | y) == DH_MASK_ALL);
        }
    }
    for (uptr lo = 100; lo < 108; lo++)
        for (uptr hi = lo + 1; hi <= 112; hi++)
            for (uptr word = lo & ~(uptr)3; word < hi; word += 4)
                for (u32 k = 0; k < 4; k++)
                    assert_int_equal(dh_mask_has(dh_mask_within(word, lo, hi), k),
                                     word + k >= lo && word + k < hi);
    assert_int_equal(dh_mask_raw(dh_mask_aligned(102, 2)), 12);
    assert_int_equal(dh_mask_raw(dh_mask_aligned(103, 1)), 8);
    assert_true(dh_mask_is_full(dh_mask_aligned(104, 8)));
}

/* One access to more bytes is the same access. */
static void more_bytes(void **state)
{
    (void)state;
    const dh_cell_t low = cell_of(77, 3), high = cell_of(77, 8);
    assert_cell_equal(dh_cell_join(low, high), cell_of(77, 11));
    assert_cell_equal(dh_cell_with(low, dh_mask_from(8)), cell_of(77, 11));
    assert_cell_equal(dh_cell_whole(low), cell_of(77, DH_MASK_ALL));
}

/* Two cells in memory are one pair, the lower address in the lower half; a unit of one leaves the other alone. */
static void pairs(void **state)
{
    (void)state;
    const dh_cell_t a = cell_of(5, 15), b = dh_cell_of_history(9), c = dh_cell_of_split(3);
    _Alignas(8) dh_cell_t two[2] = {a, b};
    dh_pair_t seen = dh_pair_load(two);
    assert_cell_equal(dh_pair_lo(seen), a);
    assert_cell_equal(dh_pair_hi(seen), b);
    assert_true(dh_pair_eq(seen, dh_pair_make(a, b)));
    assert_false(dh_pair_is_even(seen));
    assert_false(dh_pair_cas(two, dh_pair_make(b, a), dh_pair_of(c)));
    assert_true(dh_pair_cas(two, seen, dh_pair_of(c)));
    assert_cell_equal(two[0], c);
    assert_cell_equal(two[1], c);
    assert_true(dh_pair_is_even(dh_pair_load(two)));
    dh_pair_store_unit(two, a, false);
    assert_true(dh_pair_eq(dh_pair_load(two), dh_pair_make(a, c)));
    assert_true(dh_pair_eq(dh_pair_load_unit(two, false), dh_pair_make(a, DH_CELL_NONE)));
    dh_pair_store_unit(two, b, true);
    assert_true(dh_pair_eq(dh_pair_load_unit(two, true), dh_pair_of(b)));
    dh_pair_store(two, dh_pair_of(DH_CELL_NONE));
    assert_true(dh_pair_is_none(dh_pair_load_fenced(two)));
}

/* What is exchanged is what was expected, and nothing else. */
static void exchanged(void **state)
{
    (void)state;
    const dh_cell_t a = cell_of(5, 15), b = cell_of(6, 1);
    dh_cell_t p = a;
    assert_false(dh_cell_cas(&p, b, DH_CELL_NONE));
    assert_false(dh_cell_cas_relaxed(&p, b, DH_CELL_NONE));
    assert_true(dh_cell_cas(&p, a, b));
    assert_cell_equal(dh_cell_load_fenced(&p), b);
    assert_true(dh_cell_cas_relaxed(&p, b, a));
    dh_cell_touch(&p);
    assert_cell_equal(dh_cell_load_acquire(&p), a);
}

/* The inlined check: cell - base < count accepts the epoch's ids with all four bytes, and nothing else. */
static void one_comparison(void **state)
{
    (void)state;
    const u32 first = 5000, count = 3, base = dh_cell_raw(cell_of(first, DH_MASK_ALL));
    for (u32 id = first - 2; id < first + count + 2; id++) {
        for (u32 mask = 0; mask <= DH_MASK_ALL; mask++) {
            bool hit = dh_cell_distance(cell_of(id, mask), base) < count;
            assert_int_equal(hit, mask == DH_MASK_ALL && id >= first && id < first + count);
        }
        assert_false(dh_cell_distance(dh_cell_of_history(id), base) < count);
        assert_false(dh_cell_distance(dh_cell_of_split(id), base) < count);
    }
    assert_false(dh_cell_distance(DH_CELL_NONE, base) < count);
    /* The last ids there are: no wrap into histories. */
    u32 last = dh_cell_raw(cell_of(DH_ID_MAX - 1, DH_MASK_ALL));
    assert_true(dh_cell_distance(cell_of(DH_ID_MAX, DH_MASK_ALL), last) < 2);
    assert_false(dh_cell_distance(dh_cell_of_history(0), last) < 2);
    /* All zero is valid: nothing hits. */
    assert_false(dh_cell_distance(DH_CELL_NONE, 0) < 0u);
}

/* What is put is what is got, at the limits of every field. */
static void record(void **state)
{
    (void)state;
    assert_int_equal(sizeof(struct dh_id_rec), 8);
    u32 count;
    assert_true(dh_ids_init());
    dh_id_t id = dh_ids_take(2, &count);
    assert_true(!dh_id_is_none(id) && count == 2 * DH_ID_BLOCK);
    struct dh_access_rec r = {.clock = ~0u - 1023, .slot = dh_slot_from(65535), .uid = dh_uid_from(~0u)}, got;
    assert_true(dh_id_put(id, &r));
    r = (struct dh_access_rec){.clock = ~0u,
                               .slot = dh_slot_from(65535),
                               .uid = dh_uid_from(~0u),
                               .ctx = dh_ctx_from((1u << 27) - 1),
                               .lockset = DH_LOCKSET_UNKNOWN,
                               .kind = 15,
                               .size = 5};
    assert_true(dh_id_put(dh_id_plus(id, 1), &r));
    got = dh_id_get(dh_id_plus(id, 1));
    assert_memory_equal(&got, &r, sizeof(r));
    assert_int_equal(dh_id_block(dh_id_plus(id, 1))->youngest, ~0u);
    got = dh_id_get(id);
    assert_int_equal(got.clock, ~0u - 1023);
    assert_true(dh_ctx_is_none(got.ctx));
    /* Too much later than the block's first, and another thread's: a new block takes them. */
    r.clock = 0;
    assert_false(dh_id_put(dh_id_plus(id, 2), &r));
    assert_true(dh_id_put(dh_id_plus(id, DH_ID_BLOCK), &r));
    r.uid = dh_uid_from(7);
    assert_false(dh_id_put(dh_id_plus(id, DH_ID_BLOCK + 1), &r));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip), cmocka_unit_test(masks),     cmocka_unit_test(more_bytes),
        cmocka_unit_test(pairs),      cmocka_unit_test(exchanged), cmocka_unit_test(one_comparison),
        cmocka_unit_test(record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
