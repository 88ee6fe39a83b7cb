/*
 * host.c - see host.h.
 *
 * Events come in batches. A first pass over the batch finds everything but plain accesses and removes
 * repeated acquisitions; then each detector processes the whole batch (drive.c) before the next one does, so
 * that its state and code stay in the caches. Detectors cannot see one another, so this order is as good as
 * event by event.
 */
#include "detect/host.h"

#include <errno.h>
#include <string.h>

#include "base/pool.h"
#include "detect/drive.h"
#include "detect/found.h"
#include "detect/predict_links.h"
#include "detect/renumber.h"

enum { MAX_DETECTORS = 32 };

/* Which thread holds a lock and how often, for the filter. Readers are not tracked one by one: a shared
 * acquisition is never filtered. */
struct holder {
    u32 thread; /* + 1; 0: nobody */
    u32 depth;
};

struct dh_host {
    struct dh_detector *detectors[MAX_DETECTORS];
    struct dh_found found[MAX_DETECTORS];
    int errors[MAX_DETECTORS];
    u32 n;
    dh_host_race_fn *on_race;
    void *ctx;
    struct dh_mem mem;
    struct dh_table holders;
    struct dh_renumber renumber;
    u64 n_events;
    u32 threads, locks, cells; /* upper ends of the ids seen */
    bool keep;                 /* some detector needs the whole trace */
    struct dh_event *trace;
    u64 trace_cap;
    u64 window;
    size_t limit;
    dh_host_wants_fn *wants;
    struct dh_detector common; /* owns the memory that detectors share, and finds nothing */
    struct dh_predict predict; /* made with that, if `shares` */
    bool shares;
    const struct dh_syncp_found *syncp;
    struct dh_host_batch batch; /* being fed */
};

struct dh_host *dh_host_new(dh_host_race_fn *on_race, void *ctx)
{
    struct dh_host *h = dh_pool_alloc(sizeof(*h));
    if (h) {
        h->on_race = on_race;
        h->ctx = ctx;
        h->holders.size = sizeof(struct holder);
    }
    return h;
}

static void free_detector(struct dh_detector *d)
{
    dh_table_done(&d->threads);
    dh_table_done(&d->locks);
    dh_table_done(&d->cells);
    dh_companions_done(&d->companions);
    dh_mem_done(&d->mem);
    dh_pool_free(d, sizeof(*d));
}

void dh_host_free(struct dh_host *h)
{
    if (!h)
        return;
    for (u32 i = 0; i < h->n; i++) {
        free_detector(h->detectors[i]);
        dh_found_done(&h->found[i]);
    }
    dh_table_done(&h->holders);
    dh_renumber_done(&h->renumber);
    dh_mem_done(&h->common.mem);
    dh_mem_done(&h->mem);
    dh_pool_free(h->trace, h->trace_cap * sizeof(*h->trace));
    dh_pool_free(h, sizeof(*h));
}

int dh_host_add(struct dh_host *h, const struct dh_detector_ops *ops)
{
    struct dh_detector *d = h->n < MAX_DETECTORS ? dh_pool_alloc(sizeof(*d)) : NULL;
    if (!d)
        return -ENOMEM;
    d->ops = ops;
    d->host = h;
    d->index = h->n;
    d->window = h->window;
    d->mem.limit = h->limit;
    d->threads.size = (u32)DH_ALIGN_UP(ops->thread_size, 8);
    d->locks.size = (u32)DH_ALIGN_UP(ops->lock_size, 8);
    d->cells.size = (u32)DH_ALIGN_UP(ops->cell_size, 8);
    if (ops->own_size && !(d->own = dh_detect_alloc(d, ops->own_size))) {
        free_detector(d);
        return -ENOMEM;
    }
    dh_found_init(&h->found[h->n]);
    h->detectors[h->n++] = d;
    h->keep |= ops->whole_trace != NULL;
    if (ops->init)
        ops->init(d);
    return 0;
}

struct dh_detector *dh_host_last(const struct dh_host *h)
{
    DH_ASSERT(h->n > 0);
    return h->detectors[h->n - 1];
}

void dh_host_only(struct dh_host *h, dh_host_wants_fn *wants)
{
    h->wants = wants;
}

bool dh_detect_wants(const struct dh_detector *d, u32 cell)
{
    return !d->host || !d->host->wants || d->host->wants(d->host->ctx, cell);
}

void dh_host_limit(struct dh_host *h, size_t bytes)
{
    h->limit = bytes;
}

void dh_host_window(struct dh_host *h, u64 events)
{
    h->window = events;
}

/* Threads are initialised in order of their numbers, so that a detector sees every number first here, and
 * once. */
static DH_NOINLINE void init_threads(struct dh_detector *d, u32 tid)
{
    while (d->n_threads <= tid) {
        void *t = dh_table_at(&d->threads, d->n_threads);
        if (!t && d->threads.size) {
            d->failed = true;
            return;
        }
        if (t && d->ops->thread_init)
            d->ops->thread_init(d, t, d->n_threads);
        d->n_threads++;
    }
}

