/*
 * test_predict_parts.c - the checker of witnesses refuses what is no reordering; cp's window; wcp's queue over a long trace.
 */
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>

#include "traces/oracle.h"
#include "traces/predict_oracle.h"
#include "traces/predict_run.h"
#include "traces/predict_wcp.h"
#include "traces/random.h"

static void put(struct kit_trace *t, u8 op, u32 thread, u32 target)
{
    kit_add(t, (struct dh_event){.op = op, .thread = thread, .target = target, .site = t->n + 1});
}

static bool accepts(const struct kit_trace *t, const u32 *sequence, u64 n)
{
    struct predict_asker *a = predict_asker_new(t);
    bool yes = predict_asker_check(a, sequence, n);
    predict_asker_free(a);
    return yes;
}

#define ACCEPTS(t, ...) \
    accepts(t, (const u32[]){__VA_ARGS__}, sizeof((const u32[]){__VA_ARGS__}) / sizeof(u32))

/* 0 forks 1; 0: section {w x}; 1: section {w y}; 1: w x. */
static struct kit_trace two_sections(void)
{
    struct kit_trace t = {0};
    put(&t, DH_OP_FORK, 0, 1);
    put(&t, DH_OP_ACQUIRE, 0, 0);
    put(&t, DH_OP_WRITE, 0, 0);
    put(&t, DH_OP_RELEASE, 0, 0);
    put(&t, DH_OP_ACQUIRE, 1, 0);
    put(&t, DH_OP_WRITE, 1, 1);
    put(&t, DH_OP_RELEASE, 1, 0);
    put(&t, DH_OP_WRITE, 1, 0);
    return t;
}

static void check_locks(void **state)
{
    (void)state;
    struct kit_trace t = two_sections();
    assert_true(ACCEPTS(&t, 0, 4, 5, 6, 1, 2, 7));     /* the sections reversed, the first left open */
    assert_false(ACCEPTS(&t, 0, 1, 4, 5, 6, 2, 7));    /* inside each other */
    assert_false(ACCEPTS(&t, 0, 1, 2, 3, 4, 5, 6, 7)); /* the last two do not conflict */
    assert_false(ACCEPTS(&t, 0, 1, 2, 7));             /* thread 1 skips */
    assert_false(ACCEPTS(&t, 4, 5, 6, 0, 1, 2, 7));    /* runs before it is forked */
    assert_false(ACCEPTS(&t, 0, 4, 5, 6, 1, 2, 8));    /* no such event */
    assert_false(ACCEPTS(&t, 7));
    kit_done(&t);
}

static void check_reads(void **state)
{
    (void)state;
    struct kit_trace t = {0};
    put(&t, DH_OP_FORK, 0, 1);
    put(&t, DH_OP_WRITE, 0, 0);
    put(&t, DH_OP_READ, 1, 0); /* sees event 1 */
    put(&t, DH_OP_WRITE, 1, 1);
    put(&t, DH_OP_WRITE, 0, 1);
    assert_true(ACCEPTS(&t, 0, 1, 2, 3, 4));
    assert_true(ACCEPTS(&t, 0, 1, 2)); /* the racing read itself may see anything */
    assert_false(ACCEPTS(&t, 0, 2, 1, 3, 4));
    kit_done(&t);
}

static void check_join(void **state)
{
    (void)state;
    struct kit_trace t = {0};
    put(&t, DH_OP_FORK, 0, 1);
    put(&t, DH_OP_WRITE, 1, 0);
    put(&t, DH_OP_JOIN, 0, 1);
    put(&t, DH_OP_WRITE, 0, 0);
    assert_false(ACCEPTS(&t, 0, 2, 1, 3));
    assert_false(ACCEPTS(&t, 0, 1, 3));
    struct predict_said s = predict_run(&t, "osr", 0);
    assert_int_equal(s.n, 0);
    predict_said_done(&s);
    kit_done(&t);
}

/* Synchronisation other than mutexes keeps its order. */
static void check_volatile(void **state)
{
    (void)state;
    static const char *const names[] = {"syncp", "osr", "cp", "wcp"};
    for (u32 writer = 0; writer < 2; writer++) {
        struct kit_trace t = {0};
        put(&t, DH_OP_FORK, 0, 1);
        put(&t, DH_OP_WRITE, 0, 0);
        kit_add(&t,
                (struct dh_event){.op = DH_OP_VOLATILE, .mode = writer ? DH_READ : DH_WRITE, .thread = 0});
        kit_add(&t,
                (struct dh_event){.op = DH_OP_VOLATILE, .mode = writer ? DH_WRITE : DH_READ, .thread = 1});
        put(&t, DH_OP_WRITE, 1, 0);
        for (u32 i = 0; i < DH_ARRAY_LEN(names); i++) {
            struct predict_said s = predict_run(&t, names[i], 0);
            assert_int_equal(s.error, 0);
            assert_int_equal(s.n, writer); /* the order goes from a write to a read only */
            predict_said_done(&s);
        }
        kit_done(&t);
    }
}

