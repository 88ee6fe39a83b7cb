/*
 * test_detect_parts.c - the pieces below the detectors: memory, tables, interned locksets, the host's filter and ranges,
 * atomics and barriers of the happens-before relation.
 */
#include "unit/check.h"

#include <string.h>

#include "detect/goldilocks_sets.h"
#include "detect/hb.h"
#include "detect/lockset.h"
#include "traces/kit.h"

static void memory_is_zeroed_and_reused(void **state)
{
    (void)state;
    struct dh_mem m = {0};
    u8 *a = dh_mem_alloc(&m, 40);
    memset(a, 1, 40);
    dh_mem_free(&m, a, 40);
    u8 *b = dh_mem_alloc(&m, 64); /* the same class */
    assert_ptr_equal(a, b);
    for (u32 i = 0; i < 64; i++)
        assert_int_equal(b[i], 0);
    size_t before = m.bytes;
    void *large = dh_mem_alloc(&m, 3 << 20), *other = dh_mem_alloc(&m, 2 << 20);
    dh_mem_free(&m, large, 3 << 20);
    dh_mem_free(&m, other, 2 << 20);
    assert_int_equal(m.bytes, before);
    dh_mem_done(&m);
    assert_int_equal(m.bytes, 0);
}

static void tables_keep_their_elements_in_place(void **state)
{
    (void)state;
    struct dh_table t = {.size = 24};
    assert_null(dh_table_get(&t, 5));
    char *a = dh_table_at(&t, 5);
    a[0] = 7;
    char *far = dh_table_at(&t, 50000000);
    assert_non_null(far);
    assert_ptr_equal(dh_table_at(&t, 5), a);
    assert_null(dh_table_get(&t, 25000000));
    assert_int_equal(a[0], 7);
    dh_table_done(&t);
}

static void locksets(void **state)
{
    (void)state;
    static struct dh_detector d;
    static struct dh_locksets s;
    dh_locksets_init(&s, &d);
    u32 a = dh_lockset_add(&s, 0, 5), ab = dh_lockset_add(&s, a, 3), b = dh_lockset_add(&s, 0, 3);
    assert_int_equal(dh_lockset_add(&s, b, 5), ab); /* the order does not matter */
    assert_int_equal(dh_lockset_add(&s, ab, 5), ab);
    assert_int_equal(dh_lockset_remove(&s, ab, 5), b);
    assert_int_equal(dh_lockset_remove(&s, b, 3), 0);
    assert_int_equal(dh_lockset_remove(&s, b, 4), b);
    assert_int_equal(dh_lockset_meet(&s, ab, a), a);
    assert_int_equal(dh_lockset_meet(&s, a, b), 0);
    assert_true(dh_lockset_disjoint(&s, a, b));
    assert_true(dh_lockset_disjoint(&s, 0, 0));
    assert_false(dh_lockset_disjoint(&s, ab, b));
    assert_true(dh_lockset_within(&s, a, ab));
    assert_false(dh_lockset_within(&s, ab, a));
    u32 set = 0;
    for (u32 i = 0; i < 300; i++) /* past every first size */
        set = dh_lockset_add(&s, set, i * 7 % 300);
    for (u32 i = 0; i < 300; i++)
        set = dh_lockset_remove(&s, set, i);
    assert_int_equal(set, 0);
    assert_false(d.failed);
    dh_mem_done(&d.mem);
}

/* Sets of Goldilocks against plain tables. */
enum { SETS = 40, ELEMENTS = 300, THREADS = 150 /* the first elements, which are never taken away */ };