void *dh_detect_dup(struct dh_detector *d, const void *p, size_t n)
{
    void *copy = n ? dh_detect_alloc(d, n) : NULL;
    if (copy)
        memcpy(copy, p, n);
    return copy;
}

void *dh_detect_grow(struct dh_detector *d, void *items, u32 *n, u32 id, u32 size)
{
    while (id >= *n) {
        if (!dh_mem_grow(&d->mem, &items, *n, n, size)) {
            d->failed = true;
            break;
        }
    }
    return items;
}

void *dh_detect_thread(struct dh_detector *d, u32 tid)
{
    if (DH_UNLIKELY(tid >= d->n_threads))
        init_threads(d, tid);
    return dh_table_at(&d->threads, tid);
}

void *dh_detect_lock(struct dh_detector *d, u32 lock)
{
    return dh_table_at(&d->locks, lock);
}

void dh_detect_emit(struct dh_detector *d, const struct dh_race *race)
{
    struct dh_host *h = d->host;
    struct dh_race r = *race;
    if (h->wants && !h->wants(h->ctx, r.cell))
        return;
    dh_renumber_restore(&h->renumber, &r.now.thread, &r.now.site);
    if (r.earlier.thread != DH_UNKNOWN)
        dh_renumber_restore(&h->renumber, &r.earlier.thread, &r.earlier.site);
    if (h->on_race)
        h->on_race(h->ctx, d->index, &r);
    if (!dh_found_add(&h->found[d->index], &r))
        h->errors[d->index] = -ENOMEM;
}

void dh_detect_race(struct dh_detector *d, const struct dh_event *e, u32 thread, u32 site, bool write)
{
    struct dh_race r = {
        .cell = d->cell,
        .now = {.thread = e->thread, .site = e->site, .event = d->event, .write = e->op == DH_OP_WRITE},
        .earlier = {.thread = thread, .site = site, .event = DH_NO_EVENT, .write = write},
    };
    dh_detect_emit(d, &r);
}

/* Is this the first of nested acquisitions, or the last of nested releases? */
static bool outermost(struct dh_host *h, const struct dh_event *e, int *ret_error)
{
    struct holder *holder = dh_table_at(&h->holders, e->target);
    if (!holder) {
        *ret_error = -ENOMEM;
        return true;
    }
    if (e->op == DH_OP_ACQUIRE) {
        if (holder->thread == e->thread + 1)
            return holder->depth++ == 0;
        *holder = (struct holder){.thread = e->thread + 1, .depth = 1};
        return true;
    }
    if (holder->thread != e->thread + 1)
        return true;
    holder->depth--; /* the holder acquired it at least once */
    if (holder->depth == 0)
        holder->thread = 0;
    return holder->depth == 0;
}

static void raise(u32 *limit, u32 id)
{
    if (id >= *limit && id != UINT32_MAX)
        *limit = id + 1;
}

static void note_ids(struct dh_host *h, const struct dh_event *e)
{
    raise(&h->threads, e->thread);
    switch (dh_event_space(e->op)) {
    case DH_SPACE_VARIABLE:
        raise(&h->cells, e->target);
        if (dh_event_is_access(e))
            break;
        raise(&h->cells, e->target + (e->size ? e->size - 1u : 0));
        if (e->op == DH_OP_RANGE_MOVE || e->op == DH_OP_RANGE_COPY)
            raise(&h->cells, e->site + (e->size ? e->size - 1u : 0));
        break;
    case DH_SPACE_LOCK:
        raise(&h->locks, e->target);
        break;
    case DH_SPACE_THREAD:
        raise(&h->threads, e->target);
        break;
    case DH_SPACE_NONE:
        break;
    }
}

/* Finds everything but plain accesses, and removes repeated acquisitions. */
static int filter(struct dh_host *h, struct dh_host_batch *b)
{
    int error = 0;
    u32 others = 0;
    for (u32 i = 0; i < b->n; i++) { /* a branch here would often be mispredicted */
        b->others[others] = i;
        others += !dh_drive_is_plain(&b->events[i]);
    }
    b->n_others = others;
    for (u32 i = 0; i < others; i++) {
        struct dh_event *e = &b->events[b->others[i]];
        if ((e->op == DH_OP_ACQUIRE || e->op == DH_OP_RELEASE) && !(e->mode & DH_SHARED) &&
            !outermost(h, e, &error))
            e->op = DH_OP_SKIP;
    }
    return error;
}

static int keep_events(struct dh_host *h, const struct dh_event *events, size_t n)
{
    u64 at = h->n_events;
    for (size_t i = 0; i < n; i++)
        note_ids(h, &events[i]);
    if (at + n > h->trace_cap) {
        u64 cap = h->trace_cap ? h->trace_cap * 2 : 1 << 16;
        while (cap < at + n)
            cap *= 2;
        struct dh_event *grown = dh_pool_alloc(cap * sizeof(*grown));
        if (!grown)
            return -ENOMEM;
        if (at)
            memcpy(grown, h->trace, at * sizeof(*grown));
        dh_pool_free(h->trace, h->trace_cap * sizeof(*grown));
        h->trace = grown;
        h->trace_cap = cap;
    }
    memcpy(h->trace + at, events, n * sizeof(*events));
    return 0;
}

