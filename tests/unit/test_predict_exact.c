/*
 * test_predict_exact.c - on small traces osr is exact: it finds a race if and only if some reordering shows it, and says so. Random
 * traces with nested locks, annotations, barriers and conditions, up to 4 threads, judged by exhaustive search; syncp by the same,
 * restricted to reorderings that keep the order of sections.
 *
 * A failure is shrunk and printed; the seed is in its message.
 */
#include "unit/check.h"

#include <stdio.h>
#include <string.h>

#include "detect/confirm.h"
#include "detect/syncp.h"
#include "traces/predict_oracle.h"
#include "traces/predict_run.h"
#include "traces/random.h"

enum { TRACES = 6000, LOCKS = 3, SIGNALLED = 3 /* the object of signals, in the name space of locks */ };

static void put(struct kit_trace *t, u8 op, u32 thread, u32 target)
{
    kit_add(t, (struct dh_event){.op = op, .thread = thread, .target = target, .site = t->n + 1});
}

static void put_signal(struct kit_trace *t, u32 thread)
{
    kit_add(t, (struct dh_event){
                   .op = DH_OP_VOLATILE, .mode = DH_WRITE, .thread = thread, .target = 0, .site = t->n + 1});
}

static struct dh_trace trace_of(const struct kit_trace *t)
{
    return (struct dh_trace){
        .events = t->events, .n = t->n, .threads = t->threads, .locks = t->locks, .cells = t->cells};
}

static u32 racy(const struct kit_trace *t, const char *name)
{
    struct predict_said s = predict_run(t, name, 0);
    u32 n = s.n_racy;
    assert_int_equal(s.error, 0);
    for (u32 i = 0; i < s.n; i++)
        assert_true(s.reports[i].witness || strcmp(name, "wcp") == 0);
    predict_said_done(&s);
    return n;
}

/* The held section must come last, and with it goes the one nested in it. */
static void nested(void **state)
{
    (void)state;
    static const u8 ops[] = {DH_OP_ACQUIRE, DH_OP_ACQUIRE, DH_OP_RELEASE, DH_OP_RELEASE};
    static const u32 inside[] = {1, 2, 2, 1}, across[] = {2, 1, 2, 1};
    for (u32 crossed = 0; crossed < 2; crossed++) {
        struct kit_trace t = {0};
        const u32 *locks = crossed ? across : inside;
        for (u32 i = 0; i < 3; i++)
            put(&t, ops[i], 1, locks[i]);
        put(&t, DH_OP_READ, 1, 0);
        put(&t, DH_OP_RELEASE, 1, locks[3]);
        for (u32 i = 0; i < 4; i++)
            put(&t, ops[i], 0, inside[i]);
        put(&t, DH_OP_WRITE, 0, 0);
        assert_int_equal(racy(&t, "osr"), 1);
        assert_int_equal(racy(&t, "cp"), 1);
        assert_int_equal(racy(&t, "wcp"), 1);
        assert_int_equal(racy(&t, "syncp"), 0);
        kit_done(&t);
    }
}

/* Two signals that nobody waits for order nothing, in a critical section or outside. */
static void unheard(void **state)
{
    (void)state;
    for (u32 locked = 0; locked < 2; locked++) {
        struct kit_trace t = {0};
        put(&t, DH_OP_WRITE, 1, 0);
        for (u32 k = 2; k-- > 0;) {
            if (locked)
                put(&t, DH_OP_ACQUIRE, k, 1);
            put_signal(&t, k);
            if (locked)
                put(&t, DH_OP_RELEASE, k, 1);
        }
        put(&t, DH_OP_WRITE, 0, 0);
        assert_int_equal(racy(&t, "syncp"), 1);
        assert_int_equal(racy(&t, "osr"), 1);
        assert_int_equal(racy(&t, "cp"), 1);
        assert_int_equal(racy(&t, "wcp"), 1);
        kit_done(&t);
    }
}

static bool in(const struct predict_pairs *pairs, u32 i, u32 j)
{
    return pairs->row[j] >> i & 1;
}

/* A witness is checked from where it leaves the trace. From the very beginning it must be as good. */
static bool holds_in_full(struct dh_confirm *c)
{
    u32 sequence[PREDICT_EVENTS], start = c->witness.start;
    u64 n = c->witness.length;
    assert_true(n <= PREDICT_EVENTS && n >= start + 2);
    for (u32 i = 0; i < start; i++)
        sequence[i] = i;
    memcpy(sequence + start, c->witness.sequence, (n - start) * sizeof(*sequence));
    return dh_witness_check(&c->witness, 0, sequence, n);
}

static const char *judge_pair(struct dh_confirm *c, u32 i, u32 j, bool predictable)
{
    switch (dh_confirm_pair(c, i, j)) {
    case DH_OSR_RACE:
        return !predictable        ? "osr: a pair is not predictable"
               : !holds_in_full(c) ? "osr: a witness is none"
                                   : NULL;
    case DH_OSR_NO_RACE:
        return predictable ? "osr: says that there is no reordering, and there is" : NULL;
    default:
        return "osr: leaves a question open";
    }
}

static const char *judge_events(const struct kit_trace *t, const char *name,
                                const struct predict_pairs *pairs)
{
    static char fault[64];
    struct predict_said s = predict_run(t, name, 0);
    bool same = s.error == 0;
    for (u32 j = 0; j < t->n; j++)
        same = same && !s.racy[j] == !pairs->row[j];
    predict_said_done(&s);
    if (same)
        return NULL;
    snprintf(fault, sizeof(fault), "%s: other events than the search has", name);
    return fault;
}