/* Two atomic accesses do not race, an atomic and a plain one do, in either order. */
static void check_atomic(void **state)
{
    (void)state;
    static const char *const names[] = {"syncp", "osr", "cp", "wcp"};
    for (u32 which = 0; which < 4; which++) {
        struct kit_trace t = {0};
        put(&t, DH_OP_FORK, 0, 1);
        kit_add(&t, (struct dh_event){
                        .op = DH_OP_WRITE, .mode = which & 1 ? DH_ATOMIC : 0, .thread = 0, .site = 2});
        kit_add(&t, (struct dh_event){
                        .op = DH_OP_WRITE, .mode = which & 2 ? DH_ATOMIC : 0, .thread = 1, .site = 3});
        for (u32 i = 0; i < DH_ARRAY_LEN(names); i++) {
            struct predict_said s = predict_run(&t, names[i], 0);
            assert_int_equal(s.error, 0);
            assert_int_equal(s.n_racy, which != 3);
            predict_said_done(&s);
        }
        kit_done(&t);
    }
}

/* A variable that is freed and used again is another one. */
static void check_lives(void **state)
{
    (void)state;
    static const char *const names[] = {"syncp", "osr", "cp", "wcp"};
    struct kit_trace t = {0};
    put(&t, DH_OP_FORK, 0, 1);
    put(&t, DH_OP_WRITE, 0, 0);
    kit_add(&t, (struct dh_event){.op = DH_OP_RANGE_NEW, .thread = 1, .target = 0, .size = 1});
    put(&t, DH_OP_WRITE, 1, 0);
    for (u32 i = 0; i < DH_ARRAY_LEN(names); i++) {
        struct predict_said s = predict_run(&t, names[i], 0);
        assert_int_equal(s.error, 0);
        assert_int_equal(s.n, 0);
        predict_said_done(&s);
    }
    kit_done(&t);
}

/* cp sees pairs up to half a window apart, and more events with a larger one. */
static void check_window(void **state)
{
    (void)state;
    struct kit_trace t = {0};
    put(&t, DH_OP_FORK, 0, 1);
    put(&t, DH_OP_WRITE, 0, 0);
    for (u32 i = 0; i < 100; i++)
        put(&t, DH_OP_READ, 0, 1);
    put(&t, DH_OP_WRITE, 1, 0);
    for (u64 window = 1; window < 400; window += 7) {
        struct predict_said s = predict_run(&t, "cp", window);
        assert_int_equal(s.error, 0);
        if (window < 100)
            assert_int_equal(s.n, 0);
        if (window > 2 * 102)
            assert_int_equal(s.n, 1);
        predict_said_done(&s);
    }
    kit_done(&t);
}

/* Long enough for queues to be tidied many times. */
static void check_queue(void **state)
{
    (void)state;
    for (u32 seed = 1; seed <= 32; seed++) {
        struct kit_trace t = {0};
        predict_dense_trace(&t, seed, 4000, 2 + seed % 4, 1 + seed % 3, 1u << seed % 11);
        u64 *with = kit_alloc(t.n * sizeof(*with));
        predict_wcp(&t, with);
        struct predict_said s = predict_run(&t, "wcp", 0);
        assert_int_equal(s.error, 0);
        assert_memory_equal(s.with, with, t.n * sizeof(*with));
        predict_said_done(&s);
        free(with);
        kit_done(&t);
    }
}

/* Thread 1 is ordered after the beginning of a section long before it releases the lock: what the section published must still be
 * there then, although many later sections came and the queue was tidied. */
static void check_kept(void **state)
{
    (void)state;
    struct kit_trace t = {0};
    put(&t, DH_OP_FORK, 0, 1);
    put(&t, DH_OP_ACQUIRE, 0, 0);
    put(&t, DH_OP_ACQUIRE, 0, 1);
    put(&t, DH_OP_WRITE, 0, 0);
    put(&t, DH_OP_RELEASE, 0, 1);
    put(&t, DH_OP_WRITE, 0, 1);
    put(&t, DH_OP_RELEASE, 0, 0);
    put(&t, DH_OP_ACQUIRE, 1, 1);
    put(&t, DH_OP_READ, 1, 0);
    put(&t, DH_OP_RELEASE, 1, 1);
    for (u32 i = 0; i < 1000; i++) {
        put(&t, DH_OP_ACQUIRE, 0, 0);
        put(&t, DH_OP_RELEASE, 0, 0);
    }
    put(&t, DH_OP_ACQUIRE, 1, 0);
    put(&t, DH_OP_RELEASE, 1, 0);
    put(&t, DH_OP_READ, 1, 1);
    struct predict_said s = predict_run(&t, "wcp", 0);
    assert_int_equal(s.error, 0);
    assert_int_equal(s.n, 0);
    predict_said_done(&s);
    kit_done(&t);
}

