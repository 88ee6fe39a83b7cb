/*
 * stress_sync.c - every kind of synchronisation object guards plain data, under contention.
 *
 * Checks: the sums come out exact; under deadheat a missing edge would be a report.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "stress.h"

enum { THREADS = 4, ROUNDS = 1500 };

static void each(void *(*fn)(void *))
{
    pthread_t th[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&th[i], NULL, fn, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(th[i], NULL) == 0);
}

static struct timespec soon(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    ts.tv_sec += 30;
    return ts;
}

/* ---- Mutexes ---- */

static pthread_mutex_t mutex;
static long guarded;

static void *with_mutex(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec real = soon(CLOCK_REALTIME), mono = soon(CLOCK_MONOTONIC);
        switch (i % 4) {
        case 0:
            CHECK(pthread_mutex_lock(&mutex) == 0);
            break;
        case 1:
            while (pthread_mutex_trylock(&mutex) == EBUSY)
                sched_yield();
            break;
        case 2:
            CHECK(pthread_mutex_timedlock(&mutex, &real) == 0);
            break;
        case 3:
            CHECK(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &mono) == 0);
        }
        guarded++;
        CHECK(pthread_mutex_unlock(&mutex) == 0);
    }
    return arg;
}

static void *with_recursion(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_lock(&mutex) == 0);
        guarded++;
        CHECK(pthread_mutex_unlock(&mutex) == 0);
        guarded++; /* still held */
        CHECK(pthread_mutex_unlock(&mutex) == 0);
    }
    return arg;
}

static void *die_holding(void *arg)
{
    CHECK(pthread_mutex_lock(&mutex) == 0);
    return arg;
}

static void test_mutexes(void)
{
    static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE,
                                PTHREAD_MUTEX_ADAPTIVE_NP};
    pthread_mutexattr_t attr;
    CHECK(pthread_mutexattr_init(&attr) == 0);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        CHECK(pthread_mutexattr_settype(&attr, types[i]) == 0);
        CHECK(pthread_mutex_init(&mutex, &attr) == 0);
        guarded = 0;
        each(with_mutex);
        CHECK(guarded == THREADS * ROUNDS);
        if (types[i] == PTHREAD_MUTEX_RECURSIVE) {
            each(with_recursion);
            CHECK(guarded == 3 * THREADS * ROUNDS);
        }
        if (types[i] == PTHREAD_MUTEX_ERRORCHECK)
            CHECK(pthread_mutex_unlock(&mutex) == EPERM);
        CHECK(pthread_mutex_destroy(&mutex) == 0);
    }
    CHECK(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_NORMAL) == 0);
    CHECK(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST) == 0);
    CHECK(pthread_mutex_init(&mutex, &attr) == 0);
    pthread_t th;
    CHECK(pthread_create(&th, NULL, die_holding, NULL) == 0 && pthread_join(th, NULL) == 0);
    CHECK(pthread_mutex_lock(&mutex) == EOWNERDEAD && pthread_mutex_consistent(&mutex) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    guarded = 0;
    each(with_mutex);
    CHECK(guarded == THREADS * ROUNDS);
    CHECK(pthread_mutex_destroy(&mutex) == 0);
    pthread_mutexattr_destroy(&attr);
}

/* ---- Reader-writer and spin locks ---- */

static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static long pair[2], spun;

static void *with_rwlock(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec real = soon(CLOCK_REALTIME), mono = soon(CLOCK_MONOTONIC);
        if (i % 3 == 0) {
            if (i % 2 == 0)
                CHECK(pthread_rwlock_wrlock(&rw) == 0);
            else
                CHECK(pthread_rwlock_clockwrlock(&rw, CLOCK_MONOTONIC, &mono) == 0);
            pair[0]++;
            pair[1]--;
        } else {
            if (i % 2 == 0)
                CHECK(pthread_rwlock_rdlock(&rw) == 0);
            else
                CHECK(pthread_rwlock_timedrdlock(&rw, &real) == 0);
            CHECK(pair[0] + pair[1] == 0);
        }
        CHECK(pthread_rwlock_unlock(&rw) == 0);
        while (pthread_spin_trylock(&spin) == EBUSY)
            sched_yield();
        spun++;
        CHECK(pthread_spin_unlock(&spin) == 0);
    }
    return arg;
}

/* ---- Condition variables: a queue of one ---- */

static pthread_cond_t full = PTHREAD_COND_INITIALIZER, empty = PTHREAD_COND_INITIALIZER;
static int has;
static long item, received;