static const char *check(const struct kit_trace *t)
{
    struct predict_pairs all, preserving;
    struct dh_confirm c;
    struct dh_trace trace = trace_of(t);
    predict_search(&all, t, false);
    predict_search(&preserving, t, true);
    const char *fault = judge_events(t, "syncp", &preserving);
    if (!fault)
        fault = judge_events(t, "osr", &all);
    assert_int_equal(dh_confirm_init(&c, &trace), 0);
    for (u32 j = 0; j < t->n && !fault; j++) {
        for (u32 i = 0; i < j && !fault; i++) {
            if (predict_conflict(t, i, j))
                fault = judge_pair(&c, i, j, in(&all, i, j));
        }
    }
    dh_confirm_done(&c);
    return fault;
}

/* A thread that does nothing is forked inside the section that would have to come last, and joined before the other section: the
 * fork comes before the join, so no reordering shows a race. */
static void forked_in_vain(void **state)
{
    (void)state;
    for (u32 inside = 0; inside < 2; inside++) {
        struct kit_trace t = {0};
        put(&t, DH_OP_ACQUIRE, 0, 1);
        put(&t, DH_OP_FORK, 0, 2);
        put(&t, DH_OP_WRITE, 0, 0);
        put(&t, DH_OP_RELEASE, 0, 1);
        put(&t, inside ? DH_OP_ACQUIRE : DH_OP_JOIN, 1, inside ? 1 : 2);
        put(&t, inside ? DH_OP_JOIN : DH_OP_ACQUIRE, 1, inside ? 2 : 1);
        put(&t, DH_OP_RELEASE, 1, 1);
        put(&t, DH_OP_READ, 1, 0);
        assert_null(check(&t));
        kit_done(&t);
    }
}

/* Sections that overlap without being nested: the theorem about wcp does not cover them, and its first race is none. */
static void overlapping(void **state)
{
    (void)state;
    static const u8 ops[] = {DH_OP_ACQUIRE, DH_OP_ACQUIRE, DH_OP_RELEASE, DH_OP_READ,  DH_OP_ACQUIRE,
                             DH_OP_RELEASE, DH_OP_ACQUIRE, DH_OP_RELEASE, DH_OP_WRITE, DH_OP_RELEASE};
    static const u32 threads[] = {0, 0, 0, 0, 1, 0, 1, 1, 1, 1}, targets[] = {0, 1, 0, 0, 0, 1, 1, 1, 0, 0};
    struct kit_trace t = {0};
    for (u32 i = 0; i < DH_ARRAY_LEN(ops); i++)
        put(&t, ops[i], threads[i], targets[i]);
    assert_int_equal(racy(&t, "wcp"), 1);
    assert_null(check(&t));
    assert_int_equal(racy(&t, "osr"), 0);
    kit_done(&t);
}

static void judge(struct kit_trace *t, u64 seed)
{
    const char *fault = check(t);
    if (fault) {
        random_shrink(t, check);
        fault = check(t);
        fprintf(stderr, "seed %lu: %s; shrunk to:\n", (unsigned long)seed, fault ? fault : "");
        kit_print(t);
        fail();
    }
    kit_done(t);
}

/* One of the signals and waits that there are, or what means nothing to an analysis. */
static struct dh_event some_sync(u64 x, u32 thread)
{
    static const u8 ops[] = {DH_OP_VOLATILE, DH_OP_VOLATILE, DH_OP_BARRIER_ENTER, DH_OP_BARRIER_LEAVE,
                             DH_OP_NOTIFY,   DH_OP_WAIT,     DH_OP_BRANCH,        DH_OP_BLOCK_BEGIN};
    u8 op = ops[x % DH_ARRAY_LEN(ops)];
    bool signal = op == DH_OP_VOLATILE && x >> 8 & 1;
    return (struct dh_event){
        .op = op, .mode = signal ? DH_WRITE : 0, .thread = thread, .target = SIGNALLED, .site = 1};
}

static void with_signals(void **state)
{
    (void)state;
    for (u64 seed = 1; seed <= TRACES; seed++) {
        struct kit_trace dense = {0}, t = {0};
        predict_dense_trace(&dense, seed, 20, 2 + (u32)(seed % 3), 1 + (u32)(seed % LOCKS),
                            1 + (u32)(seed % 3));
        for (u32 i = 0; i < dense.n; i++) {
            u64 x = dh_hash64(seed << 16 | i);
            if (x % 5 == 0 && t.n < i + 10)
                kit_add(&t, some_sync(x >> 8, dense.events[i].thread));
            kit_add(&t, dense.events[i]);
        }
        kit_done(&dense);
        judge(&t, seed);
    }
}

/* Nested up to three deep, released in any order; threads that end, are joined, and were never forked. */
static void with_nested_locks(void **state)
{
    (void)state;
    for (u64 seed = 1; seed <= TRACES; seed++) {
        struct kit_trace t = {0};
        random_trace(
            &t, seed,
            &(struct random_options){
                .events = 26, .threads = 2 + (u32)(seed % 3), .locks = 2 + (u32)(seed % 3), .cells = 2});
        judge(&t, seed);
    }
}

static void with_dense_locks(void **state)
{
    (void)state;
    for (u64 seed = TRACES + 1; seed <= 2 * TRACES; seed++) {
        struct kit_trace t = {0};
        predict_dense_trace(&t, seed, 26, 2 + (u32)(seed % 3), 2 + (u32)(seed % 3), 1 + (u32)(seed % 2));
        judge(&t, seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested),           cmocka_unit_test(unheard),
        cmocka_unit_test(forked_in_vain),   cmocka_unit_test(overlapping),
        cmocka_unit_test(with_signals),     cmocka_unit_test(with_nested_locks),
        cmocka_unit_test(with_dense_locks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
