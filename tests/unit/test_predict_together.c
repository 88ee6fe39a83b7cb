/*
 * test_predict_together.c - detectors that share one trace, one after the other or at once: each says what it says alone.
 */
#include "unit/check.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "detect/host.h"
#include "traces/predict_run.h"
#include "traces/random.h"

enum { DETECTORS = 3 };

static const char *const orders[][DETECTORS] = {
    {"cp", "syncp", "osr"}, {"osr", "cp", "syncp"}, {"syncp", "osr", "cp"}};

/* What one detector said, as one number. */
struct said {
    u64 hash, races, given_up;
    int error;
};

static void on_race(void *ctx, u32 index, const struct dh_race *race)
{
    struct said *s = (struct said *)ctx + index;
    u64 written = race->witness ? race->witness_len - race->witness_start : 0;
    s->races++;
    s->hash = dh_hash64(s->hash ^ (race->earlier.event << 32 | race->now.event)) + race->witness_len;
    for (u64 i = 0; i < written; i++)
        s->hash = dh_hash64(s->hash ^ race->witness[i]);
}

static struct dh_host *host_of(const struct kit_trace *t, const char *const *names, u32 n, struct said *said,
                               size_t limit)
{
    struct dh_host *h = dh_host_new(on_race, said);
    struct dh_event *events = kit_alloc(t->n * sizeof(*events));
    assert_non_null(h);
    memcpy(events, t->events, t->n * sizeof(*events));
    dh_host_limit(h, limit);
    for (u32 i = 0; i < n; i++)
        assert_int_equal(dh_host_add(h, dh_detector_find(names[i], strlen(names[i]))), 0);
    assert_int_equal(dh_host_feed(h, events, t->n), 0);
    free(events);
    return h;
}

/* How much memory the first one held. */
static size_t done(struct dh_host *h, struct said *said, u32 n)
{
    struct dh_host_result r;
    size_t memory = 0;
    for (u32 i = 0; i < n; i++) {
        dh_host_result(h, i, &r);
        said[i].error = r.error;
        said[i].given_up = r.given_up;
        memory = i == 0 ? r.memory : memory;
    }
    dh_host_free(h);
    return memory;
}

struct job {
    struct dh_host *host;
    u32 index;
};

static void *finish_one(void *arg)
{
    const struct job *j = arg;
    dh_host_finish_one(j->host, j->index);
    return NULL;
}

static void finish_at_once(struct dh_host *h)
{
    pthread_t threads[DETECTORS];
    struct job jobs[DETECTORS];
    dh_host_share(h);
    for (u32 i = 0; i < DETECTORS; i++) {
        jobs[i] = (struct job){.host = h, .index = i};
        assert_int_equal(pthread_create(&threads[i], NULL, finish_one, &jobs[i]), 0);
    }
    for (u32 i = 0; i < DETECTORS; i++)
        pthread_join(threads[i], NULL);
}

/* Returns how many races there were. */
static u64 compare(const struct kit_trace *t, const char *const *names, bool at_once)
{
    struct said alone[DETECTORS] = {0}, together[DETECTORS] = {0};
    u64 races = 0;
    for (u32 i = 0; i < DETECTORS; i++) {
        struct dh_host *h = host_of(t, &names[i], 1, &alone[i], 0);
        dh_host_finish(h);
        done(h, &alone[i], 1);
        races += alone[i].races;
    }
    struct dh_host *h = host_of(t, names, DETECTORS, together, 0);
    if (at_once)
        finish_at_once(h);
    else
        dh_host_finish(h);
    done(h, together, DETECTORS);
    for (u32 i = 0; i < DETECTORS; i++) {
        assert_int_equal(together[i].error, 0);
        assert_int_equal(together[i].races, alone[i].races);
        assert_int_equal(together[i].hash, alone[i].hash);
        assert_int_equal(together[i].given_up, alone[i].given_up);
    }
    return races;
}

static void same_as_alone(void **state)
{
    (void)state;
    u64 races = 0;
    for (u64 seed = 1; seed <= 40; seed++) {
        struct kit_trace dense = {0}, rich = {0};
        predict_dense_trace(&dense, seed, 600, 2 + (u32)(seed % 7), 1 + (u32)(seed % 6), 12);
        random_trace(
            &rich, seed,
            &(struct random_options){.events = 200, .threads = 4, .locks = 3, .cells = 4, .rich = true});
        races += compare(&dense, orders[seed % DETECTORS], seed % 2);
        races += compare(&rich, orders[seed % DETECTORS], seed % 2);
        kit_done(&dense);
        kit_done(&rich);
    }
    assert_true(races > 1000);
}

/* What is shared counts for each of them. */
static void limits_hold(void **state)
{
    (void)state;
    struct kit_trace t = {0};
    struct said said[DETECTORS] = {0};
    predict_dense_trace(&t, 1, 20000, 8, 8, 500);
    struct dh_host *h = host_of(&t, orders[0], DETECTORS, said, 0);
    dh_host_finish(h);
    size_t memory = done(h, said, DETECTORS);
    for (u32 part = 1; part <= 8; part++) {
        h = host_of(&t, orders[0], DETECTORS, said, memory * part / 8 - 1);
        dh_host_finish(h);
        done(h, said, DETECTORS);
        assert_int_equal(said[0].error, -EDQUOT);
    }
    kit_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_alone),
        cmocka_unit_test(limits_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
