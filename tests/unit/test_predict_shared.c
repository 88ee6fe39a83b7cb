/*
 * test_predict_shared.c - the predictive detectors on the public collection of traces with known results, where it is at hand.
 *
 * The folder is DEADHEAT_TRACES, or shared/traces beside the repository; without it the cases are skipped. It holds
 * expected_*_pairs.json (every pair of the small traces: by the definitions of wcp and syncp, and by exhaustive search) and
 * expected_real.tsv (recorded runs, most with one race put in on the variable BUGGY_ADDR).
 */
#include "unit/check.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "traces/predict_oracle.h"
#include "traces/predict_run.h"
#include "traces/predict_wcp.h"

static const char *folder(void)
{
    const char *given = getenv("DEADHEAT_TRACES");
    const char *path = given ? given : DH_SOURCE "/../shared/traces";
    if (access(path, R_OK) != 0)
        skip();
    return path;
}

static int complain(const char *file, const char *what)
{
    fprintf(stderr, "%s: %s\n", file, what);
    return 1;
}

/* A list of pairs, from 1, as a square of bytes. */
static u8 *square(const json_t *pairs, u32 n)
{
    u8 *all = kit_alloc((size_t)n * n);
    for (size_t k = 0; k < json_array_size(pairs); k++) {
        const json_t *pair = json_array_get(pairs, k);
        u32 i = (u32)json_integer_value(json_array_get(pair, 0)) - 1;
        u32 j = (u32)json_integer_value(json_array_get(pair, 1)) - 1;
        assert_true(i < j && j < n);
        all[(size_t)j * n + i] = 1;
    }
    return all;
}

static bool any(const u8 *row, u32 n)
{
    return memchr(row, 1, n) != NULL;
}

/* Exactly the later events of these pairs are reported, and only pairs among them. */
static int compare_run(const char *file, const struct kit_trace *t, const char *name, const u8 *pairs,
                       bool exact)
{
    struct predict_said s = predict_run(t, name, 0);
    int wrong = s.error ? complain(file, name) : 0;
    for (u32 k = 0; k < s.n; k++) {
        if (!pairs[(size_t)s.reports[k].now * t->n + s.reports[k].earlier])
            wrong += complain(file, name);
    }
    for (u32 j = 0; j < t->n && exact; j++) {
        if (s.racy[j] != any(pairs + (size_t)j * t->n, t->n))
            wrong += complain(file, name);
    }
    predict_said_done(&s);
    return wrong;
}

static int compare_pairs(const char *file, const struct kit_trace *t, const u8 *wcp, const u8 *syncp,
                         const u8 *predictable)
{
    struct predict_asker *a = predict_asker_new(t);
    struct predict_pairs closed;
    int wrong = 0;
    predict_close(&closed, t, PREDICT_WCP);
    for (u32 j = 0; j < t->n; j++) {
        for (u32 i = 0; i < j; i++) {
            size_t at = (size_t)j * t->n + i;
            if ((closed.row[j] >> i & 1) != wcp[at])
                wrong += complain(file, "the definition of wcp gives another pair");
            if (!predict_conflict(t, i, j))
                continue;
            if (predict_asker_syncp(a, i, j) != syncp[at])
                wrong += complain(file, "syncp judges a pair otherwise");
            if (predict_asker_osr(a, i, j) ? !predictable[at] : syncp[at])
                wrong += complain(file, "osr judges a pair wrongly");
        }
    }
    predict_asker_free(a);
    return wrong;
}

static int compare_small(const char *file, const struct kit_trace *t, const json_t *known)
{
    u8 *wcp = square(json_object_get(known, "wcp"), t->n);
    u8 *syncp = square(json_object_get(known, "syncp"), t->n);
    u8 *predictable = square(json_object_get(known, "predictable"), t->n);
    int wrong = compare_pairs(file, t, wcp, syncp, predictable);
    wrong += compare_run(file, t, "wcp", wcp, true);
    wrong += compare_run(file, t, "syncp", syncp, true);
    /* Exhaustive search finds no event in these that osr does not. */
    wrong += compare_run(file, t, "osr", predictable, true);
    wrong += compare_run(file, t, "cp", predictable, false);
    wrong += compare_run(file, t, "cp", wcp, false);
    free(wcp);
    free(syncp);
    free(predictable);
    return wrong;
}

