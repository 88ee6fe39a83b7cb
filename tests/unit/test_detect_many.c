/*
 * test_detect_many.c - more threads than a detector could have clocks for: numbers are used again, reports name the right
 * threads all the same, and nothing is ordered that was not.
 */
#include "unit/check.h"

#include <string.h>

#include "traces/kit.h"

enum { IN_TURN = 20000, RACES = 4 };

struct seen {
    struct dh_race races[64];
    u32 n;
};

static void on_race(void *ctx, u32 index, const struct dh_race *race)
{
    struct seen *seen = ctx;
    (void)index;
    if (seen->n < DH_ARRAY_LEN(seen->races))
        seen->races[seen->n] = *race;
    seen->n++;
}

static void put(struct kit_trace *t, u8 op, u32 thread, u32 target, u32 site)
{
    kit_add(t, (struct dh_event){.op = op, .thread = thread, .target = target, .site = site, .size = 1});
}

/* Thread 0 makes and joins one thread after the other, each of which writes what the one before wrote. Four times two
 * live at once and race on a variable of their own. */
static void make(struct kit_trace *t, u32 racers[RACES][2])
{
    u32 next = 1, races = 0;
    for (u32 i = 0; i < IN_TURN; i++) {
        u32 a = next++;
        put(t, DH_OP_FORK, 0, a, 0);
        put(t, DH_OP_WRITE, a, 0, 10 + i % 7);
        if (i % (IN_TURN / RACES) == IN_TURN / RACES - 1) {
            u32 b = next++;
            put(t, DH_OP_FORK, 0, b, 0);
            put(t, DH_OP_WRITE, a, 1 + races, 100 + races);
            put(t, DH_OP_WRITE, b, 1 + races, 200 + races);
            racers[races][0] = a;
            racers[races++][1] = b;
            put(t, DH_OP_JOIN, 0, b, 0);
        }
        put(t, DH_OP_JOIN, 0, a, 0);
    }
}

static void check_names(void **state)
{
    (void)state;
    struct kit_trace t = {0};
    u32 racers[RACES][2];
    make(&t, racers);
    for (u32 d = 0; d < dh_n_detectors; d++) {
        const struct dh_detector_ops *ops = dh_detectors[d];
        static struct seen seen;
        static struct dh_event copy[IN_TURN * 4];
        struct dh_host_result result;
        struct dh_host *h = dh_host_new(on_race, &seen);
        seen.n = 0;
        memcpy(copy, t.events, t.n * sizeof(*copy));
        assert_int_equal(dh_host_add(h, ops), 0);
        assert_int_equal(dh_host_feed(h, copy, t.n), 0);
        dh_host_finish(h);
        dh_host_result(h, 0, &result);
        assert_int_equal(result.error, 0);
        assert_true(result.memory < 64 << 20);
        if (strcmp(ops->name, "empty") == 0 || ops->guarantee == DH_UNSOUND) {
            dh_host_free(h);
            continue;
        }
        assert_int_equal(seen.n, RACES);
        for (u32 i = 0; i < RACES; i++) {
            const struct dh_race *r = &seen.races[i];
            assert_int_equal(r->cell, 1 + i);
            assert_int_equal(r->earlier.thread, racers[i][0]);
            assert_int_equal(r->earlier.site, 100 + i);
            assert_int_equal(r->now.thread, racers[i][1]);
            assert_int_equal(r->now.site, 200 + i);
        }
        dh_host_free(h);
    }
    kit_done(&t);
}

/* A number is not used again by a thread whose creator does not know the end of its last owner. */
static void check_unknown_ends(void **state)
{
    (void)state;
    struct kit_trace t = {0};
    u32 next = 2;
    put(&t, DH_OP_FORK, 0, 1, 0);
    for (u32 i = 0; i < 400; i++) { /* thread 0 joins them, thread 1 makes others meanwhile */
        put(&t, DH_OP_FORK, 0, next, 0);
        put(&t, DH_OP_WRITE, next, i, 1);
        put(&t, DH_OP_JOIN, 0, next++, 0);
        put(&t, DH_OP_FORK, 1, next, 0);
        put(&t, DH_OP_WRITE, next++, i, 2);
    }
    static const char *const names[] = {"basicvc", "djit", "fasttrack", "goldilocks", "shb", "wcp", "syncp"};
    for (u32 i = 0; i < DH_ARRAY_LEN(names); i++) {
        struct kit_said s = kit_run(&t, dh_detector_find(names[i], strlen(names[i])));
        assert_int_equal(s.error, 0);
        assert_int_equal(s.n_events, 400);
        kit_said_done(&s);
    }
    kit_done(&t);
}

/* A thread is known under one number from its fork on, though it acts a batch later. */
static void check_forked_first(void **state)
{
    (void)state;
    enum { FIRST = 280, FORKED = 300 };
    struct kit_trace t = {0};
    put(&t, DH_OP_WRITE, 0, 0, 1);
    for (u32 i = 1; i <= FIRST; i++)
        put(&t, DH_OP_FORK, 0, i, 0);
    for (u32 i = 0; i < DH_HOST_BATCH; i++)
        put(&t, DH_OP_READ, 0, 0, 2);
    for (u32 i = FIRST + 1; i <= FORKED; i++)
        put(&t, DH_OP_FORK, 0, i, 0);
    for (u32 i = 1; i <= FORKED; i++)
        put(&t, DH_OP_READ, i, 0, 3);
    for (u32 i = 0; i < dh_n_detectors; i++) {
        struct kit_said s = kit_run(&t, dh_detectors[i]);
        assert_int_equal(s.error, 0);
        assert_int_equal(s.n_events, 0);
        kit_said_done(&s);
    }
    kit_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_names),
        cmocka_unit_test(check_unknown_ends),
        cmocka_unit_test(check_forked_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
