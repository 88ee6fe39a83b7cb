/*
 * test_detect_shared.c - the public collection of traces with known results, where it is at hand.
 *
 * The folder is DEADHEAT_TRACES, or shared/traces beside the repository; without it the cases are skipped. It holds
 * expected_*_pairs.json (every racing pair of the small traces, by definition) and expected_real.tsv (figures for recorded runs).
 */
#include "unit/check.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "traces/oracle.h"

static const char *folder(void)
{
    const char *given = getenv("DEADHEAT_TRACES");
    const char *path = given ? given : DH_SOURCE "/../shared/traces";
    if (access(path, R_OK) != 0)
        skip();
    return path;
}

static struct kit_said run(const struct kit_trace *t, const char *name)
{
    const struct dh_detector_ops *ops = dh_detector_find(name, strlen(name));
    assert_non_null(ops);
    return kit_run(t, ops);
}

static int complain(const char *file, const char *what)
{
    fprintf(stderr, "%s: %s\n", file, what);
    return 1;
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
        wrong += complain(file, "the oracle counts other pairs");
    for (size_t i = 0; i < json_array_size(pairs); i++) {
        const json_t *pair = json_array_get(pairs, i);
        u32 a = (u32)json_integer_value(json_array_get(pair, 0)) - 1;
        u32 b = (u32)json_integer_value(json_array_get(pair, 1)) - 1;
        assert_true(a < b && b < t->n);
        if (!oracle_races(&o, a, b))
            wrong += complain(file, "the oracle lacks a pair");
        kit_said_add(&listed, t, b);
    }
    if (said.error || memcmp(said.events, listed.events, t->n) != 0)
        wrong += complain(file, detector);
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
            wrong += complain(file, names[i]);
        kit_said_done(&s);
    }
    kit_said_done(&all);
    return wrong;
}

static void check_pairs(const char *list)
{
    const char *dir = folder();
    char path[512];
    int wrong = 0;
    const char *file;
    json_t *known;
    snprintf(path, sizeof(path), "%s/%s", dir, list);
    json_t *root = json_load_file(path, 0, NULL);
    assert_non_null(root);
    assert_true(json_object_size(root) > 0);
    json_object_foreach(root, file, known)
    {
        struct kit_trace t;
        snprintf(path, sizeof(path), "%s/%s", dir, file);
        if (!kit_load(&t, path)) {
            wrong++;
            continue;
        }
        wrong += compare_pairs(file, &t, json_object_get(known, "hb"), ORACLE_HB, "basicvc");
        wrong += compare_pairs(file, &t, json_object_get(known, "shb"), ORACLE_SHB, "shb");
        wrong += compare_first(file, &t);
        kit_done(&t);
    }
    json_decref(root);
    assert_int_equal(wrong, 0);
}

static void micro(void **state)
{
    (void)state;
    check_pairs("expected_micro_pairs.json");
}

static void tiny(void **state)
{
    (void)state;
    check_pairs("expected_tiny_pairs.json");
}

/* Column `name` of a line with tabs, given the line of headings. */
static bool column(const char *head, const char *line, const char *name, char *ret_value, size_t cap)
{
    for (;;) {
        size_t n = strcspn(head, "\t\n"), m = strcspn(line, "\t\n");
        if (n == strlen(name) && memcmp(head, name, n) == 0) {
            snprintf(ret_value, cap, "%.*s", (int)m, line);
            return true;
        }
        if (head[n] != '\t' || line[m] != '\t')
            return false;
        head += n + 1;
        line += m + 1;
    }
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

static int compare_real(const char *dir, const char *head, const char *line)
{
    char file[256], path[512], hb[32], shb[32], hb_pairs[32], shb_pairs[32];
    struct kit_trace t;
    assert_true(column(head, line, "file", file, sizeof(file)) && column(head, line, "HB", hb, sizeof(hb)) &&
                column(head, line, "SHB", shb, sizeof(shb)) &&
                column(head, line, "oracle_hb_pairs", hb_pairs, sizeof(hb_pairs)) &&
                column(head, line, "oracle_shb_pairs", shb_pairs, sizeof(shb_pairs)));
    snprintf(path, sizeof(path), "%s/%s", dir, file);
    if (!kit_load(&t, path))
        return 1;
    int wrong = compare_counts(file, &t, hb, "basicvc") + compare_counts(file, &t, shb, "shb") +
                compare_first(file, &t);
    if (t.n <= 4000 && hb_pairs[0] != '-') { /* the closure is quadratic */
        struct oracle o;
        u32 pairs;
        oracle_init(&o, &t, ORACLE_HB);
        struct kit_said s = oracle_said(&o, &pairs);
        if (pairs != strtoul(hb_pairs, NULL, 10))
            wrong += complain(file, "the oracle counts other HB pairs");
        kit_said_done(&s);
        oracle_done(&o);
        oracle_init(&o, &t, ORACLE_SHB);
        s = oracle_said(&o, &pairs);
        if (pairs != strtoul(shb_pairs, NULL, 10))
            wrong += complain(file, "the oracle counts other SHB pairs");
        kit_said_done(&s);
        oracle_done(&o);
    }
    kit_done(&t);
    return wrong;
}

static void recorded(void **state)
{
    (void)state;
    static char head[4096], line[4096];
    const char *dir = folder();
    char path[512];
    int wrong = 0;
    snprintf(path, sizeof(path), "%s/expected_real.tsv", dir);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(head, sizeof(head), f));
    while (fgets(line, sizeof(line), f))
        wrong += compare_real(dir, head, line);
    fclose(f);
    assert_int_equal(wrong, 0);
}

static void generated(void **state)
{
    (void)state;
    static const char *const names[] = {"basicvc", "shb", "djit", "fasttrack", "goldilocks"};
    char path[512];
    struct kit_trace t;
    int wrong = 0;
    snprintf(path, sizeof(path), "%s/gen/g100k_t8.std", folder());
    assert_true(kit_load(&t, path));
    for (u32 i = 0; i < DH_ARRAY_LEN(names); i++)
        wrong += compare_counts("g100k_t8.std", &t, "7/7", names[i]);
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
