/*
 * test_predict_random.c - the predictive detectors against exhaustive search and against the definitions of their orders, on
 * random tiny traces from fixed seeds.
 *
 * A failure is shrunk and printed; the seed is in its message.
 */
#include "unit/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/predict_oracle.h"
#include "traces/predict_run.h"
#include "traces/random.h"

enum { TRACES = 20000 };

static struct {
    u64 predictable, osr, syncp, wcp, cp;
} tally;

static bool in(const struct predict_pairs *pairs, u32 i, u32 j)
{
    return pairs->row[j] >> i & 1;
}

/* What syncp and osr think of every pair. */
static const char *check_pairs(const struct kit_trace *t, const struct predict_pairs *all,
                               const struct predict_pairs *preserving)
{
    struct predict_asker *a = predict_asker_new(t);
    const char *fault = NULL;
    for (u32 j = 0; j < t->n && !fault; j++) {
        for (u32 i = 0; i < j && !fault; i++) {
            if (!predict_conflict(t, i, j))
                continue;
            bool syncp = predict_asker_syncp(a, i, j), osr = predict_asker_osr(a, i, j);
            if (syncp != in(preserving, i, j))
                fault = "syncp: a pair is judged wrongly";
            else if (osr && !in(all, i, j))
                fault = "osr: a pair is not predictable";
            else if (syncp && !osr)
                fault = "osr: lacks a pair of syncp";
            tally.predictable += in(all, i, j);
            tally.osr += osr;
            tally.syncp += syncp;
        }
    }
    predict_asker_free(a);
    return fault;
}

/* Every report is in `pairs`; if exact, every event that has a pair is reported. */
static const char *check_run(const struct kit_trace *t, const char *name, const struct predict_pairs *pairs,
                             bool exact, bool witness)
{
    static char fault[128];
    struct predict_said s = predict_run(t, name, 0);
    const char *what = s.error ? "failed" : NULL;
    for (u32 i = 0; i < s.n && !what; i++) {
        if (!in(pairs, s.reports[i].earlier, s.reports[i].now))
            what = "reports a pair that is none";
        else if (witness && !s.reports[i].witness)
            what = "has no witness";
    }
    for (u32 j = 0; j < t->n && exact && !what; j++) {
        if (!s.racy[j] != !pairs->row[j])
            what = "misses an event";
    }
    predict_said_done(&s);
    if (!what)
        return NULL;
    snprintf(fault, sizeof(fault), "%s: %s", name, what);
    return fault;
}

/* osr has all events of syncp. */
static const char *check_superset(const struct kit_trace *t, const struct predict_pairs *preserving)
{
    struct predict_said s = predict_run(t, "osr", 0);
    const char *fault = NULL;
    for (u32 j = 0; j < t->n; j++) {
        if (preserving->row[j] && !s.racy[j])
            fault = "osr: lacks an event of syncp";
    }
    predict_said_done(&s);
    return fault;
}

/* cp reports the events that have a pair which its order leaves open and for which there is a witness. */
static const char *check_cp(const struct kit_trace *t, const struct predict_pairs *cp, bool exact)
{
    struct predict_asker *a = predict_asker_new(t);
    struct predict_pairs confirmed = {0};
    for (u32 j = 0; j < t->n; j++) {
        for (u32 i = 0; i < j; i++) {
            if (in(cp, i, j) && predict_asker_osr(a, i, j))
                confirmed.row[j] |= 1ull << i;
        }
    }
    predict_asker_free(a);
    return check_run(t, "cp", &confirmed, exact, true);
}

static u64 count(const struct predict_pairs *pairs)
{
    u64 n = 0;
    for (u32 j = 0; j < PREDICT_EVENTS; j++)
        n += (u64)__builtin_popcountll(pairs->row[j]);
    return n;
}

/* What the theorems about wcp and cp promise: the first access that races does so in some reordering, or one ends in a deadlock. */
static bool first_is_real(const struct predict_pairs *pairs, const struct predict_pairs *all)
{
    for (u32 j = 0; j < PREDICT_EVENTS; j++) {
        if (pairs->row[j])
            return all->deadlock || pairs->row[j] & all->row[j];
    }
    return true;
}