static void check_small(const char *list)
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
        if (kit_load(&t, path))
            wrong += compare_small(file, &t, known);
        else
            wrong++;
        kit_done(&t);
    }
    json_decref(root);
    assert_int_equal(wrong, 0);
}

static void micro(void **state)
{
    (void)state;
    check_small("expected_micro_pairs.json");
}

static void tiny(void **state)
{
    (void)state;
    check_small("expected_tiny_pairs.json");
}

/* Column `name` of a line with tabs, given the line of headings; "" if there is none. */
static const char *column(const char *head, const char *line, const char *name, char *value, size_t cap)
{
    value[0] = '\0';
    for (;;) {
        size_t n = strcspn(head, "\t\n"), m = strcspn(line, "\t\n");
        if (n == strlen(name) && memcmp(head, name, n) == 0) {
            snprintf(value, cap, "%.*s", (int)m, line);
            return value;
        }
        if (head[n] != '\t' || line[m] != '\t')
            return value;
        head += n + 1;
        line += m + 1;
    }
}

/* Is the race that was put in found where the list says so, and not where it says otherwise? */
static int compare_injected(const char *file, const struct kit_trace *t, const char *list, const char *engine,
                            const char *detector)
{
    char yes[64], no[64];
    u32 cell = dh_names_find(&t->names[2], "BUGGY_ADDR", strlen("BUGGY_ADDR"));
    struct predict_said s = predict_run(t, detector, 0);
    bool found = false;
    for (u32 j = 0; j < t->n; j++)
        found |= s.racy[j] && t->events[j].target == cell;
    snprintf(yes, sizeof(yes), "%s=y", engine);
    snprintf(no, sizeof(no), "%s=n", engine);
    int wrong = s.error || (strstr(list, yes) && !found) || (strstr(list, no) && found);
    if (wrong)
        fprintf(stderr, "%s: %s: injected race %s, not as in %s\n", file, detector,
                found ? "found" : "missed", list);
    predict_said_done(&s);
    return wrong;
}

static u64 syncp_pairs(const struct kit_trace *t)
{
    struct predict_asker *a = predict_asker_new(t);
    u64 n = 0;
    for (u32 j = 0; j < t->n; j++) {
        for (u32 i = 0; i < j; i++)
            n += predict_conflict(t, i, j) && predict_asker_syncp(a, i, j);
    }
    predict_asker_free(a);
    return n;
}

static int compare_real(const char *dir, const char *head, const char *line)
{
    char file[256], path[512], found[256], wcp[32], syncp[32];
    struct kit_trace t;
    column(head, line, "file", file, sizeof(file));
    column(head, line, "injected_found_by", found, sizeof(found));
    column(head, line, "oracle_wcp_pairs", wcp, sizeof(wcp));
    column(head, line, "oracle_syncp_pairs", syncp, sizeof(syncp));
    snprintf(path, sizeof(path), "%s/%s", dir, file);
    if (!kit_load(&t, path))
        return 1;
    int wrong = compare_injected(file, &t, found, "WCP", "wcp") +
                compare_injected(file, &t, found, "SyncPreserving", "syncp") +
                compare_injected(file, &t, found, "OSR", "osr");
    if (t.n <= 4000 && wcp[0] != '-') {
        struct predict_said s = predict_run(&t, "wcp", 0);
        u64 *with = kit_alloc(t.n * sizeof(*with));
        if (predict_wcp(&t, with) != strtoull(wcp, NULL, 10))
            wrong += complain(file, "other pairs by wcp");
        if (memcmp(with, s.with, t.n * sizeof(*with)) != 0)
            wrong += complain(file, "wcp");
        if (syncp_pairs(&t) != strtoull(syncp, NULL, 10))
            wrong += complain(file, "other pairs by syncp");
        free(with);
        predict_said_done(&s);
    }
    kit_done(&t);
    return wrong;
}

static void recorded(void **state)
{
    (void)state;
    static char head[4096], line[4096];
    const char *dir = folder();
    int wrong = 0, n = 0;
    snprintf(line, sizeof(line), "%s/expected_real.tsv", dir);
    FILE *f = fopen(line, "r");
    assert_non_null(f);
    assert_non_null(fgets(head, sizeof(head), f));
    for (; fgets(line, sizeof(line), f); n++)
        wrong += compare_real(dir, head, line);
    fclose(f);
    assert_true(n > 0);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(micro),
        cmocka_unit_test(tiny),
        cmocka_unit_test(recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
