/*
 * test_ids.c - src/runtime/shadow/ids.c. The file is included, so that a test can start from a fresh state.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../src/runtime/shadow/ids.c"
#include "unit/check.h"

static int fresh(void **state)
{
    (void)state;
    memset(taken, 0, sizeof(taken));
    memset(owned, 0, sizeof(owned));
    memset(young, 0, sizeof(young));
    memset(marked, 0, sizeof(marked));
    cursor = run_cursor = since_last = live = 0;
    run_most = BLOCKS;
    high = 1;
    given = false;
    threshold = FLOOR_BLOCKS;
    return 0;
}

/* Ids are plain numbers here: they are counted through. */
static u32 take(u32 want, u32 *ret_count)
{
    return dh_id_raw(dh_ids_take(want, ret_count));
}

static void retire(u32 first, u32 count)
{
    dh_ids_retire(dh_id_from(first), count);
}

static void mark(u32 id)
{
    dh_ids_mark(dh_id_from(id));
}

static u32 take_one(void)
{
    u32 count, id = take(1, &count);
    assert_int_equal(count, id ? DH_ID_BLOCK : 0);
    return id;
}

/* A whole collection in which `id` is the only live one (0: none). */
static void collect(u32 id)
{
    dh_ids_collect_begin();
    if (id)
        mark(id);
    dh_ids_sweep(0);
}

static void taking(void **state)
{
    (void)state;
    u32 count, a = take(1, &count), b = take(4, &count);
    assert_int_equal(a, DH_ID_BLOCK); /* id 0 means "none", so block 0 is never given */
    assert_int_equal(b, 2 * DH_ID_BLOCK);
    assert_int_equal(count, 4 * DH_ID_BLOCK);
    for (u32 id = a; id < b + count; id++) {
        assert_int_equal(dh_id_rec(dh_id_from(id))->ctx, 0); /* backed, and distinct */
        dh_id_rec(dh_id_from(id))->ctx = id;
    }
    for (u32 id = a; id < b + count; id++)
        assert_int_equal(dh_id_rec(dh_id_from(id))->ctx, id);
    for (u32 id = a; id < b + count; id++)
        dh_id_rec(dh_id_from(id))->ctx = 0;
}

/* In use by a thread: never freed, marked or not. Retired and unmarked: freed. Retired and marked: kept. */
static void recycling(void **state)
{
    (void)state;
    u32 in_use = take_one(), dead = take_one(), live = take_one();
    retire(dead, DH_ID_BLOCK);
    retire(live, DH_ID_BLOCK);
    collect(live + DH_ID_BLOCK - 1);
    assert_int_equal(take_one(), dead);
    u32 next = take_one();
    assert_true(next != in_use && next != live && next != dead);
    retire(live, DH_ID_BLOCK);
    collect(0);
    assert_int_equal(take_one(), live);
}

/* A block that came or was retired while a collection ran may have ids in cells it had scanned before. */
static void during_a_collection(void **state)
{
    (void)state;
    u32 old = take_one();
    dh_ids_collect_begin();
    u32 born = take_one();
    retire(old, DH_ID_BLOCK);
    retire(born, DH_ID_BLOCK);
    dh_ids_sweep(0);
    u32 next = take_one();
    assert_true(next != old && next != born);
    /* The next collection, which began after that, frees both. */
    collect(0);
    assert_int_equal(take_one(), old);
    assert_int_equal(take_one(), born);
}

/* Recycled blocks lie scattered: as many as stand together are given; but whoever wants many gets them
 * together, from where nothing was taken yet if need be. */
static void scattered(void **state)
{
    (void)state;
    u32 count, b[6];
    for (int i = 0; i < 6; i++)
        b[i] = take_one();
    retire(b[1], DH_ID_BLOCK);
    retire(b[3], DH_ID_BLOCK);
    retire(b[4], DH_ID_BLOCK);
    collect(0);
    assert_int_equal(take(LONG_RUN, &count), b[5] + DH_ID_BLOCK);
    assert_int_equal(count, LONG_RUN * DH_ID_BLOCK);
    assert_int_equal(take(4, &count), b[1]);
    assert_int_equal(count, DH_ID_BLOCK);
    assert_int_equal(take(4, &count), b[3]);
    assert_int_equal(count, 2 * DH_ID_BLOCK);
}

/* Long epochs, of each of which one block in eight stays in use for a while: what lies between them is used
 * again, though it is not as long as was asked for, and the ids do not spread over more and more memory. */
