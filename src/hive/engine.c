/*
 * engine.c - see engine.h.
 *
 * Only the writing thread uses the store. Locks: `queue` guards the jobs and the statistics, `lock` the
 * state; neither is held while the store is written, and nobody takes `queue` while holding `lock`.
 */
#include "hive/engine.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hive/secret.h"
#include "hive/snapshot.h"

enum {
    TICK_MS = 200,     /* how soon events of other processes are seen */
    STUCK_US = 5000000 /* a store that takes longer does not respond */
};

struct dh_hive_engine {
    struct dh_store *store;
    struct dh_hive_state *state; /* replaced under `lock` */
    struct dh_hive_batch batch;
    void (*changed)(void *ctx);
    void *ctx;
    pthread_t thread;
    pthread_mutex_t queue, lock;
    pthread_cond_t more;
    struct dh_hive_job *first, **last;
    bool stopping;
    bool stale;          /* the state does not match the log: read it again */
    bool refused;        /* the last write failed; only the writing thread uses this */
    u64 log_us;          /* under `lock`: the log's clock showed this */
    u64 log_ticks_us;    /* at this moment */
    u64 snapshot_events; /* 0: none are written */
    struct dh_hive_engine_stats stats;
    u64 turn_us; /* under `queue`: when the store last responded, or failed to */
};

u64 dh_hive_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (u64)t.tv_sec * 1000000 + (u64)t.tv_nsec / 1000;
}

u64 dh_hive_ticks_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000000 + (u64)t.tv_nsec / 1000;
}

/* ---- The log's clock ---- */

/* It has gone on since the last event that was seen, however the machine's clock is set. Call this and the
 * next with the state locked. */
static u64 log_clock(const struct dh_hive_engine *e)
{
    return e->log_us + (dh_hive_ticks_us() - e->log_ticks_us);
}

/* Never set back: what another hive's events say is a little late when they are seen. */
static void set_log_clock(struct dh_hive_engine *e)
{
    if (e->state->time_us > log_clock(e)) {
        e->log_us = e->state->time_us;
        e->log_ticks_us = dh_hive_ticks_us();
    }
}

u64 dh_hive_engine_now(const struct dh_hive_engine *e)
{
    u64 now = dh_hive_now_us(), least = log_clock(e);
    return now > least ? now : least;
}

/* ---- The log ---- */

static int take(void *ctx, const struct dh_store_event *e)
{
    return dh_hive_apply(ctx, e);
}

/* Applies what other processes have appended. */
static int follow(struct dh_hive_engine *e)
{
    u64 last;
    int rc = dh_store_last(e->store, &last);
    if (rc || last == e->state->seq)
        return rc;
    pthread_mutex_lock(&e->lock);
    rc = dh_store_read(e->store, e->state->seq, take, e->state);
    e->state->stored = e->state->seq;
    set_log_clock(e);
    pthread_mutex_unlock(&e->lock);
    return rc;
}

/* ---- Snapshots ---- */

struct parts {
    struct dh_store *store;
    u64 n, seq;
    char *bytes; /* of all of them, when they are read */
    size_t len, cap;
};

static int put_part(void *ctx, const void *bytes, size_t len)
{
    struct parts *p = ctx;
    return dh_store_put_snapshot(p->store, p->n++, p->seq, bytes, len);
}

static int take_part(void *ctx, u64 seq, const void *bytes, size_t len)
{
    struct parts *p = ctx;
    if (p->len + len > p->cap) {
        p->cap = 2 * (p->len + len);
        p->bytes = dh_util_realloc(p->bytes, p->cap);
    }
    memcpy(p->bytes + p->len, bytes, len);
    p->len += len;
    p->seq = seq;
    return 0;
}

static void set_snapshot(struct dh_hive_engine *e, u64 seq)
{
    pthread_mutex_lock(&e->queue);
    e->stats.snapshot = seq;
    pthread_mutex_unlock(&e->queue);
}

/* Into a new state. Without a usable snapshot it stays new, and the whole log is read. */
static int load_snapshot(struct dh_hive_engine *e, struct dh_hive_state *s)
{
    struct parts p = {.store = e->store};
    u64 last;
    int rc = dh_store_last(e->store, &last);
    if (!rc)
        rc = dh_store_read_snapshot(e->store, take_part, &p);
    if (!rc && p.len && (p.seq > last || dh_hive_snapshot_read(s, p.bytes, p.len) != 0 || s->seq != p.seq)) {
        dh_hive_state_done(s);
        dh_hive_state_init(s);
    }
    set_snapshot(e, s->seq);
    free(p.bytes);
    return rc;
}

/* The serving process writes them, when it starts and when it ends: a large one takes a second or two, in
 * which nothing else is written. If it fails, the log is still there. */
