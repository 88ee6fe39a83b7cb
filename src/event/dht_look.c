/*
 * dht_look.c - see dht_look.h. Stored events pass through here before delivery, and delivered ones after it
 * (dht_merge.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "event/dht_watch.h"

/* ---- Threads and their locks ---- */

struct dh_dht_watched *dh_dht_watch_thread(struct dh_dht_watch *w, u32 thread)
{
    while (thread >= w->n_threads) {
        u32 n = w->n_threads;
        if (!dh_dht_grow((void **)&w->threads, n, &w->n_threads, sizeof(*w->threads))) {
            w->failed = true;
            return NULL;
        }
    }
    return &w->threads[thread];
}

static void drop_lock(struct dh_dht_watched *t, u64 lock)
{
    for (u32 i = t->n_held; i-- > 0;) {
        if (t->held[i].lock != lock)
            continue;
        t->n_held--;
        memmove(&t->held[i], &t->held[i + 1], (t->n_held - i) * sizeof(*t->held));
        return;
    }
}

static void take_lock(struct dh_dht_watch *w, struct dh_dht_watched *t, const struct dh_dht_event *e,
                      bool shared)
{
    drop_lock(t, e->addr); /* of which the release is missing */
    if (t->n_held == DH_DHT_HELD_MAX)
        return;
    if (dh_dht_grow((void **)&t->held, t->n_held, &t->cap_held, sizeof(*t->held)))
        t->held[t->n_held++] =
            (struct dh_dht_held){.lock = e->addr, .pc = e->pc, .ctx = e->ctx, .shared = shared};
    else
        w->failed = true;
}

/* A language moved an object that is locked (dht_view.c). */
static void move_locks(struct dh_dht_watch *w, const struct dh_dht_event *e)
{
    for (u32 i = 0; i < w->n_threads; i++) {
        const struct dh_dht_watched *t = &w->threads[i];
        for (u32 k = 0; k < t->n_held; k++)
            if (t->held[k].lock - e->source < e->bytes)
                t->held[k].lock += e->addr - e->source;
    }
}

/* Does it publish what the thread did before? */
static bool tells_others(const struct dh_dht_event *e)
{
    switch (e->op) {
    case DH_OP_RELEASE:
    case DH_OP_FORK:
    case DH_OP_END:
    case DH_OP_ATOMIC_STORE:
    case DH_OP_ATOMIC_RMW:
    case DH_OP_FENCE:
    case DH_OP_BARRIER_ENTER:
    case DH_DHT_OP_RELEASE_FOREIGN:
        return true;
    case DH_OP_VOLATILE:
        return (e->mode & DH_WRITE) != 0;
    default:
        return false;
    }
}

/* ---- Answers ---- */

static bool is_range(const struct dh_dht_event *e)
{
    return e->op == DH_DHT_OP_READS || e->op == DH_DHT_OP_WRITES;
}

static u32 kind_of(const struct dh_dht_event *e)
{
    bool atomic = e->op == DH_OP_ATOMIC_LOAD || e->op == DH_OP_ATOMIC_STORE || e->op == DH_OP_ATOMIC_RMW;
    if (atomic)
        return DH_ATOMIC | (e->op == DH_OP_ATOMIC_LOAD ? DH_READ : DH_WRITE);
    return e->mode & (DH_WRITE | DH_ATOMIC | DH_FREE | DH_RANGE);
}

static void answer(struct dh_dht *r, const struct dh_dht_stream *s, struct dh_dht_look *look)
{
    struct dh_dht_watch *w = r->watch;
    const struct dh_dht_event *e = &w->stored;
    const struct dh_dht_watched *t = dh_dht_watch_thread(w, s->thread);
    struct dh_dht_held *held = t && t->n_held ? dh_pool_alloc(t->n_held * sizeof(*held)) : NULL;
    if (!t || (t->n_held && !held)) {
        w->failed = true;
        return;
    }
    dh_pool_free(look->held, look->n_held * sizeof(*held));
    if (held)
        memcpy(held, t->held, t->n_held * sizeof(*held));
    look->found = true;
    look->kind = (u8)kind_of(e);
    look->uid = r->threads[s->thread].uid;
    look->ctx = e->ctx;
    look->pc = e->pc;
    look->start = e->addr + look->shift;
    look->bytes = is_range(e) ? e->bytes : e->size;
    look->piece = is_range(e) ? e->size : 0;
    look->held = held;
    look->n_held = t->n_held;
    look->epoch = t->epoch;
    if (look->addr)
        dh_dht_spot_find(r, look->addr, &look->spot);
}

