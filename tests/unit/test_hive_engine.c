/*
 * test_hive_engine.c - the times that a hive gives to events when clocks are wrong or set, and whether it is ready when nothing
 * can be stored. This file has a clock_gettime of its own, which the hive calls instead of that of the C library.
 */
#include "hive/engine.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "unit/check.h"

enum { SECOND = 1000000, MINUTE = 60 * SECOND };
#define HOUR (60ull * MINUTE)
#define START 1700000000000000ull /* in 2023 */
/* What an engine waits for when it has nothing to do is a time on the real clock: then never comes, or has passed. */
#define FAR_AHEAD 9000000000000000ull
#define LONG_AGO 1ull

static char dir[] = "/tmp/test_hive_engine.XXXXXX";
static char path[64];
static u64 wall_us, ticks_us; /* what clocks show; set while no engine has anything to do */

int clock_gettime(clockid_t id, struct timespec *t)
{
    u64 us = __atomic_load_n(id == CLOCK_REALTIME ? &wall_us : &ticks_us, __ATOMIC_RELAXED);
    t->tv_sec = (time_t)(us / SECOND);
    t->tv_nsec = (long)(us % SECOND * 1000);
    return 0;
}

static void set(u64 wall, u64 ticks)
{
    __atomic_store_n(&wall_us, wall, __ATOMIC_RELAXED);
    __atomic_store_n(&ticks_us, ticks, __ATOMIC_RELAXED);
}

static void pass(u64 us)
{
    set(wall_us + us, ticks_us + us);
}

static struct dh_hive_engine *start(void (*changed)(void *ctx), void *ctx)
{
    struct dh_hive_engine *e = NULL;
    char *why = NULL;
    assert_int_equal(dh_hive_engine_start(path, true, &dh_hive_racemob, 0, changed, ctx, &e, &why), 0);
    return e;
}

static void stop(struct dh_hive_engine *e)
{
    dh_hive_engine_stop(e);
    dh_hive_engine_free(e);
}

static u64 now_of(struct dh_hive_engine *e)
{
    dh_hive_engine_lock(e);
    u64 now = dh_hive_engine_now(e);
    dh_hive_engine_unlock(e);
    return now;
}

static void add(struct dh_hive_batch *b, void *ctx)
{
    static unsigned serial;
    char name[20];
    const char *why;
    u64 *ret_now_us = ctx;
    snprintf(name, sizeof(name), "prog%u", serial++);
    if (dh_hive_add_program(b, name, &why) == DH_HIVE_CREATED)
        *ret_now_us = b->now_us;
}

/* Adds an event, and returns its time. */
static u64 event(struct dh_hive_engine *e)
{
    u64 now_us = 0;
    assert_true(dh_hive_engine_run(e, add, &now_us));
    assert_true(now_of(e) >= now_us);
    return now_us;
}

static void test_set_back(void **unused)
{
    (void)unused;
    set(START + HOUR, FAR_AHEAD);
    struct dh_hive_engine *e = start(NULL, NULL);
    assert_int_equal(event(e), START + HOUR);
    set(START, ticks_us);
    pass(10ull * MINUTE);
    assert_int_equal(now_of(e), START + HOUR + 10ull * MINUTE);
    assert_int_equal(event(e), START + HOUR + 10ull * MINUTE);
    stop(e);

    pass(20ull * MINUTE); /* while no hive runs, the log's clock stands still */
    e = start(NULL, NULL);
    pass(5ull * MINUTE);
    assert_int_equal(event(e), START + HOUR + 15ull * MINUTE);
    pass(40ull * MINUTE); /* now it is right again */
    assert_int_equal(event(e), START + HOUR + 55ull * MINUTE);
    set(wall_us + HOUR, ticks_us); /* right, or set forward */
    assert_int_equal(event(e), wall_us);
    stop(e);
}

static void test_one_wrong_of_two(void **unused)
{
    (void)unused;
    set(START, FAR_AHEAD);
    struct dh_hive_engine *wrong = start(NULL, NULL), *right = start(NULL, NULL);
    set(START + HOUR, ticks_us);
    assert_int_equal(event(wrong), START + HOUR);
    set(START, ticks_us);
    pass(MINUTE);
    assert_int_equal(event(right), START + HOUR); /* it learns of the other's only now */
    pass(MINUTE);
    assert_int_equal(event(right), START + HOUR + MINUTE);
    pass(MINUTE);
    assert_int_equal(event(wrong), START + HOUR + 3ull * MINUTE);
    pass(MINUTE);
    assert_int_equal(event(right), START + HOUR + 3ull * MINUTE);
    pass(MINUTE);
    assert_int_equal(event(right), START + HOUR + 4ull * MINUTE);
    stop(wrong);
    stop(right);
}

/* Counts what an engine says a few times a second, and after jobs. */
struct turns {
    pthread_mutex_t lock;
    pthread_cond_t more;
    unsigned n;
};

static void count_turn(void *ctx)
{
    struct turns *t = ctx;
    pthread_mutex_lock(&t->lock);
    t->n++;
    pthread_cond_signal(&t->more);
    pthread_mutex_unlock(&t->lock);
}

/* Long enough that one began and ended. */
static void wait_for_turns(struct turns *t)
{
    pthread_mutex_lock(&t->lock);
    for (unsigned end = t->n + 3; t->n < end;)
        pthread_cond_wait(&t->more, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

static bool is_ready(struct dh_hive_engine *e)
{
    struct dh_hive_engine_stats stats;
    dh_hive_engine_stats(e, &stats);
    return stats.ready;
}

/* Here a file that may not grow stands for a disk that is full. */
static void test_full_disk(void **unused)
{
    struct turns t = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    struct rlimit limit;
    u64 now_us;
    (void)unused;
    set(START, LONG_AGO);
    signal(SIGXFSZ, SIG_IGN); /* a write fails instead */
    struct dh_hive_engine *e = start(count_turn, &t);
    event(e);
    wait_for_turns(&t);
    bool before = is_ready(e);
    getrlimit(RLIMIT_FSIZE, &limit);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){1, limit.rlim_max});
    bool stored = dh_hive_engine_run(e, add, &now_us);
    bool at_once = is_ready(e);
    wait_for_turns(&t);
    bool meanwhile = is_ready(e);
    setrlimit(RLIMIT_FSIZE, &limit);
    wait_for_turns(&t);
    bool after = is_ready(e); /* although nobody has written anything */
    stop(e);
    assert_true(before);
    assert_false(stored || at_once);
    assert_false(meanwhile);
    assert_true(after);
}

static int setup(void **unused)
{
    (void)unused;
    return mkdtemp(dir) ? 0 : -1;
}

static int new_store(void **unused)
{
    static unsigned serial;
    (void)unused;
    snprintf(path, sizeof(path), "%s/%u.db", dir, serial++);
    return 0;
}

static int teardown(void **unused)
{
    char command[64];
    (void)unused;
    snprintf(command, sizeof(command), "rm -r %s", dir);
    return system(command); /* NOLINT(cert-env33-c,concurrency-mt-unsafe): the test's own directory */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_set_back, new_store),
        cmocka_unit_test_setup(test_one_wrong_of_two, new_store),
        cmocka_unit_test_setup(test_full_disk, new_store),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
