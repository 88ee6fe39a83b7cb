/*
 * hivelog.c - a long log of a hive, and how long a hive takes to start from it:
 *
 *   bench-hivelog make DB RESULTS    append so many results of 10,000 users, with their tasks, to a new log
 *   bench-hivelog start DB           read it as a hive does when it starts; prints seconds of processor and
 * clock
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hive/engine.h"
#include "tests/unit/hive_crowd.h"

enum { USERS = 10000, PAIRS = 500, BATCH = 5000 };
#define BUILD "0123456789abcdef"

static u64 mix(u64 x)
{
    return dh_hash64(x + 0x9e3779b97f4a7c15ull);
}

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "bench-hivelog: %s: %s\n", what, why);
    exit(2);
}

static json_t *result(u64 n, u32 task)
{
    char id[33], run[33];
    const char *what = (n + n / USERS) % 10 == 9 ? "timeout" : mix(n) % 5 == 0 ? "no-race" : "not-seen";
    snprintf(id, sizeof(id), "%016llx%016llx", (unsigned long long)mix(4 * n),
             (unsigned long long)mix(4 * n + 1));
    snprintf(run, sizeof(run), "%016llx%016llx", (unsigned long long)mix(4 * n + 2),
             (unsigned long long)mix(4 * n + 3));
    return json_pack("{s:s, s:I, s:s, s:s, s:I, s:I}", "id", id, "task", (json_int_t)task, "result", what,
                     "run", run, "waited_us", (json_int_t)(1000 + mix(n) % 100), "run_us",
                     (json_int_t)1000000);
}

static void append(struct dh_store *store, struct dh_hive_batch *b)
{
    if (dh_store_begin(store) != 0 || dh_store_append(store, b->events, b->n_events) != 0 ||
        dh_store_commit(store) != 0)
        fail("append", dh_store_error(store));
    dh_hive_batch_clear(b);
    b->now_us += 1000000;
}

static void make(const char *db, u64 results)
{
    struct dh_store *store;
    struct dh_hive_state s;
    struct dh_hive_batch b = {
        .state = &s, .policy = &dh_hive_racemob, .now_us = 1700000000000000, .random = 1};
    const char *why = "";
    char *error, user[DH_HIVE_HASH + 1];
    u8 *table;
    size_t len;
    u32 at;
    if (dh_store_open(db, true, &store, &error) != 0)
        fail(db, error);
    dh_hive_state_init(&s);
    hive_table(PAIRS, 0, 0, false, &table, &len);
    if (dh_hive_add_build(&b, "prog", BUILD, NULL, table, len, &why) != DH_HIVE_CREATED)
        fail("a build", why);
    free(table);
    for (u64 n = 0; n < results; n++) {
        hive_name(user, DH_HIVE_HASH, mix(n % USERS));
        if (dh_hive_poll(&b, 0, user, BUILD, &at, &why) != DH_HIVE_OK || s.users[at].task == DH_HIVE_NONE)
            fail("a task", why);
        json_t *r = result(n, s.users[at].task);
        if (dh_hive_add_result(&b, 0, user, r, &why) != DH_HIVE_CREATED)
            fail("a result", why);
        json_decref(r);
        if (n % BATCH == BATCH - 1)
            append(store, &b);
    }
    append(store, &b);
    printf("%llu events\n", (unsigned long long)s.seq);
    dh_hive_batch_done(&b);
    dh_hive_state_done(&s);
    dh_store_close(store);
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void start(const char *db, u64 snapshot_events)
{
    struct dh_hive_engine *e;
    char *why;
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (dh_hive_engine_start(db, false, &dh_hive_racemob, snapshot_events, NULL, NULL, &e, &why) != 0)
        fail(db, why);
    wall = seconds(CLOCK_MONOTONIC) - wall;
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    const struct dh_hive_state *s = dh_hive_engine_lock(e);
    printf("{\"results\": %llu, \"events\": %llu, \"wall_s\": %.3f, \"cpu_s\": %.3f}\n",
           (unsigned long long)s->n_results, (unsigned long long)s->seq, wall, cpu);
    dh_hive_engine_unlock(e);
    dh_hive_engine_stop(e);
    dh_hive_engine_free(e);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "make") == 0)
        make(argv[2], strtoull(argv[3], NULL, 10));
    else if (argc == 3 && strcmp(argv[1], "start") == 0)
        start(argv[2], 0);
    else if (argc == 3 && strcmp(argv[1], "snapshot") == 0)
        start(argv[2], 1);
    else
        fail("usage", "bench-hivelog make DB RESULTS | bench-hivelog start DB | bench-hivelog snapshot DB");
    return 0;
}