static void goldilocks_sets(void **state)
{
    (void)state;
    static struct dh_detector d;
    static bool member[SETS][ELEMENTS];
    struct dh_gold_sets all = {.d = &d};
    struct dh_gold_set sets[SETS];
    u64 seed = 7;
    for (u32 i = 0; i < ELEMENTS; i++)
        assert_int_equal(dh_gold_element(&all, i, i < THREADS ? DH_GOLD_THREAD : DH_GOLD_LOCK), i);
    for (u32 i = 0; i < SETS; i++) {
        sets[i] = dh_gold_start(&all, i, 0);
        member[i][i] = true;
    }
    for (u32 round = 0; round < 100000; round++) {
        seed = dh_hash64(seed + round);
        u32 a = (u32)(seed % ELEMENTS), b = (u32)(seed >> 20) % ELEMENTS, i = (u32)(seed >> 40) % SETS;
        if (seed >> 60 == 0) {
            memset(member[i], 0, sizeof(member[i]));
            member[i][a % THREADS] = true;
            sets[i] = dh_gold_start(&all, a % THREADS, round);
            assert_int_equal(sets[i].site, round);
        } else if (seed >> 60 == 1) {
            a = THREADS + a % (ELEMENTS - THREADS);
            dh_gold_give(&all, a, DH_GOLD_NOBODY);
            for (u32 k = 0; k < SETS; k++)
                member[k][a] = false;
        } else if (seed >> 60 < 8) {
            dh_gold_give(&all, a, b);
            for (u32 k = 0; k < SETS; k++)
                member[k][b] |= member[k][a];
        } else {
            assert_int_equal(dh_gold_has(&all, &sets[i], b), member[i][b]);
        }
    }
    assert_false(d.failed);
    dh_mem_done(&d.mem);
}

/* Small traces by hand. */
enum { X, Y };

static struct kit_trace t;

static void e(u8 op, u8 mode, u32 thread, u32 target)
{
    kit_add(&t, (struct dh_event){
                    .op = op, .mode = mode, .thread = thread, .target = target, .site = t.n + 1, .size = 1});
}

static u32 races(const char *name)
{
    struct kit_said s = kit_run(&t, dh_detector_find(name, strlen(name)));
    u32 n = s.n_events;
    assert_int_equal(s.error, 0);
    kit_said_done(&s);
    return n;
}

static void expect(u32 n)
{
    static const char *const names[] = {"basicvc", "djit", "fasttrack", "shb", "goldilocks"};
    for (u32 i = 0; i < DH_ARRAY_LEN(names); i++) {
        if (races(names[i]) != n)
            fail_msg("%s: %u races, expected %u", names[i], races(names[i]), n);
    }
    kit_done(&t);
}

static void reader_writer_locks(void **state)
{
    (void)state;
    e(DH_OP_ACQUIRE, DH_EXCLUSIVE, 0, 0), e(DH_OP_WRITE, 0, 0, X), e(DH_OP_RELEASE, DH_EXCLUSIVE, 0, 0);
    e(DH_OP_ACQUIRE, DH_SHARED, 1, 0), e(DH_OP_READ, 0, 1, X), e(DH_OP_RELEASE, DH_SHARED, 1, 0);
    e(DH_OP_ACQUIRE, DH_SHARED, 2, 0), e(DH_OP_READ, 0, 2, X), e(DH_OP_RELEASE, DH_SHARED, 2, 0);
    e(DH_OP_ACQUIRE, DH_EXCLUSIVE, 0, 0), e(DH_OP_WRITE, 0, 0, X);
    expect(0);
    /* Readers do not order each other. */
    e(DH_OP_ACQUIRE, DH_SHARED, 1, 0), e(DH_OP_WRITE, 0, 1, X), e(DH_OP_RELEASE, DH_SHARED, 1, 0);
    e(DH_OP_ACQUIRE, DH_SHARED, 2, 0), e(DH_OP_WRITE, 0, 2, X), e(DH_OP_RELEASE, DH_SHARED, 2, 0);
    assert_int_equal(races("multilock"), 1);
    expect(1);
}

static void volatiles(void **state)
{
    (void)state;
    e(DH_OP_WRITE, 0, 0, X), e(DH_OP_VOLATILE, DH_WRITE, 0, 0), e(DH_OP_VOLATILE, DH_READ, 1, 0),
        e(DH_OP_READ, 0, 1, X);
    expect(0);
    e(DH_OP_WRITE, 0, 0, X), e(DH_OP_VOLATILE, DH_READ, 0, 0), e(DH_OP_VOLATILE, DH_WRITE, 1, 0),
        e(DH_OP_READ, 0, 1, X);
    expect(1);
}