/* Every variable is accessed under every lock, sooner or later. What is forgotten of that changes nothing; */
static void check_many_locks(void **state)
{
    (void)state;
    for (u32 seed = 1; seed <= 4; seed++) {
        struct kit_trace t = {0};
        predict_dense_trace(&t, seed, 8000, 4, 32, 1u << seed);
        u64 *with = kit_alloc(t.n * sizeof(*with));
        predict_wcp(&t, with);
        struct predict_said s = predict_run(&t, "wcp", 0);
        assert_int_equal(s.error, 0);
        assert_memory_equal(s.with, with, t.n * sizeof(*with));
        predict_said_done(&s);
        free(with);
        kit_done(&t);
    }
}

/* and it keeps memory from becoming locks times variables. */
static void check_forgotten(void **state)
{
    (void)state;
    enum { CELLS = 1000, LOCKS = 32, SECTION = 64 }; /* bytes: less than one takes */
    struct kit_trace t = {0};
    struct dh_host_result r;
    predict_dense_trace(&t, 1, 200000, 4, LOCKS, CELLS);
    struct dh_host *h = dh_host_new(NULL, NULL);
    assert_int_equal(dh_host_add(h, dh_detector_find("wcp", 3)), 0);
    assert_int_equal(dh_host_feed(h, t.events, t.n), 0);
    dh_host_result(h, 0, &r);
    assert_true(r.memory < (size_t)CELLS * LOCKS * SECTION);
    dh_host_free(h);
    kit_done(&t);
}

/* Sections that never get ordered, more than the queue holds: memory stays where it is, and the race at the end is found. */
static void check_full_queue(void **state)
{
    (void)state;
    const struct dh_detector_ops *ops = dh_detector_find("wcp", 3);
    size_t memory[2];
    for (u32 round = 0; round < 2; round++) {
        struct kit_trace t = {0};
        struct dh_host_result r;
        struct dh_host *h = dh_host_new(NULL, NULL);
        put(&t, DH_OP_FORK, 0, 1);
        put(&t, DH_OP_FORK, 0, 2);
        put(&t, DH_OP_WRITE, 1, 0);
        for (u32 i = 0; i < 100000 * (round + 1); i++) {
            put(&t, DH_OP_ACQUIRE, 1 + i % 2, 0);
            put(&t, DH_OP_RELEASE, 1 + i % 2, 0);
        }
        put(&t, DH_OP_WRITE, 2, 0);
        assert_int_equal(dh_host_add(h, ops), 0);
        assert_int_equal(dh_host_feed(h, t.events, t.n), 0);
        dh_host_finish(h);
        dh_host_result(h, 0, &r);
        assert_int_equal(r.error, 0);
        assert_int_equal(r.racy_events, 1);
        memory[round] = r.memory;
        dh_host_free(h);
        kit_done(&t);
    }
    assert_true(memory[1] <= memory[0] + memory[0] / 4);
}

/* Every pair that syncp and osr find has a witness. */
static void ask_all(const struct kit_trace *t)
{
    struct predict_asker *a = predict_asker_new(t);
    for (u32 j = 0; j < t->n; j++) {
        for (u32 i = 0; i < j; i++) {
            if (predict_conflict(t, i, j))
                assert_true(!predict_asker_syncp(a, i, j) || predict_asker_osr(a, i, j));
        }
    }
    predict_asker_free(a);
}

/* With every kind of synchronisation: all witnesses pass the check, osr has the events of syncp, and nothing fails. */
static void check_rich(void **state)
{
    (void)state;
    for (u64 seed = 1; seed <= 300; seed++) {
        struct kit_trace t = {0};
        random_trace(
            &t, seed,
            &(struct random_options){.events = 120, .threads = 4, .locks = 3, .cells = 4, .rich = true});
        ask_all(&t);
        struct predict_said syncp = predict_run(&t, "syncp", 0), osr = predict_run(&t, "osr", 0);
        struct predict_said cp = predict_run(&t, "cp", 0), wcp = predict_run(&t, "wcp", 0);
        assert_int_equal(syncp.error | osr.error | cp.error | wcp.error, 0);
        for (u32 j = 0; j < t.n; j++)
            assert_true(!syncp.racy[j] || osr.racy[j]);
        for (u32 i = 0; i < syncp.n; i++)
            assert_true(syncp.reports[i].witness);
        for (u32 i = 0; i < osr.n; i++)
            assert_true(osr.reports[i].witness);
        predict_said_done(&syncp);
        predict_said_done(&osr);
        predict_said_done(&cp);
        predict_said_done(&wcp);
        kit_done(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_locks),      cmocka_unit_test(check_reads),
        cmocka_unit_test(check_join),       cmocka_unit_test(check_volatile),
        cmocka_unit_test(check_lives),      cmocka_unit_test(check_window),
        cmocka_unit_test(check_queue),      cmocka_unit_test(check_rich),
        cmocka_unit_test(check_kept),       cmocka_unit_test(check_atomic),
        cmocka_unit_test(check_full_queue), cmocka_unit_test(check_many_locks),
        cmocka_unit_test(check_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
