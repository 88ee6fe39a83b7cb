// A fiber library on ucontext, many fibers on two kernel threads: its queue and its switches are its own affair,
// and what fibers do to each other's data is seen whichever kernel thread carries them.
// TSAN: it does not know the interface
#include <deadheat/lard.h>
#include <ucontext.h>

#include "invisible.h"

enum { FIBERS = 24, STACK = 256 << 10, ROUNDS = 20 };

/* ---- The library ---- */

struct fiber {
    ucontext_t context;
    dh_lard_thread *thread;
    void (*body)(int);
    int argument, done;
    struct fiber *next;
    char *stack;
};

static struct fiber fibers[FIBERS];
static struct fiber *ready, **ready_end = &ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int running;
static _Thread_local ucontext_t scheduler;
static _Thread_local struct fiber *current;

/* Neither inlined nor remembered: a fiber may come back on another kernel thread, with other thread-local
 * variables. */
DH_UNTRACKED static ucontext_t *scheduler_here(void)
{
    __asm__ volatile("" : : : "memory");
    return &scheduler;
}

DH_UNTRACKED static struct fiber **current_here(void)
{
    __asm__ volatile("" : : : "memory");
    return &current;
}

DH_UNTRACKED static void put(struct fiber *f)
{
    f->next = NULL;
    *ready_end = f;
    ready_end = &f->next;
}

DH_UNTRACKED static void switch_to_scheduler(struct fiber *f)
{
    dh_lard_thread_switch(NULL);
    swapcontext(&f->context, scheduler_here());
}

static void fiber_yield(void)
{
    switch_to_scheduler(*current_here());
}

DH_UNTRACKED static void fiber_begins(void)
{
    struct fiber *f = *current_here();
    f->body(f->argument);
    f->done = 1;
    dh_lard_thread_end(f->thread);
    setcontext(scheduler_here());
}

DH_UNTRACKED static struct fiber *take(void)
{
    pthread_mutex_lock(&lock);
    struct fiber *f = ready;
    if (f) {
        ready = f->next;
        if (!ready)
            ready_end = &ready;
    }
    pthread_mutex_unlock(&lock);
    return f;
}

DH_UNTRACKED static void *carrier(void *arg)
{
    (void)arg;
    dh_lard_unordered_begin();
    while (__atomic_load_n(&running, __ATOMIC_SEQ_CST) > 0) {
        struct fiber *f = take();
        if (!f)
            continue;
        *current_here() = f;
        dh_lard_unordered_end();
        dh_lard_thread_switch(f->thread);
        swapcontext(scheduler_here(), &f->context);
        dh_lard_unordered_begin();
        if (f->done) {
            __atomic_fetch_sub(&running, 1, __ATOMIC_SEQ_CST);
            continue;
        }
        pthread_mutex_lock(&lock);
        put(f);
        pthread_mutex_unlock(&lock);
    }
    dh_lard_unordered_end();
    return NULL;
}

DH_UNTRACKED static void fiber_start(int i, void (*body)(int))
{
    struct fiber *f = &fibers[i];
    f->thread = dh_lard_thread_new("fiber");
    f->body = body;
    f->argument = i;
    f->stack = malloc(STACK);
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = STACK;
    f->context.uc_link = NULL;
    makecontext(&f->context, fiber_begins, 0);
    running++;
    put(f);
}

DH_UNTRACKED static void fiber_join(int i)
{
    dh_lard_thread_join(fibers[i].thread);
    free(fibers[i].stack);
}

/* ---- The program ---- */

long own[FIBERS], guarded, racy;
static char monitor;
static int monitor_taken; /* fibers are not preempted between yields, but run on two kernel threads */

DH_UNTRACKED static int try_monitor(void)
{
    return !__atomic_exchange_n(&monitor_taken, 1, __ATOMIC_ACQUIRE);
}

static void monitor_enter(void)
{
    while (!try_monitor())
        fiber_yield();
    dh_lard_lock(&monitor, DH_LARD_EXCLUSIVE);
}

DH_UNTRACKED static void monitor_leave(void)
{
    dh_lard_unlock(&monitor);
    __atomic_store_n(&monitor_taken, 0, __ATOMIC_RELEASE);
}

static void work(int depth, int i)
{
    long local[4];
    __asm__ volatile("" : : "r"(local) : "memory");
    local[depth & 3] = i;
    own[i] += local[depth & 3];
    if (depth > 0)
        work(depth - 1, i);
    fiber_yield(); /* and come back elsewhere, with these frames */
    own[i] += local[depth & 3];
}

static void body(int i)
{
    for (int round = 0; round < ROUNDS; round++) {
        work(3, i);
        monitor_enter();
        guarded++;
        fiber_yield();
        guarded++;
        monitor_leave();
    }
    if (i < 2)
        racy++; // RACE a
}

int main(void)
{
    for (int i = 0; i < FIBERS; i++)
        fiber_start(i, body);
    dh_lard_unordered_begin();
    pthread_t t = spawn(carrier, NULL);
    dh_lard_unordered_end();
    carrier(NULL);
    for (int i = 0; i < FIBERS; i++)
        fiber_join(i);
    MUST(guarded == 2 * FIBERS * ROUNDS);
    for (int i = 0; i < FIBERS; i++)
        own[i]++; /* joined */
    dh_lard_unordered_begin();
    join(t);
    dh_lard_unordered_end();
    return 0;
}
