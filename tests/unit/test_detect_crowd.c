/*
 * test_detect_crowd.c - ten thousand threads that live at once: every detector goes through the trace in memory that grows
 * with what the threads did, not with threads times threads, and reports the one race that there is.
 */
#include "unit/check.h"

#include <string.h>

#include "traces/kit.h"

enum {
    THREADS = 10000,
    EVENTS = 142551,
    LOCKS = 64,
    TABLE = 64, /* variables that thread 0 writes and all others read */
    GUARDED = TABLE,
    RACY = GUARDED + LOCKS,
    LOCAL, /* one for each thread */
    MEMORY = 256 << 20,
};

static u32 roll(u32 n)
{
    static u64 state = 10000;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (u32)((state >> 33) % n);
}

static void put(struct kit_trace *t, u8 op, u32 thread, u32 target)
{
    kit_add(t,
            (struct dh_event){.op = op, .thread = thread, .target = target, .site = target + 1, .size = 1});
}

/* What a thread does when it is its turn. */
static void burst(struct kit_trace *t, u32 self)
{
    u32 lock = roll(LOCKS);
    put(t, DH_OP_READ, self, roll(TABLE));
    put(t, DH_OP_ACQUIRE, self, lock);
    put(t, DH_OP_READ, self, GUARDED + lock);
    put(t, DH_OP_WRITE, self, GUARDED + lock);
    put(t, DH_OP_RELEASE, self, lock);
    put(t, DH_OP_WRITE, self, LOCAL + self);
}

/* Thread 0 makes all others before the first of them acts, which is more than a batch of events later, and joins them when
 * all have had two turns. Threads 1 and THREADS write a variable without a lock. */
static void make(struct kit_trace *t)
{
    static u32 turns[2 * THREADS];
    for (u32 i = 0; i < 2 * THREADS; i++) {
        u32 k = roll(i + 1);
        turns[i] = turns[k];
        turns[k] = 1 + i % THREADS;
    }
    for (u32 i = 0; i < TABLE; i++)
        put(t, DH_OP_WRITE, 0, i);
    for (u32 i = 1; i <= THREADS; i++)
        put(t, DH_OP_FORK, 0, i);
    for (u32 i = 0; i < 2 * THREADS; i++)
        burst(t, turns[i]);
    put(t, DH_OP_WRITE, 1, RACY);
    put(t, DH_OP_WRITE, THREADS, RACY);
    while (t->n < EVENTS - THREADS) {
        u32 self = 1 + roll(THREADS);
        put(t, DH_OP_READ, self, LOCAL + self);
    }
    for (u32 i = 1; i <= THREADS; i++)
        put(t, DH_OP_JOIN, 0, i);
}

struct seen {
    struct dh_race race;
    u32 n;
};

static void on_race(void *ctx, u32 index, const struct dh_race *race)
{
    struct seen *seen = ctx;
    (void)index;
    seen->race = *race;
    seen->n++;
}

static void check_detector(const struct kit_trace *t, const struct dh_detector_ops *ops)
{
    static struct dh_event copy[EVENTS];
    struct dh_host_result result;
    struct seen seen = {.n = 0};
    struct dh_host *h = dh_host_new(on_race, &seen);
    memcpy(copy, t->events, t->n * sizeof(*copy));
    dh_host_limit(h, MEMORY);
    assert_int_equal(dh_host_add(h, ops), 0);
    assert_int_equal(dh_host_feed(h, copy, t->n), 0);
    dh_host_finish(h);
    dh_host_result(h, 0, &result);
    if (result.error)
        print_error("%s: error %d, %zu bytes\n", ops->name, result.error, result.memory);
    assert_int_equal(result.error, 0);
    if (seen.n != (ops->guarantee != DH_NO_GUARANTEE))
        print_error("%s: %u races\n", ops->name, seen.n);
    assert_int_equal(seen.n, ops->guarantee != DH_NO_GUARANTEE);
    if (seen.n) {
        assert_int_equal(seen.race.cell, RACY);
        assert_int_equal(seen.race.now.thread, THREADS);
        assert_int_equal(seen.race.earlier.thread, 1);
    }
    dh_host_free(h);
}

static void check_crowd(void **state)
{
    (void)state;
    struct kit_trace t = {0};
    make(&t);
    assert_int_equal(t.n, EVENTS);
    for (u32 i = 0; i < dh_n_detectors; i++) {
        if (!dh_detectors[i]->whole_trace)
            check_detector(&t, dh_detectors[i]);
    }
    kit_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_crowd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
