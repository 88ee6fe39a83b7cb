/*
 * sched.c - the workers: kernel threads that run green ones, steal them from each other, sleep when there
 * are none, and stop together for the collector.
 *
 * A worker runs the first thread of its own queue; without any, it takes the last one of another's. Threads
 * that become ready go to the queue of the worker that made them so. A collection waits until no worker
 * runs: those that do come to a safepoint soon, those that sleep may not wake up meanwhile.
 */
#include <stdlib.h>

#include "vm.h"

/* ---- Queues ---- */

static void append(struct worker *w, struct thread *t)
{
    t->next = NULL;
    t->prev = w->last;
    *(w->last ? &w->last->next : &w->first) = t;
    w->last = t;
}

static void remove_from(struct worker *w, struct thread *t)
{
    *(t->prev ? &t->prev->next : &w->first) = t->next;
    *(t->next ? &t->next->prev : &w->last) = t->prev;
}

static void wake_one(void)
{
    if (atomic_load(&vm.sleepers) == 0)
        return;
    pthread_mutex_lock(&vm.world);
    pthread_cond_signal(&vm.work);
    pthread_mutex_unlock(&vm.world);
}

/* Wakes a sleeping worker only if there is more to do than the next turn here: a thread that is alone in the
 * queue runs as soon as the current one blocks, and when that one's turn ends instead there are two. */
void sched_ready(struct worker *w, struct thread *t)
{
    latch_close(&w->latch);
    bool more = w->last != NULL;
    append(w, t);
    latch_open(&w->latch);
    /* In this order, and in the opposite one in rest(): one of the two sees the other. */
    atomic_fetch_add(&vm.ready, 1);
    if (more)
        wake_one();
}

static struct thread *take(struct worker *w, bool own)
{
    latch_close(&w->latch);
    struct thread *t = own ? w->first : w->last;
    if (t) {
        remove_from(w, t);
        atomic_fetch_sub(&vm.ready, 1);
    }
    latch_open(&w->latch);
    return t;
}

/* The turn of t ends here, and that of the first in the queue begins, if there is one. Returns whose it is.
 */
static struct thread *next_turn(struct worker *w, struct thread *t)
{
    latch_close(&w->latch);
    struct thread *next = w->first;
    if (next) {
        remove_from(w, next);
        /* Rule 5: before another worker can run t, which it can when the latch is open. */
        dh_lard_thread_switch(next->lard);
        append(w, t);
    }
    latch_open(&w->latch);
    if (!next)
        return t;
    wake_one();
    return next;
}

static struct thread *steal(struct worker *w)
{
    w->random = w->random * 1664525 + 1013904223;
    for (uint32_t i = 0; i < vm.n_workers && atomic_load(&vm.ready) > 0; i++) {
        struct worker *victim = &vm.workers[((w->random >> 16) + i) % vm.n_workers];
        struct thread *t = victim == w ? NULL : take(victim, false);
        if (t)
            return t;
    }
    return NULL;
}

/* ---- The world ---- */

/* With the world's mutex. */
static void leave_world(void)
{
    if (--vm.running == 0)
        pthread_cond_signal(&vm.stopped);
}

void sched_safepoint(struct worker *w)
{
    (void)w;
    if (!atomic_load_explicit(&vm.stop, memory_order_relaxed))
        return;
    pthread_mutex_lock(&vm.world);
    leave_world();
    while (atomic_load(&vm.stop))
        pthread_cond_wait(&vm.resumed, &vm.world);
    vm.running++;
    pthread_mutex_unlock(&vm.world);
}

/* Acts while nobody else runs; if somebody does that already, waits for its end instead. */
void sched_stop_world_and(struct worker *w, void (*act)(void))
{
    pthread_mutex_lock(&vm.world);
    if (atomic_load(&vm.stop)) {
        pthread_mutex_unlock(&vm.world);
        sched_safepoint(w);
        return;
    }
    atomic_store(&vm.stop, true);
    leave_world();
    while (vm.running > 0)
        pthread_cond_wait(&vm.stopped, &vm.world);
    act();
    atomic_store(&vm.stop, false);
    vm.running++;
    pthread_cond_broadcast(&vm.resumed);
    pthread_cond_broadcast(&vm.work);
    pthread_mutex_unlock(&vm.world);
}

/* Sleeps until there is work. False: there will be none. */
static bool rest(void)
{
    pthread_mutex_lock(&vm.world);
    leave_world();
    atomic_fetch_add(&vm.sleepers, 1);
    while (atomic_load(&vm.live) > 0 && (atomic_load(&vm.ready) == 0 || atomic_load(&vm.stop))) {
        if (atomic_load(&vm.sleepers) == vm.n_workers && atomic_load(&vm.ready) == 0)
            die("%s: deadlock: %u thread%s forever", vm.program.path, atomic_load(&vm.live),
                atomic_load(&vm.live) == 1 ? " waits" : "s wait");
        pthread_cond_wait(&vm.work, &vm.world);
    }
    atomic_fetch_sub(&vm.sleepers, 1);
    vm.running++;
    pthread_mutex_unlock(&vm.world);
    return atomic_load(&vm.live) > 0;
}

/* ---- Workers ---- */

/* Runs t and those that follow it in the queue. */
static void run(struct worker *w, struct thread *t)
{
    /* Rule 5: from here on the kernel thread is this thread of the language, wherever it ran before. */
    dh_lard_thread_switch(t->lard);
    while (t) {
        latch *open;
        switch (interpret(w, t)) {
        case YIELDED:
            t = next_turn(w, t);
            break;
        case BLOCKED:
            open = w->open_after;
            t = take(w, true);
            /* Rule 5: without a next one it is nobody now; in any case another worker can run the one that is
             * blocked from the moment the latch is open. */
            dh_lard_thread_switch(t ? t->lard : NULL);
            latch_open(open);
            break;
        case ENDED:
            thread_ends(w, t);
            t = NULL;
            break;
        }
        sched_safepoint(w);
    }
}

static void *work(void *arg)
{
    struct worker *w = arg;
    /* Rules 1 and 2: whatever a worker does by itself, accesses and synchronisation, is the run-time
     * system's. The region never ends: all that the program does is told by explicit calls. */
    dh_lard_system_begin();
    do {
        struct thread *t;
        sched_safepoint(w);
        while ((t = take(w, true)) != NULL || (t = steal(w)) != NULL)
            run(w, t);
    } while (rest());
    return NULL;
}

void sched_run(uint32_t workers)
{
    vm.n_workers = workers;
    vm.workers = calloc(workers, sizeof(*vm.workers));
    if (!vm.workers)
        die("no memory for %u workers", workers);
    vm.running = workers;
    for (uint32_t i = 0; i < workers; i++)
        vm.workers[i].index = vm.workers[i].random = i;
    uint32_t main_func = 0;
    while (__builtin_strcmp(vm.program.funcs[main_func].name, "main") != 0)
        main_func++;
    sched_ready(&vm.workers[0], thread_new(NULL, main_func, 0));
    for (uint32_t i = 1; i < workers; i++)
        if (pthread_create(&vm.workers[i].kernel, NULL, work, &vm.workers[i]) != 0)
            die("cannot start worker %u", i);
    work(&vm.workers[0]);
    for (uint32_t i = 1; i < workers; i++)
        pthread_join(vm.workers[i].kernel, NULL);
    free(vm.workers);
}