static void *with_cond(void *arg)
{
    int sender = (size_t)arg % 2 == 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec mono = soon(CLOCK_MONOTONIC);
        CHECK(pthread_mutex_lock(&mutex) == 0);
        while (has == sender) {
            if (sender)
                CHECK(pthread_cond_wait(&empty, &mutex) == 0);
            else
                CHECK(pthread_cond_clockwait(&full, &mutex, CLOCK_MONOTONIC, &mono) == 0);
        }
        if (sender)
            item = i;
        else
            received += item;
        has = sender;
        pthread_cond_signal(sender ? &full : &empty);
        CHECK(pthread_mutex_unlock(&mutex) == 0);
    }
    return arg;
}

/* ---- Barriers: generations do not mix ---- */

static pthread_barrier_t barrier;
static long row[2][THREADS];

static void *with_barrier(void *arg)
{
    size_t me = (size_t)arg;
    for (int i = 0; i < ROUNDS; i++) {
        row[i & 1][me] = i;
        int rc = pthread_barrier_wait(&barrier);
        CHECK(rc == 0 || rc == PTHREAD_BARRIER_SERIAL_THREAD);
        for (int j = 0; j < THREADS; j++)
            CHECK(row[i & 1][j] == i);
    }
    return arg;
}

/* ---- Semaphores ---- */

static sem_t unnamed, *named;
static long counted;

static void *with_sem(void *arg)
{
    sem_t *s = (size_t)arg % 2 ? &unnamed : named;
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec real = soon(CLOCK_REALTIME);
        while ((i % 2 ? sem_wait(s) : sem_timedwait(s, &real)) != 0)
            CHECK(errno == EINTR);
        while (sem_trywait(s == &unnamed ? named : &unnamed) != 0) { /* both are needed to go on */
            CHECK(errno == EAGAIN);
            sem_post(s);
            sched_yield();
            while (sem_wait(s) != 0)
                CHECK(errno == EINTR);
        }
        counted++;
        sem_post(named);
        sem_post(&unnamed);
    }
    return arg;
}

static void test_semaphores(void)
{
    char name[64];
    snprintf(name, sizeof(name), "/deadheat-stress-%d", (int)getpid());
    named = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
    CHECK(named != SEM_FAILED);
    CHECK(sem_unlink(name) == 0);
    CHECK(sem_init(&unnamed, 0, 1) == 0);
    each(with_sem);
    CHECK(counted == THREADS * ROUNDS);
    CHECK(sem_destroy(&unnamed) == 0 && sem_close(named) == 0);
}

/* ---- Once ---- */

static pthread_once_t outer[ROUNDS], inner[ROUNDS];
static int made[ROUNDS], made_inside[ROUNDS];
static _Thread_local int current;

static void make_inner(void)
{
    made_inside[current]++;
}

static void make_outer(void)
{
    pthread_once(&inner[current], make_inner);
    made[current] = made_inside[current] + 1;
}

static void *with_once(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        current = i;
        CHECK(pthread_once(&outer[i], make_outer) == 0);
        CHECK(made[i] == 2);
        CHECK(pthread_once(&inner[i], make_inner) == 0);
        CHECK(made_inside[i] == 1);
    }
    return arg;
}

/* ---- C11 ---- */

static mtx_t c11;
static long c11_count;

static void *with_c11(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec real = soon(CLOCK_REALTIME);
        if (i % 2)
            CHECK(mtx_lock(&c11) == thrd_success);
        else
            CHECK(mtx_timedlock(&c11, &real) == thrd_success);
        CHECK(mtx_trylock(&c11) == thrd_success); /* recursive */
        c11_count++;
        CHECK(mtx_unlock(&c11) == thrd_success);
        CHECK(mtx_unlock(&c11) == thrd_success);
    }
    return arg;
}

int main(void)
{
    test_mutexes();
    CHECK(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE) == 0);
    each(with_rwlock);
    CHECK(pair[0] == THREADS * ((ROUNDS + 2) / 3) && spun == THREADS * ROUNDS);
    CHECK(pthread_mutex_init(&mutex, NULL) == 0);
    each(with_cond);
    CHECK(received == (THREADS / 2) * ((long)ROUNDS * (ROUNDS - 1) / 2));
    CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
    each(with_barrier);
    CHECK(pthread_barrier_destroy(&barrier) == 0);
    test_semaphores();
    for (int i = 0; i < ROUNDS; i++)
        outer[i] = inner[i] = (pthread_once_t)PTHREAD_ONCE_INIT;
    each(with_once);
    CHECK(mtx_init(&c11, mtx_timed | mtx_recursive) == thrd_success);
    each(with_c11);
    CHECK(c11_count == THREADS * ROUNDS);
    mtx_destroy(&c11);
    puts("OK");
    return 0;
}
