/*
 * test_history.c - src/runtime/shadow/history.c, with ids.c below it.
 */
#include <pthread.h>
#include <string.h>

#include "runtime/shadow/history.h"
#include "runtime/shadow/ids.h"
#include "unit/handles.h"

static dh_cell_t make(const dh_cell_t *entries, u32 n)
{
    dh_cell_t scratch[64], cell = dh_cell_from(12345);
    memcpy(scratch, entries, n * sizeof(*entries));
    assert_true(dh_history_cell(scratch, n, 0, &cell));
    return cell;
}

static u32 take(u32 want, u32 *ret_count)
{
    return dh_id_raw(dh_ids_take(want, ret_count));
}

#define E(id, mask) cell_of(id, mask)
#define MAKE(...) make((dh_cell_t[]){__VA_ARGS__}, sizeof((dh_cell_t[]){__VA_ARGS__}) / sizeof(dh_cell_t))

/* No entry or one needs no history. */
static void small(void **state)
{
    (void)state;
    assert_true(dh_cell_is_none(make(NULL, 0)));
    assert_cell_equal(MAKE(E(7, 3)), E(7, 3));
    assert_cell_equal(MAKE(E(7, 3), E(7, 12)), E(7, 15)); /* one access after all */
}

static void sorted_merged_interned(void **state)
{
    (void)state;
    dh_cell_t a = MAKE(E(30, 15), E(10, 1), E(20, 2), E(10, 8));
    assert_true(dh_cell_is_history(a));
    const struct dh_history *h = dh_history_get(a);
    assert_int_equal(h->n, 3);
    assert_cell_equal(h->cells[0], E(10, 9));
    assert_cell_equal(h->cells[1], E(20, 2));
    assert_cell_equal(h->cells[2], E(30, 15));
    assert_cell_equal(MAKE(E(10, 9), E(20, 2), E(30, 15)), a);
    assert_cell_equal(MAKE(E(20, 2), E(30, 15), E(10, 9)), a);
    assert_false(dh_cell_eq(MAKE(E(10, 9), E(20, 3), E(30, 15)), a));
    assert_false(dh_cell_eq(MAKE(E(10, 9), E(20, 2)), a));
    assert_ptr_equal(dh_history_get(a), h);
}

/* Numbers of the sort by id alone: a large mask must not move a small id. */
static void order_is_by_id(void **state)
{
    (void)state;
    dh_cell_t a = MAKE(E(5, 15), E(DH_ID_MAX, 1), E(6, 8));
    const struct dh_history *h = dh_history_get(a);
    for (u32 i = 1; i < h->n; i++)
        assert_true(id_of(h->cells[i - 1]) < id_of(h->cells[i]));
}

static void many(void **state)
{
    (void)state;
    enum { N = 20000 };
    static dh_cell_t cells[N];
    for (u32 i = 0; i < N; i++)
        cells[i] = MAKE(E(1000 + i, 15), E(1001 + i, 15), E(1002 + 2 * i, 1));
    for (u32 i = 0; i < N; i++) {
        assert_cell_equal(MAKE(E(1002 + 2 * i, 1), E(1001 + i, 15), E(1000 + i, 15)), cells[i]);
        assert_int_equal(id_of(dh_history_get(cells[i])->cells[0]), 1000 + i);
    }
}

/* Of every size, with what lies behind each other in memory made and freed in turn: what lives keeps its
 * number and content and is found again, whatever was in the table before it. */
