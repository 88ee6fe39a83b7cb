/*
 * stress_threads.c - 100,000 threads in turn, 1,000 at once, detached ones, small stacks, C11 ones.
 *
 * Checks: each thread sees what its creator wrote, each joiner what the thread wrote; handles and names work.
 */
#define _GNU_SOURCE 1
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <threads.h>

#include "stress.h"

enum { IN_TURN = 100000, AT_ONCE = 1000, DETACHED = 500, C11 = 500 };

static long value; /* handed from thread to thread by create and join */

static void *add(void *arg)
{
    CHECK(value == (long)arg);
    value++;
    return (void *)(value * 2);
}

static void in_turn(void)
{
    for (long i = 0; i < IN_TURN; i++) {
        pthread_t th;
        void *ret;
        CHECK(pthread_create(&th, NULL, add, (void *)i) == 0);
        CHECK(pthread_join(th, &ret) == 0);
        CHECK(value == i + 1 && ret == (void *)((i + 1) * 2));
    }
}

static pthread_barrier_t all;
static int slots[AT_ONCE];

static void *meet(void *arg)
{
    size_t i = (size_t)arg;
    slots[i] = (int)i;
    pthread_barrier_wait(&all);
    CHECK(slots[(i + 1) % AT_ONCE] == (int)((i + 1) % AT_ONCE));
    pthread_barrier_wait(&all);
    slots[i] = -1;
    return NULL;
}

static void at_once(void)
{
    static pthread_t th[AT_ONCE];
    pthread_attr_t attr;
    CHECK(pthread_attr_init(&attr) == 0);
    CHECK(pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN) == 0);
    CHECK(pthread_barrier_init(&all, NULL, AT_ONCE) == 0);
    for (size_t i = 0; i < AT_ONCE; i++)
        CHECK(pthread_create(&th[i], &attr, meet, (void *)i) == 0);
    for (int i = 0; i < AT_ONCE; i++)
        CHECK(pthread_join(th[i], NULL) == 0);
    for (int i = 0; i < AT_ONCE; i++)
        CHECK(slots[i] == -1);
    CHECK(pthread_barrier_destroy(&all) == 0);
    pthread_attr_destroy(&attr);
}

static sem_t gone;
static int left[DETACHED];

static void *leave(void *arg)
{
    int *mine = arg;
    char name[16];
    CHECK(pthread_setname_np(pthread_self(), "leaver") == 0);
    CHECK(pthread_getname_np(pthread_self(), name, sizeof(name)) == 0 && strcmp(name, "leaver") == 0);
    *mine = 1;
    sem_post(&gone);
    return NULL;
}

static void detached(void)
{
    pthread_attr_t attr;
    CHECK(sem_init(&gone, 0, 0) == 0);
    CHECK(pthread_attr_init(&attr) == 0);
    CHECK(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0);
    for (int i = 0; i < DETACHED; i++) {
        pthread_t th;
        CHECK(pthread_create(&th, i % 2 ? &attr : NULL, leave, &left[i]) == 0);
        if (i % 2 == 0)
            CHECK(pthread_detach(th) == 0);
    }
    for (int i = 0; i < DETACHED; i++)
        while (sem_wait(&gone) != 0)
            ;
    for (int i = 0; i < DETACHED; i++)
        CHECK(left[i] == 1);
    pthread_attr_destroy(&attr);
}

static mtx_t lock;
static cnd_t turned;
static int turn; /* under lock */
static once_flag once = ONCE_FLAG_INIT;
static int once_value;

static void set_once(void)
{
    once_value = 42;
}

static int c11(void *arg)
{
    int i = (int)(size_t)arg;
    call_once(&once, set_once);
    CHECK(once_value == 42);
    mtx_lock(&lock);
    while (turn != i)
        cnd_wait(&turned, &lock);
    turn++;
    cnd_broadcast(&turned);
    mtx_unlock(&lock);
    return i;
}

static void c11_threads(void)
{
    enum { GROUP = 10 };
    CHECK(mtx_init(&lock, mtx_plain) == thrd_success && cnd_init(&turned) == thrd_success);
    for (size_t i = 0; i < C11; i += GROUP) {
        thrd_t th[GROUP];
        for (size_t j = 0; j < GROUP; j++)
            CHECK(thrd_create(&th[j], c11, (void *)(i + GROUP - 1 - j)) == thrd_success);
        for (size_t j = 0; j < GROUP; j++) {
            int ret;
            CHECK(thrd_join(th[j], &ret) == thrd_success && ret == (int)(i + GROUP - 1 - j));
        }
    }
    CHECK(turn == C11);
    mtx_destroy(&lock);
    cnd_destroy(&turned);
}

int main(void)
{
    in_turn();
    at_once();
    detached();
    c11_threads();
    puts("OK");
    return 0;
}