/* Thread 0 is in round two before thread 1 has left round one: its later write must not reach thread 1. */
static void barriers_with_a_fast_thread(void **state)
{
    (void)state;
    e(DH_OP_WRITE, 0, 0, X), e(DH_OP_BARRIER_ENTER, 0, 0, 0), e(DH_OP_BARRIER_ENTER, 0, 1, 0);
    e(DH_OP_BARRIER_LEAVE, 0, 0, 0), e(DH_OP_WRITE, 0, 0, Y), e(DH_OP_BARRIER_ENTER, 0, 0, 0);
    e(DH_OP_BARRIER_LEAVE, 0, 1, 0), e(DH_OP_READ, 0, 1, X), e(DH_OP_READ, 0, 1, Y);
    expect(1);
    e(DH_OP_WRITE, 0, 0, X), e(DH_OP_BARRIER_ENTER, 0, 0, 0), e(DH_OP_BARRIER_ENTER, 0, 1, 0);
    e(DH_OP_BARRIER_LEAVE, 0, 0, 0), e(DH_OP_WRITE, 0, 0, Y), e(DH_OP_BARRIER_ENTER, 0, 0, 0);
    e(DH_OP_BARRIER_LEAVE, 0, 1, 0), e(DH_OP_READ, 0, 1, X), e(DH_OP_BARRIER_ENTER, 0, 1, 0);
    e(DH_OP_BARRIER_LEAVE, 0, 1, 0), e(DH_OP_READ, 0, 1, Y), e(DH_OP_BARRIER_LEAVE, 0, 0, 0);
    expect(0);
}

static void conditions_order_hybrids_only(void **state)
{
    (void)state;
    e(DH_OP_WRITE, 0, 0, X), e(DH_OP_NOTIFY, 0, 0, 0), e(DH_OP_WAIT, 0, 1, 0), e(DH_OP_WRITE, 0, 1, X);
    assert_int_equal(races("multilock"), 0);
    assert_int_equal(races("acculock"), 0);
    assert_int_equal(races("simplelock"), 0);
    expect(1);
}

static u32 fasttrack_races(void)
{
    u32 n = races("fasttrack");
    assert_int_equal(races("basicvc"), n);
    kit_done(&t);
    return n;
}

static void atomics(void **state)
{
    (void)state;
    e(DH_OP_WRITE, 0, 0, X), e(DH_OP_ATOMIC_STORE, DH_RELEASE, 0, 0), e(DH_OP_ATOMIC_LOAD, DH_ACQUIRE, 1, 0);
    e(DH_OP_READ, 0, 1, X);
    assert_int_equal(fasttrack_races(), 0);
    e(DH_OP_WRITE, 0, 0, X), e(DH_OP_ATOMIC_STORE, DH_RELAXED, 0, 0), e(DH_OP_ATOMIC_LOAD, DH_ACQUIRE, 1, 0);
    e(DH_OP_READ, 0, 1, X);
    assert_int_equal(fasttrack_races(), 1);
    /* A read-modify-write continues the release sequence, a plain store ends it. */
    e(DH_OP_WRITE, 0, 0, X), e(DH_OP_ATOMIC_STORE, DH_RELEASE, 0, 0), e(DH_OP_ATOMIC_RMW, DH_RELAXED, 2, 0);
    e(DH_OP_ATOMIC_LOAD, DH_ACQUIRE, 1, 0), e(DH_OP_READ, 0, 1, X);
    assert_int_equal(fasttrack_races(), 0);
    e(DH_OP_WRITE, 0, 0, X), e(DH_OP_ATOMIC_STORE, DH_RELEASE, 0, 0), e(DH_OP_ATOMIC_STORE, DH_RELAXED, 2, 0);
    e(DH_OP_ATOMIC_LOAD, DH_ACQUIRE, 1, 0), e(DH_OP_READ, 0, 1, X);
    assert_int_equal(fasttrack_races(), 1);
    /* Fences on both sides of relaxed accesses. */
    e(DH_OP_WRITE, 0, 0, X), e(DH_OP_FENCE, DH_RELEASE, 0, 0), e(DH_OP_ATOMIC_STORE, DH_RELAXED, 0, 0);
    e(DH_OP_ATOMIC_LOAD, DH_RELAXED, 1, 0), e(DH_OP_FENCE, DH_ACQUIRE, 1, 0), e(DH_OP_READ, 0, 1, X);
    assert_int_equal(fasttrack_races(), 0);
    e(DH_OP_WRITE, 0, 0, X), e(DH_OP_FENCE, DH_RELEASE, 0, 0), e(DH_OP_ATOMIC_STORE, DH_RELAXED, 0, 0);
    e(DH_OP_ATOMIC_LOAD, DH_RELAXED, 1, 0), e(DH_OP_READ, 0, 1, X);
    assert_int_equal(fasttrack_races(), 1);
}

