/*
 * test_lock.c - src/base/lock.c.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/lock.h"
#include "unit/check.h"

static struct dh_lock collect = DH_LOCK_INIT(DH_RANK_COLLECT), threads = DH_LOCK_INIT(DH_RANK_THREADS),
                      other_threads = DH_LOCK_INIT(DH_RANK_THREADS), pool = DH_LOCK_INIT(DH_RANK_POOL);

/* How does a child end that runs fn? Its complaint goes nowhere. */
static int end_of(void (*fn)(void))
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        signal(SIGILL, SIG_DFL);
        close(2);
        fn();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void rising_order(void)
{
    dh_lock_take(&collect);
    dh_lock_take(&threads);
    dh_lock_take(&pool);
    dh_lock_drop(&pool);
    dh_lock_take(&pool);
    /* In any order: only taking can make a cycle. */
    dh_lock_drop(&collect);
    dh_lock_drop(&threads);
    dh_lock_drop(&pool);
    dh_lock_take(&collect);
    dh_lock_drop(&collect);
}

static void falling_order(void)
{
    dh_lock_take(&pool);
    dh_lock_take(&threads);
}

static void same_rank(void)
{
    dh_lock_take(&threads);
    dh_lock_take(&other_threads);
}

static void twice(void)
{
    dh_lock_take(&threads);
    dh_lock_take(&threads);
}

static void below_a_held_one(void)
{
    dh_lock_take(&collect);
    dh_lock_take(&pool);
    dh_lock_drop(&collect);
    dh_lock_take(&threads);
}

static void ranks(void **state)
{
    (void)state;
    assert_int_equal(end_of(rising_order), 0);
    void (*const wrong[])(void) = {falling_order, same_rank, twice, below_a_held_one};
    for (size_t i = 0; i < DH_ARRAY_LEN(wrong); i++) {
        int status = end_of(wrong[i]);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGILL);
    }
}

/* Around fork every lock is taken, several of one rank among them, and no rank is left behind. */
static void around_fork(void)
{
    dh_lock_fork_take(&threads);
    dh_lock_fork_take(&other_threads);
    dh_lock_fork_take(&collect);
    dh_lock_fork_drop(&collect);
    dh_lock_fork_drop(&other_threads);
    dh_lock_fork_drop(&threads);
    rising_order();
}

static void fork_locks(void **state)
{
    (void)state;
    assert_int_equal(end_of(around_fork), 0);
}

static void *work(void *arg)
{
    long *sum = arg;
    for (int i = 0; i < 50000; i++) {
        dh_lock_take(&threads);
        ++*sum;
        dh_lock_drop(&threads);
    }
    return NULL;
}

static void excludes(void **state)
{
    (void)state;
    pthread_t t[4];
    long sum = 0;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&t[i], NULL, work, &sum), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    assert_int_equal(sum, 200000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks),
        cmocka_unit_test(fork_locks),
        cmocka_unit_test(excludes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
