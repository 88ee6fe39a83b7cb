/*
 * stress_identity.c - many kernel threads that carry many language-level threads, each now here and now there, under
 * signals, with threads that end and begin all the time, and with a handler that runs as whoever is interrupted.
 *
 * Every thread counts in a word of its own without a lock, and in one of a few shared words under a lock of the
 * language's: a report is a mistake, and so is a wrong sum.
 */
#include <deadheat/lard.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <sys/time.h>

#include "stress.h"

enum { CARRIERS = 6, TASKS = 200, SHARED = 8, STEPS = 4000 };

struct task {
    dh_lard_thread *thread;
    long own;
    int busy; /* some kernel thread runs it */
    int lives;
};

static struct task tasks[TASKS];
static long shared[SHARED];
static int shared_taken[SHARED];
static long steps;
static volatile sig_atomic_t ticks;

DH_UNTRACKED static void take(int *word)
{
    while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

DH_UNTRACKED static void drop(int *word)
{
    __atomic_store_n(word, 0, __ATOMIC_RELEASE);
}

static void tick(int sig)
{
    (void)sig;
    dh_lard_system_begin(); /* lard.h may be used in handlers */
    ticks++;
    dh_lard_system_end();
}

static __attribute__((noinline)) void step(struct task *t, unsigned r)
{
    int k = (int)(r % SHARED);
    t->own++;
    take(&shared_taken[k]);
    dh_lard_lock(&shared[k], DH_LARD_EXCLUSIVE);
    shared[k]++;
    dh_lard_unlock(&shared[k]);
    drop(&shared_taken[k]);
}

/* The thread ends and another one takes its place; what it did is known to the next by joining. */
DH_UNTRACKED static void renew(struct task *t)
{
    dh_lard_thread *old = t->thread;
    dh_lard_thread_end(old);
    dh_lard_thread_join(old);
    t->thread = dh_lard_thread_new("task");
    t->lives++;
}

DH_UNTRACKED static void *carrier(void *arg)
{
    unsigned r = (unsigned)(unsigned long)arg * 2654435761u + 1;
    dh_lard_unordered_begin();
    while (__atomic_add_fetch(&steps, 1, __ATOMIC_RELAXED) <= STEPS * CARRIERS) {
        r = r * 1664525u + 1013904223u;
        struct task *t = &tasks[(r >> 8) % TASKS];
        if (__atomic_exchange_n(&t->busy, 1, __ATOMIC_ACQUIRE))
            continue;
        dh_lard_thread_switch(t->thread);
        step(t, r >> 16);
        if (r >> 28 == 0)
            renew(t);
        else
            dh_lard_thread_switch(NULL);
        __atomic_store_n(&t->busy, 0, __ATOMIC_RELEASE);
    }
    dh_lard_unordered_end();
    return NULL;
}

int main(void)
{
    pthread_t threads[CARRIERS];
    struct sigaction act = {.sa_handler = tick, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    long own = 0, all = 0;
    for (int i = 0; i < TASKS; i++)
        tasks[i].thread = dh_lard_thread_new("task");
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (long i = 0; i < CARRIERS; i++)
        CHECK(pthread_create(&threads[i], NULL, carrier, (void *)i) == 0);
    for (int i = 0; i < CARRIERS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    setitimer(ITIMER_REAL, &never, NULL);
    for (int i = 0; i < TASKS; i++) {
        dh_lard_thread_end(tasks[i].thread);
        dh_lard_thread_join(tasks[i].thread);
        own += tasks[i].own;
    }
    for (int i = 0; i < SHARED; i++) {
        dh_lard_lock(&shared[i], DH_LARD_EXCLUSIVE);
        all += shared[i];
        dh_lard_unlock(&shared[i]);
    }
    CHECK(own == all && own > 0);
    puts("OK");
    return 0;
}