static void ranges_end_and_move_histories(void **state)
{
    (void)state;
    for (u32 i = 0; i < dh_n_detectors; i++) {
        if (dh_detectors[i]->whole_trace)
            continue;
        e(DH_OP_WRITE, 0, 0, X), e(DH_OP_READ, 0, 0, X), e(DH_OP_READ, 0, 1, Y), e(DH_OP_READ, 0, 2, Y);
        e(DH_OP_RANGE_FREE, 0, 1, X), e(DH_OP_RANGE_NEW, 0, 1, X), e(DH_OP_WRITE, 0, 1, X);
        assert_int_equal(races(dh_detectors[i]->name), 0);
        kit_done(&t);
    }
    e(DH_OP_WRITE, 0, 0, X);
    kit_add(&t, (struct dh_event){.op = DH_OP_RANGE_MOVE, .thread = 0, .target = Y, .site = X, .size = 1});
    e(DH_OP_WRITE, 0, 1, X), e(DH_OP_READ, 0, 1, Y);
    expect(1);
}

static void atomic_accesses_race_with_plain_ones_only(void **state)
{
    (void)state;
    e(DH_OP_WRITE, DH_ATOMIC, 0, X), e(DH_OP_WRITE, DH_ATOMIC, 1, X), e(DH_OP_READ, DH_ATOMIC, 2, X);
    assert_int_equal(races("goldilocks"), 0);
    assert_int_equal(races("multilock"), 0);
    assert_int_equal(fasttrack_races(), 0);
    e(DH_OP_READ, 0, 0, X), e(DH_OP_WRITE, DH_ATOMIC, 1, X), e(DH_OP_READ, DH_ATOMIC, 0, X),
        e(DH_OP_WRITE, 0, 2, X);
    assert_int_equal(races("goldilocks"), 2);
    assert_int_equal(fasttrack_races(), 2);
    /* A new life, and another place, for the atomic history too. */
    e(DH_OP_WRITE, DH_ATOMIC, 0, X), e(DH_OP_RANGE_NEW, 0, 1, X), e(DH_OP_WRITE, 0, 1, X);
    assert_int_equal(fasttrack_races(), 0);
    e(DH_OP_WRITE, DH_ATOMIC, 0, X);
    kit_add(&t, (struct dh_event){.op = DH_OP_RANGE_MOVE, .thread = 0, .target = Y, .site = X, .size = 1});
    e(DH_OP_WRITE, 0, 1, X), e(DH_OP_WRITE, 0, 1, Y);
    assert_int_equal(fasttrack_races(), 1);
}

static void reads_that_are_not_kept_are_checked_only(void **state)
{
    (void)state;
    const u32 check = DH_ATOMIC | DH_UNKEPT;
    e(DH_OP_WRITE, 0, 0, X), e(DH_OP_READ, check, 1, X), e(DH_OP_READ, check, 0, X),
        e(DH_OP_READ, check, 2, X);
    assert_int_equal(races("goldilocks"), 2);
    assert_int_equal(fasttrack_races(), 2);
    for (u32 i = 0; i < dh_n_detectors; i++) {
        if (dh_detectors[i]->whole_trace)
            continue;
        e(DH_OP_READ, check, 0, X), e(DH_OP_WRITE, 0, 1, X), e(DH_OP_READ, check, 1, X),
            e(DH_OP_WRITE, 0, 1, X);
        assert_int_equal(races(dh_detectors[i]->name), 0);
        kit_done(&t);
    }
}

static void repeated_acquisitions_are_filtered(void **state)
{
    (void)state;
    e(DH_OP_ACQUIRE, 0, 0, 0), e(DH_OP_ACQUIRE, 0, 0, 0), e(DH_OP_RELEASE, 0, 0, 0), e(DH_OP_WRITE, 0, 0, X);
    e(DH_OP_RELEASE, 0, 0, 0), e(DH_OP_ACQUIRE, 0, 1, 0), e(DH_OP_WRITE, 0, 1, X), e(DH_OP_WRITE, 0, 1, X);
    assert_int_equal(races("multilock"), 0);
    assert_int_equal(races("eraser"), 0);
    expect(0);
}

