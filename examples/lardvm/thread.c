/*
 * thread.c - green threads: their birth, their calls, their end, joining them; and the stage.
 *
 * A thread that has ended keeps its struct thread, so that it can be joined at any time.
 */
#include <stdlib.h>

#include "oracle.h"
#include "vm.h"

enum { MAX_DEPTH = 100000, MAX_SPARE = 64 };

/* Stacks of threads that have ended, for those to come. Under the latch of the table of threads. */
static struct {
    struct frame *frames;
    value *registers;
    uint32_t max_frames, max_registers;
} spare[MAX_SPARE];
static uint32_t n_spare;

void queue_add(struct queue *q, struct thread *t)
{
    t->next = NULL;
    if (q->last)
        q->last->next = t;
    else
        q->first = t;
    q->last = t;
}

struct thread *queue_take(struct queue *q)
{
    struct thread *t = q->first;
    if (t) {
        q->first = t->next;
        if (!q->first)
            q->last = NULL;
    }
    return t;
}

static void *resize(void *old, size_t n, size_t size)
{
    void *p = realloc(old, n * size);
    if (!p)
        die("no memory for a thread");
    return p;
}

/* A new call on top of the others. */
void thread_push(struct thread *t, uint32_t func, uint32_t result, const value *args)
{
    const struct func *f = &vm.program.funcs[func];
    uint32_t base = 0;
    value copies[MAX_REGISTERS]; /* the arguments may be in what is moved below */
    copy_values(copies, args, f->args);
    if (t->depth > 0) {
        const struct frame *top = &t->frames[t->depth - 1];
        base = top->base + vm.program.funcs[top->func].registers;
    }
    if (t->depth == MAX_DEPTH)
        die("%s: the function '%s' calls itself without end", vm.program.path, f->name);
    if (t->depth == t->max_frames) {
        t->max_frames = t->max_frames ? 2 * t->max_frames : 8;
        t->frames = resize(t->frames, t->max_frames, sizeof(*t->frames));
    }
    if (base + f->registers > t->max_registers) {
        t->max_registers = 2 * (base + f->registers);
        t->registers = resize(t->registers, t->max_registers, sizeof(*t->registers));
    }
    copy_values(t->registers + base, copies, f->args);
    clear_values(t->registers + base + f->args, f->registers - f->args);
    t->frames[t->depth++] = (struct frame){.func = func, .pc = f->start, .base = base, .result = result};
}

/* By its parent, or by nobody the first one. It is not ready yet. */
struct thread *thread_new(struct thread *parent, uint32_t func, value arg)
{
    struct thread *t = calloc(1, sizeof(*t));
    if (!t)
        die("no memory for a thread");
    latch_close(&vm.threads_latch);
    if (n_spare > 0) {
        n_spare--;
        t->frames = spare[n_spare].frames;
        t->registers = spare[n_spare].registers;
        t->max_frames = spare[n_spare].max_frames;
        t->max_registers = spare[n_spare].max_registers;
    }
    if (vm.n_threads == vm.max_threads) {
        vm.max_threads = vm.max_threads ? 2 * vm.max_threads : 16;
        vm.threads = resize(vm.threads, vm.max_threads, sizeof(struct thread *));
    }
    t->id = vm.n_threads;
    vm.threads[vm.n_threads++] = t;
    t->older = vm.youngest;
    if (t->older)
        t->older->younger = t;
    vm.youngest = t;
    latch_open(&vm.threads_latch);
    thread_push(t, func, 0, &arg); /* no collection can come before it */
    atomic_fetch_add(&vm.live, 1);
    /* Rule 5: a thread of the language. What its parent did until now happens before all that it does. */
    t->lard = dh_lard_thread_new(vm.program.funcs[func].name);
    if (vm.oracle && parent)
        oracle_fork(vm.oracle, parent->id, t->id);
    return t;
}

/* NULL: there is no such thread. */
struct thread *thread_find(int64_t id)
{
    latch_close(&vm.threads_latch);
    struct thread *t = id >= 0 && id < vm.n_threads ? vm.threads[id] : NULL;
    latch_open(&vm.threads_latch);
    return t;
}

/* Its last function has returned; the worker runs as t for the last time. */
void thread_ends(struct worker *w, struct thread *t)
{
    /* Rule 5: before anybody can join it. The worker is a thread of its own afterwards. */
    dh_lard_thread_end(t->lard);
    latch_close(&vm.threads_latch);
    *(t->younger ? &t->younger->older : &vm.youngest) = t->older;
    if (t->older)
        t->older->younger = t->younger;
    bool keep = n_spare < MAX_SPARE;
    if (keep) {
        spare[n_spare].frames = t->frames;
        spare[n_spare].registers = t->registers;
        spare[n_spare].max_frames = t->max_frames;
        spare[n_spare].max_registers = t->max_registers;
        n_spare++;
    }
    latch_open(&vm.threads_latch);
    if (!keep) {
        free(t->frames);
        free(t->registers);
    }
    t->frames = NULL;
    t->registers = NULL;
    latch_close(&t->latch);
    t->ended = true;
    struct thread *joiner = t->joiner;
    latch_open(&t->latch);
    if (joiner)
        sched_ready(w, joiner);
    if (atomic_fetch_sub(&vm.live, 1) == 1) {
        pthread_mutex_lock(&vm.world);
        pthread_cond_broadcast(&vm.work);
        pthread_mutex_unlock(&vm.world);
    }
}

enum progress thread_join(struct worker *w, struct thread *t, struct thread *other)
{
    if (!t->resumed) {
        latch_close(&other->latch);
        if (other->joined || other == t) {
            latch_open(&other->latch);
            return REFUSE;
        }
        other->joined = true;
        if (!other->ended) {
            t->resumed = true;
            other->joiner = t;
            w->open_after = &other->latch;
            return BLOCK;
        }
        latch_open(&other->latch);
    }
    t->resumed = false;
    /* Rule 2, an order of the language: all that the other did is before what comes now. Rule 5: it is gone.
     */
    dh_lard_thread_join(other->lard);
    if (vm.oracle)
        oracle_join(vm.oracle, t->id, other->id);
    return GO_ON;
}

void threads_free(void)
{
    for (uint32_t i = 0; i < vm.n_threads; i++) {
        struct thread *t = vm.threads[i];
        if (!t->joined)
            dh_lard_thread_detach(t->lard); /* Rule 5: nobody will join it. */
        free(t);
    }
    free(vm.threads);
    while (n_spare > 0) {
        free(spare[--n_spare].frames);
        free(spare[n_spare].registers);
    }
}

/* ---- The stage ----
 * For tests: threads take turns, although the language puts no order between them. It does so no more than it
 * does for threads that look at the same clock on the wall, so nothing of this is told to anybody. */

void stage_next(struct worker *w)
{
    struct queue all;
    struct thread *t;
    latch_close(&vm.stage_latch);
    vm.stage++;
    all = vm.awaiting;
    vm.awaiting = (struct queue){0};
    while ((t = queue_take(&all)) != NULL) {
        if (t->stage <= vm.stage)
            sched_ready(w, t);
        else
            queue_add(&vm.awaiting, t);
    }
    latch_open(&vm.stage_latch);
}

enum progress stage_await(struct worker *w, struct thread *t, uint32_t stage)
{
    latch_close(&vm.stage_latch);
    if (vm.stage >= stage) {
        latch_open(&vm.stage_latch);
        return GO_ON;
    }
    t->stage = stage;
    queue_add(&vm.awaiting, t);
    w->open_after = &vm.stage_latch;
    return BLOCK;
}
