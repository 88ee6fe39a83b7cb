/*
 * test_detect_shared.c - the public collection of traces (traces/collection.h): happens-before and its detectors. Skipped without it.
 */
#include "unit/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/collection.h"
#include "traces/oracle.h"

static void judge(int faults)
{
    if (faults == COLLECTION_ABSENT)
        skip();
    assert_int_equal(faults, 0);
}

static struct kit_said run(const struct kit_trace *t, const char *name)
{
    const struct dh_detector_ops *ops = dh_detector_find(name, strlen(name));
    assert_non_null(ops);
    return kit_run(t, ops);
}

/* The oracle has exactly these pairs, and the detector exactly their later events. */
static int compare_pairs(const char *file, const struct kit_trace *t, const json_t *pairs,
                         enum oracle_relation relation, const char *detector)
{
    struct oracle o;
    u32 n_pairs;
    int wrong = 0;
    oracle_init(&o, t, relation);
    struct kit_said truth = oracle_said(&o, &n_pairs), said = run(t, detector), listed = kit_said_new(t);
    if (n_pairs != json_array_size(pairs))
        wrong += collection_fault(file, "the oracle counts other pairs");
    for (size_t i = 0; i < json_array_size(pairs); i++) {
        u32 a, b;
        assert_true(collection_pair(pairs, i, t->n, &a, &b));
        if (!oracle_races(&o, a, b))
            wrong += collection_fault(file, "the oracle lacks a pair");
        kit_said_add(&listed, t, b);
    }
    if (said.error || memcmp(said.events, listed.events, t->n) != 0)
        wrong += collection_fault(file, detector);
    kit_said_done(&truth);
    kit_said_done(&said);
    kit_said_done(&listed);
    oracle_done(&o);
    return wrong;
}

/* Detectors that promise the first race of each variable. */
static int compare_first(const char *file, const struct kit_trace *t)
{
    static const char *const names[] = {"djit", "fasttrack", "goldilocks"};
    struct kit_said all = run(t, "basicvc");
    int wrong = 0;
    for (u32 i = 0; i < DH_ARRAY_LEN(names); i++) {
        struct kit_said s = run(t, names[i]);
        if (s.error || memcmp(s.first, all.first, t->cells * sizeof(u32)) != 0)
            wrong += collection_fault(file, names[i]);
        kit_said_done(&s);
    }
    kit_said_done(&all);
    return wrong;
}

static int compare_small(const char *file, const struct kit_trace *t, const json_t *known)
{
    return compare_pairs(file, t, json_object_get(known, "hb"), ORACLE_HB, "basicvc") +
           compare_pairs(file, t, json_object_get(known, "shb"), ORACLE_SHB, "shb") + compare_first(file, t);
}

static void micro(void **state)
{
    (void)state;
    judge(collection_small("expected_micro_pairs.json", compare_small));
}

static void tiny(void **state)
{
    (void)state;
    judge(collection_small("expected_tiny_pairs.json", compare_small));
}

/* "107/107": racy events and their distinct locations. */
static int compare_counts(const char *file, const struct kit_trace *t, const char *figure,
                          const char *detector)
{
    unsigned events, places;
    if (sscanf(figure, "%u/%u", &events, &places) != 2)
        return 0; /* no figure for this one */
    struct kit_said s = run(t, detector);
    u32 distinct = 0;
    u8 *seen = kit_alloc(1 << 20);
    for (u32 i = 0; i < t->n; i++) {
        u32 site = t->events[i].site;
        if (s.events[i] && site < 1 << 20 && !seen[site]) {
            seen[site] = 1;
            distinct++;
        }
    }
    int wrong = 0;
    if (s.error || s.n_events != events || distinct != places) {
        fprintf(stderr, "%s: %s says %u/%u, not %s\n", file, detector, s.n_events, distinct, figure);
        wrong = 1;
    }
    free(seen);
    kit_said_done(&s);
    return wrong;
}

/* The number of pairs by the definition; the closure is quadratic, so of short traces only. */
static int compare_closure(const char *file, const struct kit_trace *t, enum oracle_relation relation,
                           const char *expected)
{
    struct oracle o;
    u32 pairs;
    if (t->n > 4000 || expected[0] == '-')
        return 0;
    oracle_init(&o, t, relation);
    struct kit_said s = oracle_said(&o, &pairs);
    int wrong =
        pairs == strtoul(expected, NULL, 10) ? 0 : collection_fault(file, "the oracle counts other pairs");
    kit_said_done(&s);
    oracle_done(&o);
    return wrong;
}

static int compare_real(const char *file, const struct kit_trace *t, const struct collection_row *row)
{
    char hb[32], shb[32], hb_pairs[32], shb_pairs[32];
    assert_true(*collection_value(row, "HB", hb, sizeof(hb)) &&
                *collection_value(row, "SHB", shb, sizeof(shb)) &&
                *collection_value(row, "oracle_hb_pairs", hb_pairs, sizeof(hb_pairs)) &&
                *collection_value(row, "oracle_shb_pairs", shb_pairs, sizeof(shb_pairs)));
    return compare_counts(file, t, hb, "basicvc") + compare_counts(file, t, shb, "shb") +
           compare_first(file, t) + compare_closure(file, t, ORACLE_HB, hb_pairs) +
           compare_closure(file, t, ORACLE_SHB, shb_pairs);
}

static void recorded(void **state)
{
    (void)state;
    judge(collection_recorded(compare_real));
}

static void generated(void **state)
{
    (void)state;
    static const char file[] = "gen/g100k_t8.std";
    static const char *const names[] = {"basicvc", "shb", "djit", "fasttrack", "goldilocks"};
    const char *path = collection_path(file);
    struct kit_trace t;
    int wrong = 0;
    if (!path)
        skip();
    assert_true(kit_load(&t, path));
    for (u32 i = 0; i < DH_ARRAY_LEN(names); i++)
        wrong += compare_counts(file, &t, "7/7", names[i]);
    kit_done(&t);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(micro),
        cmocka_unit_test(tiny),
        cmocka_unit_test(recorded),
        cmocka_unit_test(generated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