static void save_snapshot(struct dh_hive_engine *e)
{
    struct parts p = {.store = e->store, .seq = e->state->seq};
    if (!e->snapshot_events || e->stale || e->state->seq - e->stats.snapshot < e->snapshot_events ||
        dh_store_begin(e->store) != 0)
        return;
    if (dh_hive_snapshot_write(e->state, put_part, &p) == 0 && dh_store_commit(e->store) == 0)
        set_snapshot(e, p.seq);
    dh_store_rollback(e->store); /* if it was not committed */
}

static int read_again(struct dh_hive_engine *e)
{
    struct dh_hive_state *fresh = dh_util_alloc(sizeof(*fresh)), *old = e->state;
    dh_hive_state_init(fresh);
    int rc = load_snapshot(e, fresh);
    if (!rc)
        rc = dh_store_read(e->store, fresh->seq, take, fresh);
    if (!rc) {
        fresh->stored = fresh->seq;
        pthread_mutex_lock(&e->lock);
        e->state = fresh;
        set_log_clock(e);
        pthread_mutex_unlock(&e->lock);
        fresh = old;
    }
    if (fresh) {
        dh_hive_state_done(fresh);
        free(fresh);
    }
    e->stale = rc != 0;
    return rc;
}

static int write_jobs(struct dh_hive_engine *e, struct dh_hive_job *jobs)
{
    struct dh_hive_batch *b = &e->batch;
    int rc = e->stale ? read_again(e) : 0;
    if (!rc)
        rc = dh_store_begin(e->store);
    if (rc)
        return rc;
    rc = follow(e);
    if (rc) {
        dh_store_rollback(e->store);
        return rc;
    }
    pthread_mutex_lock(&e->lock);
    b->state = e->state;
    b->now_us = dh_hive_engine_now(e);
    for (struct dh_hive_job *j = jobs; j; j = j->next)
        j->work(b, j->ctx);
    set_log_clock(e);
    pthread_mutex_unlock(&e->lock);
    if (b->n_events) {
        rc = dh_store_append(e->store, b->events, b->n_events);
        if (!rc)
            rc = dh_store_commit(e->store);
    }
    dh_store_rollback(e->store); /* if it was not committed */
    e->stale = rc != 0;
    if (b->n_events)
        e->refused = rc != 0;
    if (!rc) {
        pthread_mutex_lock(&e->lock);
        e->state->stored = e->state->seq;
        pthread_mutex_unlock(&e->lock);
    }
    return rc;
}

/* Without jobs: follows the log. After a failed write it finds out when writes are possible again, since no
 * jobs may come while this hive says that it is not ready. */
static int look_around(struct dh_hive_engine *e)
{
    int rc = e->stale ? read_again(e) : follow(e);
    if (!rc && e->refused) {
        rc = dh_store_try(e->store);
        e->refused = rc != 0;
    }
    return rc;
}

static void count(struct dh_hive_engine *e, int rc, size_t events)
{
    pthread_mutex_lock(&e->queue);
    e->turn_us = dh_hive_ticks_us();
    e->stats.ready = !rc && !e->refused;
    e->stats.failures += rc != 0;
    e->stats.batches += !rc && events;
    e->stats.events += rc ? 0 : events;
    pthread_mutex_unlock(&e->queue);
}

/* ---- The writing thread ---- */

/* All waiting jobs; NULL after a while without any. False: the engine stops. */
static bool next_jobs(struct dh_hive_engine *e, struct dh_hive_job **ret)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += TICK_MS * 1000000l;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&e->queue);
    while (!e->first && !e->stopping && pthread_cond_timedwait(&e->more, &e->queue, &until) == 0)
        ;
    *ret = e->first;
    e->first = NULL;
    e->last = &e->first;
    bool over = !*ret && e->stopping;
    pthread_mutex_unlock(&e->queue);
    return !over;
}

static void *write_loop(void *arg)
{
    struct dh_hive_engine *e = arg;
    struct dh_hive_job *jobs;
    save_snapshot(e);
    while (next_jobs(e, &jobs)) {
        int rc = jobs ? write_jobs(e, jobs) : look_around(e);
        count(e, rc, e->batch.n_events);
        dh_hive_batch_clear(&e->batch);
        while (jobs) {
            struct dh_hive_job *j = jobs;
            jobs = j->next; /* done may free it */
            j->done(j->ctx, rc == 0);
        }
        if (e->changed)
            e->changed(e->ctx);
    }
    save_snapshot(e);
    return NULL;
}

