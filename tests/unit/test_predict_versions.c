/*
 * test_predict_versions.c - the vectors of what events need (detect/predict_versions.h) against plain tables: versions that continue
 * the last one of a page, an earlier one or none, with counts that no change has room for; and what they cost.
 */
#include "unit/check.h"

#include <string.h>

#include "detect/predict_versions.h"

enum { VERSIONS = 3000 };

static u32 roll(u32 n)
{
    static u64 state = 5;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (u32)((state >> 33) % n);
}

static void check_version(const struct dh_versions *v, u32 version, const u32 *model)
{
    static u32 counts[DH_VERSION_THREADS], below[DH_VERSION_THREADS];
    memset(counts, 0, sizeof(counts));
    dh_versions_join(v, version, counts);
    assert_memory_equal(counts, model, v->threads * sizeof(u32));
    for (u32 t = 0; t < v->threads; t++) {
        counts[t] = roll(2) ? model[t] + 5 : 0;
        below[t] = counts[t];
    }
    dh_versions_join(v, version, counts);
    for (u32 t = 0; t < v->threads; t++)
        assert_int_equal(counts[t], below[t] > model[t] ? below[t] : model[t]);
    u32 t = roll(v->threads);
    assert_int_equal(dh_versions_get(v, version, t), model[t]);
    assert_false(dh_versions_has(v, version, t, model[t]));
    assert_true(!model[t] || dh_versions_has(v, version, t, model[t] - 1));
    /* With all it needs, but for one thread. */
    memcpy(counts, model, v->threads * sizeof(u32));
    assert_true(dh_versions_within(v, version, counts, UINT32_MAX));
    counts[t] -= model[t] != 0;
    assert_int_equal(dh_versions_within(v, version, counts, UINT32_MAX), model[t] == 0);
    assert_true(dh_versions_within(v, version, counts, t));
}

static void check_random(u32 threads)
{
    static u32 model[VERSIONS][300];
    struct dh_detector d = {0};
    struct dh_versions v = {.d = &d, .threads = threads};
    u32 last[4] = {0}; /* of some that take turns */
    memset(model, 0, sizeof(model));
    assert_int_equal(dh_versions_add(&v, UINT32_MAX, model[0]), 0);
    for (u32 i = 1; i < VERSIONS; i++) {
        u32 *from = &last[roll(4)], base = roll(20) ? *from : roll(i);
        memcpy(model[i], model[base], sizeof(model[i]));
        for (u32 k = roll(threads); k > 0; k--)
            model[i][roll(threads)] += roll(500) ? roll(3000) : 1u << 20;
        assert_int_equal(dh_versions_add(&v, roll(100) ? base : UINT32_MAX, model[i]), i);
        *from = i;
    }
    for (u32 i = 0; i < VERSIONS; i++)
        check_version(&v, i, model[i]);
    assert_false(d.failed);
    dh_mem_done(&d.mem);
}

static void check_all(void **state)
{
    (void)state;
    static const u32 threads[] = {1, 2, 16, 113, 300};
    for (u32 i = 0; i < DH_ARRAY_LEN(threads); i++)
        check_random(threads[i]);
}

/* The last thread number of all, and the largest count. */
static void check_ends(void **state)
{
    (void)state;
    static u32 counts[DH_VERSION_THREADS];
    struct dh_detector d = {0};
    struct dh_versions v = {.d = &d, .threads = DH_VERSION_THREADS};
    assert_int_equal(dh_versions_add(&v, UINT32_MAX, counts), 0);
    counts[DH_VERSION_THREADS - 1] = (1u << 20) - 1;
    assert_int_equal(dh_versions_add(&v, 0, counts), 1);
    counts[DH_VERSION_THREADS - 1] = UINT32_MAX - 1;
    assert_int_equal(dh_versions_add(&v, 1, counts), 2);
    assert_int_equal(dh_versions_get(&v, 0, DH_VERSION_THREADS - 1), 0);
    assert_int_equal(dh_versions_get(&v, 1, DH_VERSION_THREADS - 1), (1u << 20) - 1);
    assert_int_equal(dh_versions_get(&v, 2, DH_VERSION_THREADS - 1), UINT32_MAX - 1);
    dh_mem_done(&d.mem);
}

/* Versions that learn about ten of 113 threads take less than a third of what the vectors would. */
static void check_size(void **state)
{
    (void)state;
    enum { THREADS = 113, MANY = 40000 };
    u32 counts[THREADS] = {0};
    struct dh_detector d = {0};
    struct dh_versions v = {.d = &d, .threads = THREADS};
    u32 last = dh_versions_add(&v, UINT32_MAX, counts);
    for (u32 i = 0; i < MANY; i++) {
        for (u32 k = 0; k < 10; k++)
            counts[roll(THREADS)] += roll(300);
        last = dh_versions_add(&v, last, counts);
    }
    assert_true(d.mem.bytes < (size_t)MANY * THREADS * sizeof(u32) / 3);
    dh_mem_done(&d.mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_all),
        cmocka_unit_test(check_ends),
        cmocka_unit_test(check_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