static void sizes(void **state)
{
    (void)state;
    enum { ROUNDS = 12, N = 22000 };
    static dh_cell_t cells[N], e[3003];
    for (u32 round = 0; round < ROUNDS; round++) {
        bool kept[N] = {false};
        for (u32 pass = 0; pass < 2; pass++) {
            if (pass) {
                dh_history_marking(true, 252 + round); /* marks begin anew on the way */
                for (u32 i = 0; i < N; i++)
                    if ((kept[i] = ((i + N * round) * 2654435761u >> 16) % 3 == 0))
                        dh_history_mark(cells[i]);
                dh_history_sweep();
                dh_history_marking(false, 0);
            }
            for (u32 left = N; left > 0; left--) {
                u32 i = pass ? left - 1 : N - left; /* the other way round: the same would fill holes */
                u32 n = i % 400 == 0 ? 2 + i % 3001 : 2 + i % 14;
                dh_cell_t cell;
                for (u32 k = 0; k < n; k++)
                    e[k] = E(1 + i * 7 + k, 1 + k % 15);
                assert_true(dh_history_cell(e, n, 70000 * (i & 1), &cell));
                if (kept[i])
                    assert_cell_equal(cell, cells[i]);
                cells[i] = cell;
            }
        }
        for (u32 i = 0; i < N; i++) {
            const struct dh_history *h = dh_history_get(cells[i]);
            assert_int_equal(h->n, i % 400 == 0 ? 2 + i % 3001 : 2 + i % 14);
            assert_int_equal(h->age, i & 1 ? 65535 : 0);
            assert_int_equal((uptr)h % (h->n <= 5 ? 32 : 64), 0);
            for (u32 k = 0; k < h->n; k++)
                assert_cell_equal(h->cells[k], E(1 + i * 7 + k, 1 + k % 15));
        }
    }
}

/* Marked histories and their ids survive, others go and their numbers are used again; what is made or found
 * while marking is on counts as marked. */
static void collection(void **state)
{
    (void)state;
    u32 count, first = take(6, &count);
    u32 kept_id = first + 1, found_id = first + DH_ID_BLOCK, made_id = first + 2 * DH_ID_BLOCK;
    u32 dead_id = first + 3 * DH_ID_BLOCK;
    dh_cell_t kept = MAKE(E(kept_id, 15), E(kept_id + 1, 15));
    dh_cell_t found = MAKE(E(found_id, 15), E(found_id + 1, 15));
    MAKE(E(dead_id, 15), E(dead_id + 1, 15));
    dh_ids_retire(dh_id_from(first), count);
    dh_ids_collect_begin();
    dh_history_marking(true, 1);
    dh_history_mark(kept);
    assert_cell_equal(MAKE(E(found_id, 15), E(found_id + 1, 15)), found);
    dh_cell_t made = MAKE(E(made_id, 15), E(made_id + 1, 15));
    dh_history_sweep();
    dh_ids_sweep(0);
    dh_history_marking(false, 0);
    assert_int_equal(id_of(dh_history_get(kept)->cells[0]), kept_id);
    assert_int_equal(id_of(dh_history_get(found)->cells[0]), found_id);
    assert_int_equal(id_of(dh_history_get(made)->cells[0]), made_id);
    assert_int_equal(take(1, &count), dead_id); /* the first block that nothing named */
    assert_int_equal(count, DH_ID_BLOCK);
    assert_true(dh_cell_history_index(MAKE(E(1, 1), E(2, 1))) <
                dh_cell_history_index(made)); /* a number of a dead one */
    /* Nothing marked: all go, and new ones get old numbers. */
    dh_history_marking(true, 2);
    dh_history_sweep();
    dh_history_marking(false, 0);
    dh_cell_t again = MAKE(E(8, 15), E(9, 15));
    assert_true(dh_cell_history_index(again) < 40000);
    assert_int_equal(dh_history_get(again)->n, 2);
    assert_cell_equal(MAKE(E(9, 15), E(8, 15)), again);
}

/* Threads that intern the same lists at once agree on every number. */
static void *intern_all(void *arg)
{
    dh_cell_t *out = arg;
    for (u32 i = 0; i < 2000; i++) {
        dh_cell_t e[2] = {E(500000 + i, 15), E(600000 + i, 3)};
        if (!dh_history_cell(e, 2, 0, &out[i]))
            return (void *)1;
    }
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    static dh_cell_t out[4][2000];
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&t[i], NULL, intern_all, out[i]), 0);
    for (int i = 0; i < 4; i++) {
        void *bad;
        pthread_join(t[i], &bad);
        assert_null(bad);
        assert_memory_equal(out[i], out[0], sizeof(out[0]));
    }
}

static int init(void **state)
{
    (void)state;
    dh_history_init();
    return dh_ids_init() ? 0 : -1;
}

/* A history of one cell's own: entries by slot; a frozen copy is the ordinary history again; two entries of one slot do
 * not fit; a collection that does not see it frees it, one that does keeps it. */
