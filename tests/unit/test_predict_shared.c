/*
 * test_predict_shared.c - the predictive detectors on the public collection of traces (traces/collection.h). Skipped without it.
 */
#include "unit/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/collection.h"
#include "traces/predict_oracle.h"
#include "traces/predict_run.h"
#include "traces/predict_wcp.h"

static void judge(int faults)
{
    if (faults == COLLECTION_ABSENT)
        skip();
    assert_int_equal(faults, 0);
}

/* A list of pairs, from 1, as a square of bytes. */
static u8 *square(const json_t *pairs, u32 n)
{
    u8 *all = kit_alloc((size_t)n * n);
    for (size_t k = 0; k < json_array_size(pairs); k++) {
        u32 i, j;
        assert_true(collection_pair(pairs, k, n, &i, &j));
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
    int wrong = s.error ? collection_fault(file, name) : 0;
    for (u32 k = 0; k < s.n; k++) {
        if (!pairs[(size_t)s.reports[k].now * t->n + s.reports[k].earlier])
            wrong += collection_fault(file, name);
    }
    for (u32 j = 0; j < t->n && exact; j++) {
        if (s.racy[j] != any(pairs + (size_t)j * t->n, t->n))
            wrong += collection_fault(file, name);
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
                wrong += collection_fault(file, "the definition of wcp gives another pair");
            if (!predict_conflict(t, i, j))
                continue;
            if (predict_asker_syncp(a, i, j) != syncp[at])
                wrong += collection_fault(file, "syncp judges a pair otherwise");
            if (predict_asker_osr(a, i, j) ? !predictable[at] : syncp[at])
                wrong += collection_fault(file, "osr judges a pair wrongly");
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

static int compare_real(const char *file, const struct kit_trace *t, const struct collection_row *row)
{
    char found[256], wcp[32], syncp[32];
    collection_value(row, "injected_found_by", found, sizeof(found));
    collection_value(row, "oracle_wcp_pairs", wcp, sizeof(wcp));
    collection_value(row, "oracle_syncp_pairs", syncp, sizeof(syncp));
    int wrong = compare_injected(file, t, found, "WCP", "wcp") +
                compare_injected(file, t, found, "SyncPreserving", "syncp") +
                compare_injected(file, t, found, "OSR", "osr");
    if (t->n > 4000 || wcp[0] == '-')
        return wrong;
    struct predict_said s = predict_run(t, "wcp", 0);
    u64 *with = kit_alloc(t->n * sizeof(*with));
    if (predict_wcp(t, with) != strtoull(wcp, NULL, 10))
        wrong += collection_fault(file, "other pairs by wcp");
    if (memcmp(with, s.with, t->n * sizeof(*with)) != 0)
        wrong += collection_fault(file, "wcp");
    if (syncp_pairs(t) != strtoull(syncp, NULL, 10))
        wrong += collection_fault(file, "other pairs by syncp");
    free(with);
    predict_said_done(&s);
    return wrong;
}

static void recorded(void **state)
{
    (void)state;
    judge(collection_recorded(compare_real));
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