int dh_host_prepare(struct dh_host *h, struct dh_host_batch *b)
{
    DH_ASSERT(b->n <= DH_HOST_BATCH);
    int rc = dh_renumber(&h->renumber, b->events, b->n);
    if (!rc)
        rc = filter(h, b);
    if (!rc && h->keep)
        rc = keep_events(h, b->events, b->n);
    if (rc)
        return rc;
    b->first = h->n_events;
    h->n_events += b->n;
    return 0;
}

void dh_host_drive(struct dh_host *h, u32 index, const struct dh_host_batch *b)
{
    struct dh_batch batch = {.events = b->events, .n = b->n, .first = b->first};
    if (!h->detectors[index]->ops->whole_trace)
        dh_drive(h->detectors[index], &batch, b->others, b->n_others);
}

bool dh_host_renumbers(const struct dh_host *h, const struct dh_host_batch *b)
{
    return dh_renumber_due(&h->renumber, b->events, b->n);
}

int dh_host_feed(struct dh_host *h, struct dh_event *events, size_t n)
{
    struct dh_host_batch *b = &h->batch;
    while (n) {
        b->events = events;
        b->n = n < DH_HOST_BATCH ? n : DH_HOST_BATCH;
        int rc = dh_host_prepare(h, b);
        if (rc)
            return rc;
        for (u32 i = 0; i < h->n; i++)
            dh_host_drive(h, i, b);
        events += b->n;
        n -= b->n;
    }
    return 0;
}

void dh_host_split(struct dh_host *h, u32 to, u32 from)
{
    for (u32 i = 0; i < h->n; i++) {
        struct dh_detector *d = h->detectors[i];
        const void *source = d->cells.size ? dh_table_get(&d->cells, from) : NULL;
        void *target = source ? dh_table_at(&d->cells, to) : NULL;
        if (!source)
            continue;
        if (!target)
            d->failed = true;
        else if (d->ops->cell_copy)
            d->ops->cell_copy(d, target, source);
        else
            memcpy(target, source, d->cells.size);
        if (target && d->companions.n)
            dh_companions_copy(d, to, from);
    }
}

void dh_host_origin(const struct dh_host *h, u32 *thread, u32 *site)
{
    dh_renumber_restore(&h->renumber, thread, site);
}

void dh_host_keep(struct dh_host *h)
{
    h->keep = true;
}

struct dh_trace dh_host_trace(const struct dh_host *h)
{
    return (struct dh_trace){
        .events = h->trace,
        .n = h->keep ? h->n_events : 0,
        .threads = h->threads,
        .locks = h->locks,
        .cells = h->cells,
        .shared = h->shares ? &h->predict : NULL,
    };
}

/* If this fails each detector tries by itself, and says what is wrong. */
void dh_host_share(struct dh_host *h)
{
    struct dh_trace trace = dh_host_trace(h);
    u32 n = 0;
    for (u32 i = 0; i < h->n; i++)
        n += h->detectors[i]->ops->whole_trace != NULL;
    if (n < 2)
        return;
    h->common.mem.limit = h->limit;
    h->shares = dh_predict_init(&h->predict, &h->common, &trace) == 0 && dh_links_make(&h->predict);
    h->predict.syncp = h->shares ? &h->syncp : NULL;
    if (!h->shares)
        dh_mem_done(&h->common.mem);
}

void dh_host_finish_one(struct dh_host *h, u32 index)
{
    struct dh_detector *d = h->detectors[index];
    struct dh_trace trace = dh_host_trace(h);
    int rc = d->ops->whole_trace ? d->ops->whole_trace(d, &trace) : 0;
    if (rc)
        h->errors[index] = rc;
}

void dh_host_finish(struct dh_host *h)
{
    dh_host_share(h);
    for (u32 i = 0; i < h->n; i++)
        dh_host_finish_one(h, i);
}

void dh_host_result(const struct dh_host *h, u32 index, struct dh_host_result *ret_result)
{
    const struct dh_detector *d = h->detectors[index];
    const struct dh_found *f = &h->found[index];
    *ret_result = (struct dh_host_result){
        .reports = f->reports,
        .racy_events = f->racy_events,
        .variables = f->variables,
        .site_pairs = f->pairs.n,
        .places = f->places.n,
        .first_event = f->first_event,
        .memory = d->mem.bytes + d->threads.bytes + d->locks.bytes + d->cells.bytes,
        .given_up = d->given_up,
        .error = d->mem.refused     ? -EDQUOT
                 : h->errors[index] ? h->errors[index]
                 : d->failed        ? -ENOMEM
                                    : 0,
    };
}