static void look_at_cell(struct dh_dht *r, const struct dh_dht_stream *s, const struct dh_event *e,
                         u64 number)
{
    struct dh_dht_watch *w = r->watch;
    u32 cell = dh_pages_find(&w->cells, e->target);
    const struct dh_dht_watched *t = cell == DH_PAGES_NONE ? NULL : dh_dht_watch_thread(w, s->thread);
    for (u32 i = t ? w->first[cell] : 0; i; i = w->then[i - 1]) {
        struct dh_dht_look *look = &w->looks[i - 1];
        if (number < look->before && look->thread == e->thread && look->at_pc == w->stored.pc &&
            look->write == (e->op == DH_OP_WRITE) && !(look->found && look->epoch == t->epoch))
            answer(r, s, look);
    }
}

/* From here on some variables have the history of others. What was found about them counts only if it
 * recurs. */
static void look_at_move(struct dh_dht_watch *w, const struct dh_event *e, u64 number)
{
    for (u32 k = 0; k < e->size; k++) {
        u32 cell = dh_pages_find(&w->cells, e->target + k);
        for (u32 i = cell == DH_PAGES_NONE ? 0 : w->first[cell]; i; i = w->then[i - 1]) {
            struct dh_dht_look *look = &w->looks[i - 1];
            if (number >= look->before)
                continue;
            look->found = false;
            look->moved = true;
            look->from_cell = e->site + k;
            look->from_before = number;
            look->from_shift = w->stored.addr - w->stored.source;
        }
    }
}

/* What the thread is doing, and its activations if that is told. */
static void note_stack(struct dh_dht_watch *w, u32 thread, const struct dh_dht_event *e)
{
    struct dh_dht_watched *t = dh_dht_watch_thread(w, thread);
    bool frame = e->op == DH_DHT_OP_FRAME;
    if (!t)
        return;
    if (e->pc && !frame) {
        t->ctx = e->ctx;
        t->pc = e->pc;
    }
    if (frame && !t->framing)
        t->n_frames = 0;
    t->framing = frame;
    if (!frame || t->n_frames == DH_DHT_FRAMES)
        return;
    if (dh_dht_grow((void **)&t->frames, t->n_frames, &t->cap_frames, sizeof(*t->frames)))
        t->frames[t->n_frames++] = (struct dh_dht_frame){e->pc, e->addr, e->source, e->addr + e->bytes};
    else
        w->failed = true;
}

void dh_dht_watch_begin(struct dh_dht *r, const struct dh_dht_stream *s)
{
    struct dh_dht_watch *w = r->watch;
    const struct dh_dht_event *e = &s->event;
    w->stored = *e;
    if (s->uid != DH_DHT_NOBODY)
        note_stack(w, s->thread, e);
    if (e->op == DH_DHT_OP_BLOCK)
        dh_dht_spot_block(w, e, s->uid == DH_DHT_NOBODY ? s->uid : r->threads[s->thread].uid);
    else if (e->op == DH_OP_RANGE_NEW)
        dh_dht_spot_new(w, e);
    else if (e->op == DH_OP_RANGE_MOVE && (e->mode & DH_DHT_LANGUAGE) && !r->view.no_copy)
        move_locks(w, e);
}

/* What the view leaves out is not delivered, and does not count. */
void dh_dht_watch_given(struct dh_dht *r, const struct dh_dht_stream *s, const struct dh_event *events,
                        long n)
{
    struct dh_dht_watch *w = r->watch;
    const struct dh_dht_event *e = &w->stored;
    for (long i = 0; i < n; i++) {
        u64 number = r->number + (u64)i;
        for (; w->next < w->n_events && w->by_event[w->next]->event <= number; w->next++)
            if (w->by_event[w->next]->event == number && dh_event_is_access(&events[i]))
                answer(r, s, w->by_event[w->next]);
        if (w->cells.n && dh_event_is_access(&events[i]))
            look_at_cell(r, s, &events[i], number);
        else if (w->cells.n && (events[i].op == DH_OP_RANGE_MOVE || events[i].op == DH_OP_RANGE_COPY))
            look_at_move(w, &events[i], number);
    }
    struct dh_dht_watched *t =
        n > 0 && !dh_event_is_access(&events[n - 1]) ? dh_dht_watch_thread(w, s->thread) : NULL;
    if (!t)
        return;
    if (events[0].op == DH_OP_ACQUIRE)
        take_lock(w, t, e, events[0].mode & DH_SHARED);
    else if (e->op == DH_OP_RELEASE || e->op == DH_DHT_OP_RELEASE_FOREIGN)
        drop_lock(t, e->addr);
    t->epoch += tells_others(e);
}

