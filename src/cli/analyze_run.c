/*
 * analyze_run.c - feeds the trace to the detectors of `deadheat analyze`, on all processors.
 *
 * One thread reads and decodes, some batches ahead; the others drive the detectors. A detector sees its
 * batches in order and from one thread at a time, so it need not know about this, and reports what it would
 * report alone. A worker takes the detector that is furthest behind. When the trace has ended, detectors that
 * need all of it are run in parallel, too.
 *
 * With one processor, or when races are selected by the names of their variables, which the reader is still
 * collecting, everything is done sequentially.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/analyze.h"
#include "cli/cmd.h"
#include "util/arena.h"

enum { AHEAD = 8 };

struct slot {
    struct dh_host_batch batch;
    struct dh_event events[DH_HOST_BATCH];
    u32 left; /* detectors that have not seen it */
};

struct team {
    struct dh_analyze *a;
    pthread_mutex_t lock;     /* protects everything that follows */
    pthread_cond_t work;      /* there may be some */
    pthread_cond_t room;      /* a slot may be free */
    struct slot *slots;       /* a ring */
    u64 made;                 /* batches */
    u64 next[DH_ANALYZE_MAX]; /* for each detector: the batch it has to see next */
    bool busy[DH_ANALYZE_MAX];
    bool ended; /* no more batches: detectors that need the whole trace can run */
    bool failed;
};

static bool streams(const struct dh_analyze *a, u32 i)
{
    return !a->ops[i]->whole_trace;
}

/* ---- Workers ---- */

/* The detector to continue with; DH_ANALYZE_MAX: none at present. */
static u32 pick(const struct team *t)
{
    u32 best = DH_ANALYZE_MAX;
    for (u32 i = 0; i < t->a->n; i++) {
        bool due = streams(t->a, i) ? t->next[i] < t->made : t->ended && !t->failed && t->next[i] == 0;
        if (due && !t->busy[i] && (best == DH_ANALYZE_MAX || t->next[i] < t->next[best]))
            best = i;
    }
    return best;
}

static bool all_done(const struct team *t)
{
    for (u32 i = 0; i < t->a->n; i++) {
        if (t->busy[i] || (streams(t->a, i) ? t->next[i] < t->made : t->next[i] == 0 && !t->failed))
            return false;
    }
    return t->ended;
}

static void *work(void *arg)
{
    struct team *t = arg;
    pthread_mutex_lock(&t->lock);
    while (!all_done(t)) {
        u32 i = pick(t);
        if (i == DH_ANALYZE_MAX) {
            pthread_cond_wait(&t->work, &t->lock);
            continue;
        }
        struct slot *slot = streams(t->a, i) ? &t->slots[t->next[i] % AHEAD] : NULL;
        t->busy[i] = true;
        pthread_mutex_unlock(&t->lock);
        if (slot)
            dh_host_drive(t->a->host, i, &slot->batch);
        else
            dh_host_finish_one(t->a->host, i);
        pthread_mutex_lock(&t->lock);
        t->busy[i] = false;
        t->next[i]++;
        if (slot && --slot->left == 0)
            pthread_cond_signal(&t->room);
        pthread_cond_broadcast(&t->work);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* ---- The reader ---- */

static void wait_for(struct team *t, const struct slot *slot)
{
    while (slot->left)
        pthread_cond_wait(&t->room, &t->lock);
}

static struct slot *free_slot(struct team *t)
{
    struct slot *slot = &t->slots[t->made % AHEAD];
    pthread_mutex_lock(&t->lock);
    wait_for(t, slot);
    pthread_mutex_unlock(&t->lock);
    return slot;
}

/* Prepares the batch that was read for the detectors, none of which may be running if threads are
 * renumbered. */
static void prepare(struct team *t, struct dh_host_batch *batch)
{
    if (dh_host_renumbers(t->a->host, batch)) {
        pthread_mutex_lock(&t->lock);
        for (u32 i = 0; i < AHEAD; i++)
            wait_for(t, &t->slots[i]);
        pthread_mutex_unlock(&t->lock);
    }
    if (dh_host_prepare(t->a->host, batch) != 0)
        dh_util_no_memory();
}

static void hand_out(struct team *t, struct slot *slot)
{
    pthread_mutex_lock(&t->lock);
    for (u32 i = 0; i < t->a->n; i++)
        slot->left += streams(t->a, i);
    t->made++;
    pthread_cond_broadcast(&t->work);
    pthread_mutex_unlock(&t->lock);
}

static bool read_all(struct team *t)
{
    for (;;) {
        struct slot *slot = free_slot(t);
        long n = dh_trace_in_read(&t->a->in, slot->events, DH_HOST_BATCH);
        if (n <= 0)
            return n == 0;
        slot->batch.events = slot->events;
        slot->batch.n = (size_t)n;
        prepare(t, &slot->batch);
        hand_out(t, slot);
    }
}

static int run_team(struct dh_analyze *a, u32 workers)
{
    pthread_t threads[DH_ANALYZE_MAX];
    struct team t = {.a = a, .slots = dh_util_alloc(AHEAD * sizeof(*t.slots))};
    u32 n = 0;
    pthread_mutex_init(&t.lock, NULL);
    pthread_cond_init(&t.work, NULL);
    pthread_cond_init(&t.room, NULL);
    while (n < workers && pthread_create(&threads[n], NULL, work, &t) == 0)
        n++;
    bool ok = n > 0 && read_all(&t);
    if (ok)
        dh_host_share(a->host);
    pthread_mutex_lock(&t.lock);
    t.ended = true;
    t.failed = !ok;
    pthread_cond_broadcast(&t.work);
    pthread_mutex_unlock(&t.lock);
    for (u32 i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    pthread_cond_destroy(&t.room);
    pthread_cond_destroy(&t.work);
    pthread_mutex_destroy(&t.lock);
    free(t.slots);
    if (n == 0)
        return dh_cli_fail("analyze", "cannot start a thread");
    return ok ? 0 : DH_EXIT_TROUBLE;
}

static int run_alone(struct dh_analyze *a)
{
    static struct dh_event batch[DH_HOST_BATCH];
    long n;
    while ((n = dh_trace_in_read(&a->in, batch, DH_ARRAY_LEN(batch))) > 0) {
        if (dh_host_feed(a->host, batch, (size_t)n) != 0)
            dh_util_no_memory();
    }
    if (n < 0)
        return DH_EXIT_TROUBLE;
    dh_host_finish(a->host);
    return 0;
}

int dh_analyze_run(struct dh_analyze *a)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (processors < 2 || a->n_variables)
        return run_alone(a);
    return run_team(a, (u32)processors < a->n ? (u32)processors : a->n);
}
