/*
 * test_detect_clocks.c - vector clocks and state by thread number (detect/vc.h, detect/by_thread.h) against plain arrays, on
 * both sides of the number from which they are trees and chunks; and what a copy costs there.
 */
#include "unit/check.h"

#include <string.h>

#include "detect/vc.h"

enum { CLOCKS = 12, STEPS = 200000, MOST = 12000 };

static u32 roll(u32 n)
{
    static u64 state = 31;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (u32)((state >> 33) % n);
}

/* Few numbers, so that clocks meet, of all sizes. */
static u32 roll_thread(void)
{
    static const u32 near_by[] = {4, 40, DH_VC_PLAIN + 4, 470, 7000, MOST};
    u32 most = near_by[roll(DH_ARRAY_LEN(near_by))];
    return roll(4) ? most - 1 - roll(3) : roll(most);
}

static void check_equal(const struct dh_vc *v, const u32 *model)
{
    for (u32 i = 0; i < MOST; i++)
        assert_int_equal(dh_vc_get(v, i), model[i]);
    assert_int_equal(dh_vc_get(v, UINT32_MAX), 0);
}

static void join_model(u32 *a, const u32 *b)
{
    for (u32 i = 0; i < MOST; i++)
        a[i] = a[i] > b[i] ? a[i] : b[i];
}

static void check_clocks(void **state)
{
    (void)state;
    static u32 model[CLOCKS][MOST];
    struct dh_detector d = {0};
    struct dh_vc clocks[CLOCKS] = {0};
    size_t bytes = 0;
    for (u32 step = 0; step < STEPS; step++) {
        u32 a = roll(CLOCKS), b = roll(CLOCKS), tid = roll_thread(), what = roll(1000);
        if (what < 880) {
            model[a][tid] += roll(3);
            assert_true(dh_vc_set(&d, &clocks[a], tid, model[a][tid]));
        } else if (what < 940) {
            join_model(model[a], model[b]);
            assert_true(dh_vc_join(&d, &clocks[a], &clocks[b]));
        } else if (what < 980) {
            memmove(model[a], model[b], sizeof(model[a]));
            assert_true(a == b || dh_vc_copy(&d, &clocks[a], &clocks[b]));
        } else {
            memset(model[a], 0, sizeof(model[a]));
            if (what < 990)
                dh_vc_clear(&d, &clocks[a]);
            else
                dh_vc_drop(&d, &clocks[a]);
        }
        if (step % 500 == 0)
            check_equal(&clocks[a], model[a]);
        if (step == STEPS / 2)
            bytes = d.mem.bytes;
    }
    for (u32 i = 0; i < CLOCKS; i++) {
        check_equal(&clocks[i], model[i]);
        dh_vc_drop(&d, &clocks[i]);
    }
    assert_true(d.mem.bytes <= bytes * 2); /* what is given up is used again */
    dh_mem_done(&d.mem);
}

/* A thread that knows of ten thousand others releases a lock, again and again: each time a few nodes, not a clock. */
static void check_sharing(void **state)
{
    (void)state;
    enum { COPIES = 1000 };
    struct dh_detector d = {0};
    static struct dh_vc copies[COPIES];
    struct dh_vc thread = {0};
    for (u32 i = 0; i < 10000; i++)
        assert_true(dh_vc_set(&d, &thread, i, i + 1));
    for (u32 i = 0; i < COPIES; i++) {
        assert_true(dh_vc_copy(&d, &copies[i], &thread));
        assert_true(dh_vc_set(&d, &thread, 9000, 20000 + i));
    }
    for (u32 i = 0; i < COPIES; i++) {
        assert_int_equal(dh_vc_get(&copies[i], 9000), i ? 19999 + i : 9001);
        assert_int_equal(dh_vc_get(&copies[i], 8999), 9000);
    }
    assert_true(d.mem.bytes < 2 << 20); /* as arrays: 40 MB */
    dh_mem_done(&d.mem);
}

static void check_elements(const struct dh_by_thread *v, const u64 *model)
{
    struct dh_by_thread_run run;
    u32 next = 0;
    for (u32 i = 0; i < MOST; i++) {
        const u64 *x = dh_by_thread_get(v, i, sizeof(*x));
        assert_int_equal(x ? *x : 0, model[i]);
    }
    for (u32 i = 0; dh_by_thread_run(v, i, &run); i++) {
        const u64 *items = run.items;
        for (; next < run.first; next++)
            assert_int_equal(model[next], 0);
        for (u32 k = 0; k < run.n; k++, next++)
            assert_int_equal(items[k], next < MOST ? model[next] : 0);
    }
    for (; next < MOST; next++)
        assert_int_equal(model[next], 0);
}

static void check_by_thread(void **state)
{
    (void)state;
    struct dh_detector d = {0};
    for (u32 round = 0; round < 60; round++) {
        static u64 model[MOST];
        struct dh_by_thread v = {0}, copy = {0};
        memset(model, 0, sizeof(model));
        for (u32 i = 0; i < 1 + round * 8; i++) {
            u32 tid = round % 3 == 0 ? roll(DH_BY_THREAD_PLAIN) : round % 3 == 1 ? roll_thread() : roll(130);
            u64 *x = dh_by_thread_at(&d, &v, tid, sizeof(*x));
            assert_non_null(x);
            assert_int_equal(*x, model[tid]);
            *x = model[tid] = i + 1;
        }
        assert_true(dh_by_thread_copy(&d, &copy, &v, sizeof(u64)));
        check_elements(&v, model);
        dh_by_thread_drop(&d, &v, sizeof(u64));
        check_elements(&copy, model);
        dh_by_thread_drop(&d, &copy, sizeof(u64));
        assert_null(dh_by_thread_get(&v, 0, sizeof(u64)));
    }
    dh_mem_done(&d.mem);
}

/* Without memory nothing is left that could not be given up. */
static void check_no_memory(void **state)
{
    (void)state;
    for (size_t limit = 17 << 10; limit < 64 << 10; limit += 3 << 10) {
        struct dh_detector d = {.mem = {.limit = limit}};
        struct dh_vc a = {0}, b = {0};
        struct dh_by_thread v = {0};
        for (u32 i = 0; i < 4000 && !d.failed; i++) {
            u32 tid = roll_thread();
            dh_vc_set(&d, i % 2 ? &a : &b, tid, i + 1);
            if (i % 8 == 0)
                dh_vc_join(&d, &a, &b);
            dh_by_thread_at(&d, &v, tid, sizeof(u64));
        }
        assert_true(d.failed);
        dh_vc_drop(&d, &a);
        dh_vc_drop(&d, &b);
        dh_by_thread_drop(&d, &v, sizeof(u64));
        dh_mem_done(&d.mem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_clocks),
        cmocka_unit_test(check_sharing),
        cmocka_unit_test(check_by_thread),
        cmocka_unit_test(check_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
