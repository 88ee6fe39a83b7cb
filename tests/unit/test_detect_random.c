/*
 * test_detect_random.c - every detector against the definitions, on random traces from fixed seeds.
 *
 * A failure is shrunk and printed; the seed is in its message.
 */
#include "unit/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/oracle.h"
#include "traces/random.h"

static struct kit_said run(const struct kit_trace *t, const char *name)
{
    const struct dh_detector_ops *ops = dh_detector_find(name, strlen(name));
    assert_non_null(ops);
    return kit_run(t, ops);
}

/* Is everything said in a also said in b? */
static bool within(const u8 *a, const u8 *b, u32 n)
{
    for (u32 i = 0; i < n; i++) {
        if (a[i] && !b[i])
            return false;
    }
    return true;
}

static bool same(const u8 *a, const u8 *b, u32 n)
{
    return n == 0 || memcmp(a, b, n) == 0;
}

/* The variables with a race, each found at its first one, and nothing that is not a race. */
static const char *check_first(const struct kit_trace *t, const struct kit_said *truth, const char *name)
{
    static char fault[128];
    struct kit_said s = run(t, name);
    const char *what = s.error                                                             ? "failed"
                       : !same(s.cells, truth->cells, t->cells)                            ? "variables"
                       : !within(s.events, truth->events, t->n)                            ? "a false race"
                       : t->cells && memcmp(s.first, truth->first, t->cells * sizeof(u32)) ? "the first race"
                                                                                           : NULL;
    kit_said_done(&s);
    if (!what)
        return NULL;
    snprintf(fault, sizeof(fault), "%s: %s", name, what);
    return fault;
}

static const char *check_events(const struct kit_trace *t, const struct kit_said *truth, const char *name)
{
    struct kit_said s = run(t, name);
    bool ok = !s.error && same(s.events, truth->events, t->n);
    kit_said_done(&s);
    return ok ? NULL : name;
}

static const char *check_precise(const struct kit_trace *t, const struct kit_said *hb)
{
    static const char *const first[] = {"djit", "fasttrack", "goldilocks"};
    const char *fault = check_events(t, hb, "basicvc");
    for (u32 i = 0; i < DH_ARRAY_LEN(first) && !fault; i++)
        fault = check_first(t, hb, first[i]);
    if (!fault) { /* MultiRace misses, but does not invent */
        struct kit_said s = run(t, "multirace");
        if (s.error || !within(s.events, hb->events, t->n))
            fault = "multirace: a false race";
        kit_said_done(&s);
    }
    return fault;
}

/* Notify and wait order hybrids but not happens-before: there a hybrid may miss a race, by its definition. */
static bool has_wait(const struct kit_trace *t)
{
    for (u32 i = 0; i < t->n; i++) {
        if (t->events[i].op == DH_OP_WAIT)
            return true;
    }
    return false;
}

static const char *check_hybrid(const struct kit_trace *t, const struct kit_said *hb)
{
    const char *fault = NULL;
    struct kit_said truth = oracle_hybrid(t), multi = run(t, "multilock"), accu = run(t, "acculock");
    struct kit_said simple = run(t, "simplelock");
    if (multi.error || accu.error || simple.error)
        fault = "a hybrid failed";
    else if (!same(multi.cells, truth.cells, t->cells) || !within(multi.events, truth.events, t->n))
        fault = "multilock: not its definition";
    else if (!has_wait(t) && !within(hb->cells, multi.cells, t->cells))
        fault = "multilock: misses a race";
    else if (!has_wait(t) && !within(hb->cells, accu.cells, t->cells))
        fault = "acculock: misses a race";
    else if (!within(simple.events, truth.events, t->n))
        fault = "simplelock: more than the hybrid relation";
    kit_said_done(&truth);
    kit_said_done(&multi);
    kit_said_done(&accu);
    kit_said_done(&simple);
    return fault;
}

static const char *check(const struct kit_trace *t)
{
    struct oracle hb, shb;
    oracle_init(&hb, t, ORACLE_HB);
    oracle_init(&shb, t, ORACLE_SHB);
    struct kit_said said = oracle_said(&hb, NULL), schedulable = oracle_said(&shb, NULL);
    const char *fault = check_precise(t, &said);
    if (!fault)
        fault = check_events(t, &schedulable, "shb");
    if (!fault)
        fault = check_hybrid(t, &said);
    kit_said_done(&said);
    kit_said_done(&schedulable);
    oracle_done(&hb);
    oracle_done(&shb);
    return fault;
}