int dh_hive_engine_start(const char *where, bool create, const struct dh_hive_policy *policy,
                         u64 snapshot_events, void (*changed)(void *ctx), void *ctx,
                         struct dh_hive_engine **ret, char **ret_why)
{
    struct dh_hive_engine *e = dh_util_alloc(sizeof(*e));
    pthread_condattr_t monotonic;
    *e = (struct dh_hive_engine){.changed = changed, .ctx = ctx, .snapshot_events = snapshot_events};
    e->log_ticks_us = dh_hive_ticks_us();
    e->batch = (struct dh_hive_batch){.policy = policy, .random = dh_hive_secret_random()};
    e->last = &e->first;
    e->stats.ready = true;
    pthread_mutex_init(&e->queue, NULL);
    pthread_mutex_init(&e->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&e->more, &monotonic);
    pthread_condattr_destroy(&monotonic);
    int rc = dh_store_open(where, create, &e->store, ret_why);
    if (!rc) {
        rc = read_again(e);
        if (rc)
            *ret_why = strdup(rc == -EBADMSG ? "its log is damaged: an event cannot follow the others"
                              : rc == -EPROTONOSUPPORT ? "its log has events of a later version of deadheat"
                                                       : dh_store_error(e->store));
    }
    e->turn_us = dh_hive_ticks_us(); /* reading a long log takes long */
    if (!rc && (rc = -pthread_create(&e->thread, NULL, write_loop, e)))
        *ret_why = strdup(strerror(-rc));
    if (rc) {
        dh_hive_engine_free(e);
        return rc;
    }
    *ret = e;
    return 0;
}

void dh_hive_engine_stop(struct dh_hive_engine *e)
{
    pthread_mutex_lock(&e->queue);
    e->stopping = true;
    pthread_cond_signal(&e->more);
    pthread_mutex_unlock(&e->queue);
    pthread_join(e->thread, NULL);
}

void dh_hive_engine_free(struct dh_hive_engine *e)
{
    if (!e)
        return;
    dh_store_close(e->store);
    if (e->state) {
        dh_hive_state_done(e->state);
        free(e->state);
    }
    dh_hive_batch_done(&e->batch);
    pthread_mutex_destroy(&e->queue);
    pthread_mutex_destroy(&e->lock);
    pthread_cond_destroy(&e->more);
    free(e);
}

/* ---- For others ---- */

bool dh_hive_engine_submit(struct dh_hive_engine *e, struct dh_hive_job *job)
{
    job->next = NULL;
    pthread_mutex_lock(&e->queue);
    bool taken = !e->stopping;
    if (taken) {
        *e->last = job;
        e->last = &job->next;
        pthread_cond_signal(&e->more);
    }
    pthread_mutex_unlock(&e->queue);
    return taken;
}

struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool done, stored;
    void (*work)(struct dh_hive_batch *b, void *ctx);
    void *ctx;
};

static void work_for_waiter(struct dh_hive_batch *b, void *ctx)
{
    struct waiter *w = ctx;
    w->work(b, w->ctx);
}

static void wake_waiter(void *ctx, bool stored)
{
    struct waiter *w = ctx;
    pthread_mutex_lock(&w->lock);
    w->done = true;
    w->stored = stored;
    pthread_cond_signal(&w->cond);
    pthread_mutex_unlock(&w->lock);
}

bool dh_hive_engine_run(struct dh_hive_engine *e, void (*work)(struct dh_hive_batch *b, void *ctx), void *ctx)
{
    struct waiter w = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false, work, ctx};
    struct dh_hive_job job = {.work = work_for_waiter, .done = wake_waiter, .ctx = &w};
    if (!dh_hive_engine_submit(e, &job))
        return false;
    pthread_mutex_lock(&w.lock);
    while (!w.done)
        pthread_cond_wait(&w.cond, &w.lock);
    pthread_mutex_unlock(&w.lock);
    return w.stored;
}

const struct dh_hive_state *dh_hive_engine_lock(struct dh_hive_engine *e)
{
    pthread_mutex_lock(&e->lock);
    return e->state;
}

void dh_hive_engine_unlock(struct dh_hive_engine *e)
{
    pthread_mutex_unlock(&e->lock);
}

void dh_hive_engine_stats(struct dh_hive_engine *e, struct dh_hive_engine_stats *ret)
{
    pthread_mutex_lock(&e->queue);
    *ret = e->stats;
    ret->ready &= dh_hive_ticks_us() - e->turn_us < STUCK_US;
    pthread_mutex_unlock(&e->queue);
}

int dh_hive_engine_backup(const char *where, const char *path, char **ret_why)
{
    struct dh_store *s;
    int rc = dh_store_open(where, false, &s, ret_why);
    if (rc)
        return rc;
    rc = dh_store_backup(s, path);
    if (rc)
        *ret_why = strdup(dh_store_error(s));
    dh_store_close(s);
    return rc;
}