static void private_history(void **state)
{
    (void)state;
    u32 count, first = take(2, &count), other = first + DH_ID_BLOCK;
    assert_true(first != 0 && count == 2 * DH_ID_BLOCK);
    assert_true(dh_id_put(dh_id_from(first), &(struct dh_access_rec){.slot = dh_slot_from(2), .clock = 1}));
    assert_true(
        dh_id_put(dh_id_from(first + 1), &(struct dh_access_rec){.slot = dh_slot_from(2), .clock = 2}));
    assert_true(dh_id_put(dh_id_from(other), &(struct dh_access_rec){.slot = dh_slot_from(5), .clock = 1}));

    dh_cell_t shared = MAKE(E(first, 15), E(other, 15));
    dh_cell_t own = dh_history_private(dh_history_get(shared));
    assert_true(dh_cell_is_history(own));
    const struct dh_history *h = dh_history_get(own);
    assert_true(h->by_slot);
    for (u32 slot = 0; slot < 7; slot++) /* on lines of their own */
        assert_int_equal((uptr)dh_history_entry(h, dh_slot_from(slot)) % 64, 0);
    assert_cell_equal(*dh_history_entry(h, dh_slot_from(2)), E(first, 15));
    assert_cell_equal(*dh_history_entry(h, dh_slot_from(5)), E(other, 15));
    assert_true(dh_cell_is_none(*dh_history_entry(h, dh_slot_from(0))));
    assert_ptr_equal(dh_history_entry(h, dh_slot_from(1000)), NULL);
    assert_true(dh_cell_is_none(dh_history_private(dh_history_get(MAKE(E(first, 1), E(first + 1, 2))))));

    dh_history_marking(true, 1000);
    dh_history_mark(own);
    dh_history_sweep();
    dh_history_marking(false, 0);
    assert_ptr_equal(dh_history_get(own), h);
    dh_history_marking(true, 1001);
    dh_history_sweep();
    dh_history_marking(false, 0);
    /* Free, so the next one is there. */
    shared = MAKE(E(first, 15), E(other, 15));
    assert_cell_equal(dh_history_private(dh_history_get(shared)), own);
    assert_cell_equal(*dh_history_entry(h, dh_slot_from(5)), E(other, 15));
}

/* Plain accesses of one class: entries for its slots alone. */
static void private_of_class(void **state)
{
    (void)state;
    const u32 slot = 2, mate = slot + DH_READ_CLASSES;
    u32 count, first = take(2, &count), other = first + DH_ID_BLOCK;
    assert_true(first != 0 && count == 2 * DH_ID_BLOCK);
    assert_true(
        dh_id_put(dh_id_from(first), &(struct dh_access_rec){.slot = dh_slot_from(slot), .clock = 1}));
    assert_true(
        dh_id_put(dh_id_from(other), &(struct dh_access_rec){.slot = dh_slot_from(mate), .clock = 1}));
    dh_cell_t own = dh_history_private(dh_history_get(MAKE(E(first, 15), E(other, 15))));
    assert_true(dh_cell_is_history(own));
    const struct dh_history *h = dh_history_get(own);
    assert_true(h->by_slot && sizeof(*h) + h->n * sizeof(dh_cell_t) <= 128);
    assert_cell_equal(*dh_history_entry(h, dh_slot_from(slot)), E(first, 15));
    assert_cell_equal(*dh_history_entry(h, dh_slot_from(mate)), E(other, 15));
    assert_true(dh_cell_is_none(*dh_history_entry(h, dh_slot_from(mate + DH_READ_CLASSES))));
    assert_ptr_equal(dh_history_entry(h, dh_slot_from(slot + 1)), NULL);
    assert_ptr_equal(dh_history_entry(h, dh_slot_from(slot + 3 * DH_READ_CLASSES)), NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(private_of_class),
        cmocka_unit_test(small),
        cmocka_unit_test(sorted_merged_interned),
        cmocka_unit_test(order_is_by_id),
        cmocka_unit_test(many),
        cmocka_unit_test(collection),
        cmocka_unit_test(sizes),
        cmocka_unit_test(threads),
        cmocka_unit_test(private_history),
    };
    return cmocka_run_group_tests(tests, init, NULL);
}
