/*
 * forms.c - dh_debug_dump, for a cell of every form: nothing, one access, reads of two threads, a history with a
 * place for each slot, and a split word. Lines of standard error say which comes next. A thread that does
 * nothing is there all the time: of what a thread does alone nothing is recorded.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

extern void dh_debug_dump(const volatile void *addr);

enum { WORDS = 4096 };
static long once __attribute__((aligned(8)));
static long read_by_all __attribute__((aligned(8)));
static _Atomic long counter __attribute__((aligned(8)));
static char bytes[WORDS * 4] __attribute__((aligned(8)));
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_int arrived, over;

static void show(const char *what, const volatile void *p)
{
    fprintf(stderr, "[%s]\n", what);
    dh_debug_dump(p);
}

static __attribute__((noinline)) long get(const long *p)
{
    return *p;
}

static __attribute__((noinline)) void put(char *p, char value)
{
    *p = value;
}

/* Both threads are here, by means that order nothing. */
static void meet(int n)
{
    atomic_fetch_add_explicit(&arrived, 1, memory_order_relaxed);
    while (atomic_load_explicit(&arrived, memory_order_relaxed) < n)
        sched_yield();
}

static void *reader(void *arg)
{
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    long sum = get(&read_by_all);
    meet(2);
    for (int i = 0; i < 100;
         i++) { /* each in an epoch of its own, and none ordered with the other thread's */
        pthread_mutex_lock(&own);
        sum += atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
        pthread_mutex_unlock(&own);
    }
    if (arg)
        show("two-readers", &read_by_all);
    meet(4);
    if (arg)
        show("by-slot", &counter);
    return sum == -1 ? arg : NULL;
}

/* One byte of each word after another, each from an epoch of its own: too many mixtures to be histories. */
static void split(void)
{
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < WORDS; i++) {
            pthread_mutex_lock(&m);
            put(&bytes[i * 4 + k], 1);
            pthread_mutex_unlock(&m);
        }
}

static void *idle(void *arg)
{
    while (!atomic_load_explicit(&over, memory_order_relaxed))
        sched_yield();
    return arg;
}

int main(void)
{
    pthread_t t[2], company;
    if (pthread_create(&company, NULL, idle, NULL) != 0)
        return 1;
    void *fresh = calloc(1, 64);
    show("nothing", fresh);
    pthread_mutex_lock(&m);
    once = 1;
    pthread_mutex_unlock(&m);
    show("one", &once);
    for (int i = 0; i < 2; i++)
        if (pthread_create(&t[i], NULL, reader, i ? &t : NULL) != 0)
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    split();
    show("split", &bytes[sizeof(bytes) - 4]);
    show("no-shadow", (void *)16);
    free(fresh);
    atomic_store_explicit(&over, 1, memory_order_relaxed);
    pthread_join(company, NULL);
    return 0;
}
