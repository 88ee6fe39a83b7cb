/*
 * test_detect_growth.c - what a detector keeps of a trace with 113 threads, 5,000 locks and 100,000 variables: bytes for each
 * event, races among them, and no more of them when the trace is twice as long.
 */
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>

#include "traces/kit.h"

enum { THREADS = 113, LOCKS = 5000, CELLS = 100000, DEPTH = 3, EVENTS = 250000 };

static u64 seed;

static u32 roll(u32 n)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (u32)((seed >> 33) % n);
}

static void put(struct kit_trace *t, u8 op, u32 thread, u32 target)
{
    kit_add(t, (struct dh_event){.op = op, .thread = thread, .target = target, .site = t->n, .size = 1});
}

/* Threads in short bursts, each at any variable and under any locks, up to three at once. */
static void make(struct kit_trace *t, u32 events)
{
    static u32 held[THREADS][DEPTH], depth[THREADS];
    static bool taken[LOCKS];
    memset(depth, 0, sizeof(depth));
    memset(taken, 0, sizeof(taken));
    seed = 113;
    for (u32 i = 1; i < THREADS; i++)
        put(t, DH_OP_FORK, 0, i);
    for (u32 self = 0; t->n < events;) {
        u32 what = roll(100), lock = roll(LOCKS);
        self = roll(8) ? self : roll(THREADS);
        if (what < 22 && depth[self]) {
            lock = held[self][--depth[self]];
            taken[lock] = false;
            put(t, DH_OP_RELEASE, self, lock);
        } else if (what >= 85 && depth[self] < DEPTH && !taken[lock]) {
            taken[lock] = true;
            held[self][depth[self]++] = lock;
            put(t, DH_OP_ACQUIRE, self, lock);
        } else {
            put(t, roll(10) < 6 ? DH_OP_READ : DH_OP_WRITE, self, roll(CELLS));
        }
    }
}

/* Bytes the detector holds at the end. */
static size_t memory_of(const struct kit_trace *t, const char *name)
{
    struct dh_host *h = dh_host_new(NULL, NULL);
    struct dh_event *copy = kit_alloc(t->n * sizeof(*copy));
    struct dh_host_result result;
    memcpy(copy, t->events, t->n * sizeof(*copy));
    assert_int_equal(dh_host_add(h, dh_detector_find(name, strlen(name))), 0);
    assert_int_equal(dh_host_feed(h, copy, t->n), 0);
    dh_host_finish(h);
    dh_host_result(h, 0, &result);
    assert_int_equal(result.error, 0);
    assert_true(result.racy_events > 0);
    dh_host_free(h);
    free(copy);
    return result.memory;
}

static void check_memory(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        u32 most; /* bytes an event */
    } bars[] = {{"goldilocks", 120}, {"wcp", 200}, {"djit", 128}, {"simplelock", 200}};
    struct kit_trace t = {0}, twice = {0};
    make(&t, EVENTS);
    make(&twice, 2 * EVENTS);
    for (u32 i = 0; i < DH_ARRAY_LEN(bars); i++) {
        size_t once = memory_of(&t, bars[i].name), both = memory_of(&twice, bars[i].name);
        print_message("%s: %zu bytes an event, %zu when twice as long\n", bars[i].name, once / EVENTS,
                      both / (2 * EVENTS));
        assert_true(once < (size_t)bars[i].most * EVENTS);
        assert_true(both < (size_t)bars[i].most * 2 * EVENTS);
    }
    kit_done(&t);
    kit_done(&twice);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