static void long_runs_in_a_sparse_map(void **state)
{
    (void)state;
    static u32 kept[4][FLOOR_BLOCKS]; /* by round, modulo 4; 0: no more */
    memset(kept, 0, sizeof(kept));
    for (u32 round = 0; round < 64; round++) {
        u32 *k = kept[round % 4], k_n = 0;
        dh_ids_collect_begin();
        for (u32 i = 0; i < 4; i++)
            for (u32 b = 0; b < FLOOR_BLOCKS && kept[i][b]; b++)
                mark(kept[i][b]);
        dh_ids_sweep(0);
        memset(k, 0, sizeof(kept[0]));
        for (u32 n = 0, count; n < FLOOR_BLOCKS; n += count / DH_ID_BLOCK) {
            u32 id = take(512, &count);
            assert_true(id != 0);
            retire(id, count);
            for (u32 b = 0; b < count && k_n < FLOOR_BLOCKS; b += 8 * DH_ID_BLOCK)
                k[k_n++] = id + b;
        }
        assert_true(high < 6 * FLOOR_BLOCKS);
    }
}

/* All that is found is free, and no longer than asked for. */
static void runs_are_free(void **state)
{
    (void)state;
    u32 count, first = take(1024, &count);
    assert_int_equal(count, 1024 * DH_ID_BLOCK);
    for (u32 b = 0; b < 1024; b++)
        if (b % 64 >= 8 && b % 64 < 24 + b / 64) /* in every 64 a run of its own length stays free */
            retire(first + b * DH_ID_BLOCK, DH_ID_BLOCK);
    collect(0);
    for (u32 want = 40; want >= LONG_RUN; want--) {
        u32 before[16];
        for (u32 w = 0; w < 16; w++)
            before[w] = (u32)__builtin_popcountll(taken[w]);
        u32 id = take(want, &count), after = 0, was = 0;
        for (u32 w = 0; w < 16; w++) {
            after += (u32)__builtin_popcountll(taken[w]);
            was += before[w];
        }
        assert_true(id != 0 && count <= want * DH_ID_BLOCK);
        if (id < first + 1024 * DH_ID_BLOCK - 64 * DH_ID_BLOCK)
            assert_int_equal(after - was, count / DH_ID_BLOCK);
    }
}

static void pacing(void **state)
{
    (void)state;
    u32 first = 0;
    for (u32 i = 0; i < FLOOR_BLOCKS; i++) {
        assert_false(dh_ids_want_collection());
        u32 id = take_one();
        first = first ? first : id;
    }
    assert_true(dh_ids_want_collection());
    collect(0); /* all are in use: as many again may come before the next */
    assert_false(dh_ids_want_collection());
    dh_ids_sweep(
        (u64)1 << 40); /* much shadow makes collections rare, but never too rare for the ids there are */
    assert_true(threshold <= BLOCKS / 2);
    retire(first, FLOOR_BLOCKS * DH_ID_BLOCK);
    collect(0);
    assert_int_equal(threshold, FLOOR_BLOCKS);
    assert_int_equal(take_one(), first);
}

/* Records behind the ids cost memory, so all 2^27 are taken in a child, with records only where looked at. */
static void exhaustion(void **state)
{
    (void)state;
    static struct dh_id_rec shared_chunk[DH_ID_CHUNK];
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        for (size_t i = 0; i < DH_ARRAY_LEN(dh_id_chunks); i++)
            dh_id_chunks[i] = shared_chunk;
        u32 count, n = 0, last = 0, first = 0;
        for (u32 id; (id = take(1024, &count)) != 0; n += count / DH_ID_BLOCK) {
            first = first ? first : id;
            last = id + count - 1;
        }
        bool ok = n == BLOCKS - 1 && first == DH_ID_BLOCK && last == DH_ID_MAX && count == 0;
        ok &= dh_ids_want_collection();
        /* A collection finds one dead block in the middle: that one, then none again. */
        u32 dead = BLOCKS / 2 * DH_ID_BLOCK;
        retire(dead, DH_ID_BLOCK);
        collect(0);
        ok &= take(4, &count) == dead && count == DH_ID_BLOCK;
        ok &= !dh_ids_want_collection();
        ok &= take(1, &count) == 0 && count == 0;
        /* Whoever finds none wants a collection at once; if it frees none either, the next one is not so
         * urgent. */
        ok &= dh_ids_want_collection();
        collect(0);
        for (u32 i = 0; i < FLOOR_BLOCKS; i++)
            ok &= !dh_ids_want_collection() && take(1, &count) == 0;
        ok &= dh_ids_want_collection();
        /* Three quarters survive: the next collection comes before the last quarter is gone. */
        retire(DH_ID_BLOCK, BLOCKS / 4 * DH_ID_BLOCK);
        collect(0);
        ok &= threshold <= BLOCKS / 8;
        _exit(ok ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(taking, fresh),
        cmocka_unit_test_setup(recycling, fresh),
        cmocka_unit_test_setup(scattered, fresh),
        cmocka_unit_test_setup(during_a_collection, fresh),
        cmocka_unit_test_setup(pacing, fresh),
        cmocka_unit_test_setup(exhaustion, fresh),
        cmocka_unit_test_setup(long_runs_in_a_sparse_map, fresh),
        cmocka_unit_test_setup(runs_are_free, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