/* ---- The look ---- */

static int by_event(const void *a, const void *b)
{
    const struct dh_dht_look *const *x = a, *const *y = b;
    return ((*x)->event > (*y)->event) - ((*x)->event < (*y)->event);
}

static int by_addr(const void *a, const void *b)
{
    const struct dh_dht_block *x = a, *y = b;
    return (x->addr > y->addr) - (x->addr < y->addr);
}

static bool watch_cell(struct dh_dht_watch *w, u32 *cap, size_t look)
{
    u32 n = dh_pages_add(&w->cells, w->looks[look].cell);
    if (n == DH_PAGES_NONE || !dh_dht_grow((void **)&w->first, n, cap, sizeof(*w->first)))
        return false;
    w->then[look] = w->first[n];
    w->first[n] = (u32)look + 1;
    return true;
}

static bool prepare(struct dh_dht_watch *w, u32 *cap)
{
    w->by_event = dh_pool_alloc(w->n * sizeof(struct dh_dht_look *));
    w->then = dh_pool_alloc(w->n * sizeof(*w->then));
    w->blocks = dh_pool_alloc(w->n * sizeof(*w->blocks));
    if (!w->by_event || !w->then || !w->blocks)
        return false;
    for (size_t i = 0; i < w->n; i++) {
        struct dh_dht_look *look = &w->looks[i];
        look->found = look->moved = false;
        bool numbered = look->event != DH_DHT_NO_EVENT;
        u64 end = numbered ? look->event + 1 : look->before;
        w->last = end > w->last ? end : w->last;
        if (numbered)
            w->by_event[w->n_events++] = look;
        else if (!watch_cell(w, cap, i))
            return false;
        if (look->addr)
            w->blocks[w->n_blocks++].addr = look->addr;
    }
    qsort(w->by_event, w->n_events, sizeof(struct dh_dht_look *), by_event);
    qsort(w->blocks, w->n_blocks, sizeof(*w->blocks), by_addr);
    size_t kept = 0;
    for (size_t i = 0; i < w->n_blocks; i++)
        if (kept == 0 || w->blocks[kept - 1].addr != w->blocks[i].addr)
            w->blocks[kept++] = w->blocks[i];
    w->n_blocks = kept;
    return true;
}

static int read_on(struct dh_dht *r, struct dh_dht_watch *w)
{
    enum { BATCH = 1024 };
    struct dh_event *events = dh_pool_alloc(BATCH * sizeof(*events));
    long got = events ? 1 : -ENOMEM;
    while (got > 0 && r->number < w->last && !w->failed)
        got = dh_dht_read(r, events, BATCH);
    dh_pool_free(events, BATCH * sizeof(*events));
    return w->failed ? -ENOMEM : got < 0 ? (int)got : 0;
}

static void watched_done(struct dh_dht_watched *t)
{
    dh_pool_free(t->held, t->cap_held * sizeof(*t->held));
    dh_pool_free(t->frames, t->cap_frames * sizeof(*t->frames));
}

int dh_dht_look(struct dh_dht *r, struct dh_dht_look *looks, size_t n)
{
    struct dh_dht_watch w = {.looks = looks, .n = n};
    u32 cap = 0;
    if (n == 0 || n >= UINT32_MAX || (r->flags & DH_DHT_NAMED))
        return 0; /* a text has no stacks */
    r->watch = &w;
    int rc = prepare(&w, &cap) ? dh_dht_load_stacks(r) : -ENOMEM;
    if (!rc)
        rc = read_on(r, &w);
    r->watch = NULL;
    for (size_t i = 0; i < n; i++) {
        looks[i].moved &= !looks[i].found;
        if (looks[i].moved) {
            looks[i].cell = looks[i].from_cell;
            looks[i].before = looks[i].from_before;
            looks[i].shift += looks[i].from_shift;
        }
    }
    for (u32 i = 0; i < w.n_threads; i++)
        watched_done(&w.threads[i]);
    dh_pool_free(w.threads, w.n_threads * sizeof(*w.threads));
    dh_pool_free(w.by_event, n * sizeof(struct dh_dht_look *));
    dh_pool_free(w.then, n * sizeof(*w.then));
    dh_pool_free(w.blocks, n * sizeof(*w.blocks));
    dh_pool_free(w.first, cap * sizeof(*w.first));
    dh_pages_done(&w.cells);
    return rc;
}

void dh_dht_look_done(struct dh_dht_look *looks, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        dh_pool_free(looks[i].held, looks[i].n_held * sizeof(*looks[i].held));
        looks[i].held = NULL;
        looks[i].n_held = 0;
    }
}