/* Unordered atomic accesses, as none are in a recorded trace, are no race but do what the theorems exclude. */
static bool has_atomic(const struct kit_trace *t)
{
    for (u32 i = 0; i < t->n; i++) {
        if (t->events[i].mode & DH_ATOMIC)
            return true;
    }
    return false;
}

static const char *check_orders(const struct kit_trace *t, const struct predict_pairs *all)
{
    struct predict_pairs wcp, cp;
    predict_close(&wcp, t, PREDICT_WCP);
    predict_close(&cp, t, PREDICT_CP);
    tally.wcp += count(&wcp);
    tally.cp += count(&cp);
    for (u32 j = 0; j < t->n; j++) {
        if (cp.row[j] & ~wcp.row[j])
            return "a pair of cp is none of wcp";
    }
    if (!has_atomic(t) && (!first_is_real(&wcp, all) || !first_is_real(&cp, all)))
        return "wcp, cp: the first race is not real, and there is no deadlock";
    /* Atomic accesses in critical sections: cp orders too much by them, wcp too little (see their files). */
    const char *fault = has_atomic(t) ? NULL : check_run(t, "wcp", &wcp, true, false);
    return fault ? fault : check_cp(t, &cp, !has_atomic(t));
}

static const char *check(const struct kit_trace *t)
{
    struct predict_pairs all, preserving;
    predict_search(&all, t, false);
    predict_search(&preserving, t, true);
    const char *fault = check_pairs(t, &all, &preserving);
    if (!fault)
        fault = check_run(t, "syncp", &preserving, true, true);
    if (!fault)
        fault = check_run(t, "osr", &all, false, true);
    if (!fault)
        fault = check_superset(t, &preserving);
    if (!fault)
        fault = check_orders(t, &all);
    return fault;
}

/* Takes the trace. */
static void judge(struct kit_trace *t, u64 seed)
{
    char what[128];
    const char *fault = check(t);
    if (fault) {
        snprintf(what, sizeof(what), "%s", fault);
        random_shrink(t, check);
        fault = check(t); /* not always the same one */
        fprintf(stderr, "seed %lu: %s; shrunk to (%s):\n", (unsigned long)seed, what, fault ? fault : "");
        kit_print(t);
        fail();
    }
    kit_done(t);
}

/* Of every kind: threads that end and are joined, that were never forked, forks inside sections, locks held at the end. */
static void mixed(void **state)
{
    (void)state;
    for (u64 seed = 1; seed <= TRACES / 2; seed++) {
        struct kit_trace t = {0};
        u32 threads = 2 + (u32)(seed % 2);
        random_trace(&t, seed,
                     &(struct random_options){
                         .events = 26, .threads = threads, .locks = 1 + (u32)(seed % 4), .cells = 2});
        judge(&t, seed);
    }
}

/* Much locking; atomic accesses in some. */
static void dense(void **state)
{
    (void)state;
    for (u64 seed = 1; seed <= TRACES / 2; seed++) {
        struct kit_trace t = {0};
        predict_dense_trace(&t, seed, 26, 2 + (u32)(seed % 2), 1 + (u32)(seed % 4), 1 + (u32)(seed % 3));
        for (u32 i = 0; i < t.n && seed % 5 == 0; i++) {
            if (dh_event_is_access(&t.events[i]) && dh_hash64(seed << 8 | i) % 3 == 0)
                t.events[i].mode = DH_ATOMIC;
        }
        judge(&t, seed);
    }
}

static void summary(void **state)
{
    (void)state;
    /* Not a promise of any paper, but a search that finds much less than this has lost something. */
    assert_true(tally.osr * 100 >= tally.predictable * 99);
    assert_true(tally.syncp < tally.osr && tally.cp < tally.wcp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixed),
        cmocka_unit_test(dense),
        cmocka_unit_test(summary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