/* The same without shb, to which atomic accesses are not shown. */
static const char *check_atomics(const struct kit_trace *t)
{
    struct oracle hb;
    oracle_init(&hb, t, ORACLE_HB);
    struct kit_said said = oracle_said(&hb, NULL);
    const char *fault = check_precise(t, &said);
    if (!fault)
        fault = check_hybrid(t, &said);
    kit_said_done(&said);
    oracle_done(&hb);
    return fault;
}

/* No detector, whatever its guarantee, may complain where every access holds the one lock of its variable. */
static const char *check_silence(const struct kit_trace *t)
{
    for (u32 i = 0; i < dh_n_detectors; i++) {
        struct kit_said s = kit_run(t, dh_detectors[i]);
        bool silent = !s.error && s.n_events == 0;
        kit_said_done(&s);
        if (!silent)
            return dh_detectors[i]->name;
    }
    return NULL;
}

static void many(u64 first, u32 n, struct random_options o, random_check_fn *fn)
{
    for (u64 seed = first; seed < first + n; seed++) {
        struct kit_trace t;
        struct random_options sized = o;
        sized.events = 8 + (u32)(seed * 7 % o.events);
        random_trace(&t, seed, &sized);
        const char *fault = fn(&t);
        if (fault) {
            random_shrink(&t, fn);
            fprintf(stderr, "seed %lu: %s; shrunk (%s):\n", (unsigned long)seed, fault, fn(&t));
            kit_print(&t);
            fail();
        }
        kit_done(&t);
    }
}

static void plain(void **state)
{
    (void)state;
    many(1, 8000, (struct random_options){.events = 40, .threads = 3, .locks = 2, .cells = 3}, check);
}

static void more_threads(void **state)
{
    (void)state;
    many(100000, 5000, (struct random_options){.events = 70, .threads = 7, .locks = 5, .cells = 4}, check);
}

static void rich(void **state)
{
    (void)state;
    many(200000, 5000,
         (struct random_options){.events = 50, .threads = 4, .locks = 3, .cells = 3, .rich = true}, check);
}

static void atomic_accesses(void **state)
{
    (void)state;
    many(400000, 2000,
         (struct random_options){.events = 50, .threads = 4, .locks = 2, .cells = 2, .atomics = true},
         check_atomics);
}

static void disciplined(void **state)
{
    (void)state;
    many(300000, 2000,
         (struct random_options){.events = 60, .threads = 4, .locks = 2, .cells = 5, .disciplined = true},
         check_silence);
}

/* One pass with all detectors says what each says alone. */
struct tally {
    u64 reports[64];
};

static void count(void *ctx, u32 index, const struct dh_race *race)
{
    (void)race;
    ((struct tally *)ctx)->reports[index]++;
}

static void together(void **state)
{
    (void)state;
    for (u64 seed = 1; seed <= 200; seed++) {
        struct kit_trace t;
        struct tally tally = {0};
        struct dh_host *h = dh_host_new(count, &tally);
        random_trace(&t, seed, &(struct random_options){.events = 60, .threads = 4, .locks = 3, .cells = 3});
        for (u32 i = 0; i < dh_n_detectors; i++)
            assert_int_equal(dh_host_add(h, dh_detectors[i]), 0);
        struct kit_trace copy;
        kit_copy(&copy, &t);
        assert_int_equal(dh_host_feed(h, copy.events, copy.n), 0);
        dh_host_finish(h);
        for (u32 i = 0; i < dh_n_detectors; i++) {
            struct dh_host_result r;
            struct kit_said alone = kit_run(&t, dh_detectors[i]);
            dh_host_result(h, i, &r);
            assert_int_equal(r.reports, tally.reports[i]);
            assert_int_equal(r.racy_events, alone.n_events);
            kit_said_done(&alone);
        }
        dh_host_free(h);
        kit_done(&copy);
        kit_done(&t);
    }
}

/* The machinery must be able to fail: a check that dislikes every trace with a race is shrunk to the smallest racy one. */
static const char *dislike_races(const struct kit_trace *t)
{
    struct kit_said s = run(t, "basicvc");
    bool racy = s.n_events != 0;
    kit_said_done(&s);
    return racy ? "racy" : NULL;
}

static void shrinks(void **state)
{
    (void)state;
    struct kit_trace t;
    u64 seed = 1;
    do {
        if (seed > 1)
            kit_done(&t);
        random_trace(&t, seed++,
                     &(struct random_options){.events = 60, .threads = 4, .locks = 3, .cells = 3});
    } while (!dislike_races(&t));
    random_shrink(&t, dislike_races);
    assert_int_equal(t.n, 2);
    kit_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),           cmocka_unit_test(more_threads), cmocka_unit_test(rich),
        cmocka_unit_test(atomic_accesses), cmocka_unit_test(disciplined),  cmocka_unit_test(together),
        cmocka_unit_test(shrinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