/* Any events, of which only locks need be in order: a thread has two, for half of what it does. */
static void make_long(struct dh_event *events, u32 n)
{
    static const u8 ops[] = {DH_OP_READ, DH_OP_READ, DH_OP_READ, DH_OP_WRITE, DH_OP_READ, DH_OP_VOLATILE};
    u64 roll = 7;
    for (u32 i = 0; i < n; i++) {
        struct dh_event e = {.thread = i / 7 % 5, .site = i % 90};
        roll = roll * 6364136223846793005ull + 1442695040888963407ull;
        u32 dice = (u32)(roll >> 40);
        e.op = ops[dice % sizeof(ops)];
        e.target = dice / 8 % 3000;
        if (i / 7 % 2 && (i % 7 == 0 || i % 7 == 6)) {
            e.op = i % 7 ? DH_OP_RELEASE : DH_OP_ACQUIRE;
            e.target = dice % 2 ? e.thread : e.thread + 5;
            e.target = i % 7 ? events[i - 6].target : e.target;
        } else if (e.op == DH_OP_VOLATILE) {
            e.target = 20 + e.target % 3;
            e.mode = dice / 8 % 2 ? DH_WRITE : DH_READ;
        } else if (i % 401 == 1) {
            e.op = DH_OP_RANGE_NEW;
            e.size = 40;
        } else if (i % 57 == 1) {
            e.mode = DH_ATOMIC;
        }
        events[i] = e;
    }
}

/* Looking ahead, batches and stretches change nothing: all at once is as good as event by event. */
static void any_portions_give_the_same(void **state)
{
    (void)state;
    enum { N = 20000 };
    static struct dh_event events[N];
    for (u32 i = 0; i < dh_n_detectors; i++) {
        struct dh_host_result r[3];
        if (dh_detectors[i]->whole_trace)
            continue;
        for (u32 k = 0; k < DH_ARRAY_LEN(r); k++) {
            static const u32 portions[] = {N, 1, 777};
            struct dh_host *h = dh_host_new(NULL, NULL);
            assert_int_equal(dh_host_add(h, dh_detectors[i]), 0);
            make_long(events, N);
            for (u32 at = 0; at < N; at += portions[k])
                assert_int_equal(dh_host_feed(h, events + at, N - at < portions[k] ? N - at : portions[k]),
                                 0);
            dh_host_finish(h);
            dh_host_result(h, 0, &r[k]);
            dh_host_free(h);
            assert_int_equal(r[k].reports, r[0].reports);
            assert_int_equal(r[k].racy_events, r[0].racy_events);
            assert_int_equal(r[k].variables, r[0].variables);
            assert_int_equal(r[k].first_event, r[0].first_event);
        }
        if (strcmp(dh_detectors[i]->name, "empty") != 0)
            assert_true(r[0].variables > 100);
    }
}

static void names_are_unique_and_complete(void **state)
{
    (void)state;
    for (u32 i = 0; i < dh_n_detectors; i++) {
        const struct dh_detector_ops *ops = dh_detectors[i];
        assert_ptr_equal(dh_detector_find(ops->name, strlen(ops->name)), ops);
        assert_true(ops->paper[0] && ops->summary[0] && dh_guarantee_name(ops->guarantee)[0]);
    }
    assert_null(dh_detector_find("fast", 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_and_reused),
        cmocka_unit_test(tables_keep_their_elements_in_place),
        cmocka_unit_test(locksets),
        cmocka_unit_test(goldilocks_sets),
        cmocka_unit_test(reader_writer_locks),
        cmocka_unit_test(volatiles),
        cmocka_unit_test(barriers_with_a_fast_thread),
        cmocka_unit_test(conditions_order_hybrids_only),
        cmocka_unit_test(atomics),
        cmocka_unit_test(ranges_end_and_move_histories),
        cmocka_unit_test(atomic_accesses_race_with_plain_ones_only),
        cmocka_unit_test(reads_that_are_not_kept_are_checked_only),
        cmocka_unit_test(repeated_acquisitions_are_filtered),
        cmocka_unit_test(any_portions_give_the_same),
        cmocka_unit_test(names_are_unique_and_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
