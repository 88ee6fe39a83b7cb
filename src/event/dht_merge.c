/*
 * dht_merge.c - see dht_read.h: the second pass, which delivers the events in order, and their names.
 *
 * The heap holds the threads that are known to wait for a ticket; `current` is the thread whose turn it is. A
 * thread is loaded when its first ticket comes up and unloaded after its last event.
 */
#include <errno.h>
#include <string.h>

#include "base/fmt.h"
#include "base/pool.h"
#include "event/dht_reader.h"
#include "event/dht_watch.h"

/* When a larger block is freed, the write this is concerns only pages that were accessed: nothing can be
 * found in others. */
enum { LARGE_FREE = 64 << 10 };

/* ---- The heap ---- */

static void heap_push(struct dh_dht *r, struct dh_dht_stream *s)
{
    u32 at = r->n_heap++;
    for (; at > 0 && r->heap[(at - 1) / 2]->key > s->key; at = (at - 1) / 2)
        r->heap[at] = r->heap[(at - 1) / 2];
    r->heap[at] = s;
}

static struct dh_dht_stream *heap_pop(struct dh_dht *r)
{
    struct dh_dht_stream *top = r->heap[0], *last = r->heap[--r->n_heap];
    u32 at = 0;
    for (;;) {
        u32 child = 2 * at + 1;
        if (child >= r->n_heap)
            break;
        if (child + 1 < r->n_heap && r->heap[child + 1]->key < r->heap[child]->key)
            child++;
        if (r->heap[child]->key >= last->key)
            break;
        r->heap[at] = r->heap[child];
        at = child;
    }
    r->heap[at] = last;
    return top;
}

int dh_dht_merge_begin(struct dh_dht *r)
{
    r->heap = r->cap_streams ? dh_pool_alloc(r->cap_streams * sizeof(*r->heap)) : NULL;
    if (r->cap_streams && !r->heap)
        return -ENOMEM;
    for (u32 i = 0; i < r->n_streams; i++) {
        struct dh_dht_stream *s = r->streams[i];
        if (s->n == 0)
            continue;
        s->key = s->refs[0].first;
        if (s->key == DH_DHT_NO_TICKET)
            return dh_dht_bad(r, s->refs[0].offset, "a thread begins without a ticket");
        heap_push(r, s);
    }
    return 0;
}

/* ---- Numbers ---- */

u32 dh_dht_thread_of(struct dh_dht *r, u32 uid)
{
    while (uid >= r->dense_cap) {
        u32 cap = r->dense_cap;
        if (!dh_dht_grow((void **)&r->dense, cap, &r->dense_cap, sizeof(*r->dense)))
            return UINT32_MAX;
    }
    if (!r->dense[uid]) {
        if (!dh_dht_grow((void **)&r->threads, r->n_threads, &r->cap_threads, sizeof(*r->threads)))
            return UINT32_MAX;
        r->threads[r->n_threads++].uid = uid;
        r->dense[uid] = r->n_threads;
    }
    return r->dense[uid] - 1;
}

static u32 site_of(struct dh_dht *r, struct dh_dht_stream *s, u32 number)
{
    struct dh_dht_site *site = &s->decoder->sites[number];
    if (DH_UNLIKELY(site->global == UINT32_MAX))
        site->global = dh_pages_add(&r->sites, site->pc);
    return site->global;
}

/* ---- One event ---- */

static const char *const form_texts[] = {
    [DH_FORM_OK] = "",
    [DH_FORM_NOT_HELD] = "a lock is released that its thread does not hold",
    [DH_FORM_HELD] = "a lock is acquired that another thread holds",
    [DH_FORM_SELF_FORK] = "a thread forks itself",
    [DH_FORM_SELF_JOIN] = "a thread joins itself",
    [DH_FORM_AFTER_JOIN] = "a thread acts after it was joined",
    [DH_FORM_NO_MEMORY] = "no memory",
};

const char *dh_dht_form_text(enum dh_form_error error)
{
    return form_texts[error];
}

/* Accesses change nothing of the form of a trace but who acts, which is known after the first. */
static int check_actor(struct dh_dht *r, struct dh_dht_stream *s, u8 op)
{
    struct dh_event e = {.op = op, .thread = s->thread};
    enum dh_form_error error = dh_form_next(&r->form, &e, r->number);
    s->known = true;
    return error == DH_FORM_OK ? 0 : dh_dht_bad(r, dh_dht_offset(s), form_texts[error]);
}

/* Does an event cut a variable although its chunk says that none of it does? */
static bool cuts_unseen(const struct dh_dht_stream *s, u64 addr, u64 bytes)
{
    return ((addr | bytes) & 7) != 0 && s->refs[s->next - 1].words;
}

static int begin_access(struct dh_dht *r, struct dh_dht_stream *s, const struct dh_dht_event *e, u64 bytes,
                        u8 op)
{
    if (bytes == 0)
        return 0;
    if (DH_UNLIKELY(!s->known || r->form.threads[s->thread].joined) && check_actor(r, s, op) != 0)
        return -EBADMSG;
    if (e->addr + bytes < e->addr || (bytes > UINT32_MAX && (e->addr | bytes) >> 48))
        return dh_dht_bad(r, dh_dht_offset(s), "an access reaches beyond the address space");
    if (cuts_unseen(s, e->addr, bytes))
        return dh_dht_bad(r, dh_dht_offset(s), "an access to part of a word in a chunk of whole ones");
    u32 size = e->size ? e->size : (u32)bytes;
    r->rest = (struct dh_dht_rest){.op = op,
                                   .mode = e->mode,
                                   .size = size < UINT16_MAX ? (u16)size : 0,
                                   .thread = s->thread,
                                   .site = site_of(r, s, e->site),
                                   .at = e->addr,
                                   .end = e->addr + bytes,
                                   .skip = (e->mode & DH_FREE) && bytes > LARGE_FREE};
    return r->rest.site == UINT32_MAX ? -ENOMEM : 0;
}

static int begin_memory(struct dh_dht *r, struct dh_dht_stream *s, const struct dh_dht_event *e)
{
    u64 n = dh_dht_range_bytes(e);
    if (e->addr + n < e->addr || e->source + n < e->source)
        return dh_dht_bad(r, dh_dht_offset(s), "a range reaches beyond the address space");
    bool move = e->op == DH_OP_RANGE_MOVE || e->op == DH_OP_RANGE_COPY;
    if (cuts_unseen(s, e->addr, move ? 1 : n))
        return dh_dht_bad(r, dh_dht_offset(s), "memory moves in a chunk where none does");
    bool bytes = move && dh_dht_moves_bytes(e->addr, e->source, n);
    move = bytes || (move && dh_dht_moves_words(e->addr, e->source, n));
    u64 unit = bytes ? 1 : 8;
    r->rest = (struct dh_dht_rest){.op = move ? e->op : DH_OP_RANGE_NEW,
                                   .thread = s->thread,
                                   .at = move ? DH_ALIGN_UP(e->addr, unit) : e->addr,
                                   .end = move ? DH_ALIGN_DOWN(e->addr + n, unit) : e->addr + n,
                                   .from = DH_ALIGN_UP(e->source, unit),
                                   .step = (u32)unit,
                                   .down = e->addr > e->source && e->addr - e->source < n};
    if (!move && n >> DH_CELLS_SHIFT > r->cells.pages.n) {
        r->rest.lo = e->addr;
        r->rest.hi = e->addr + n;
        r->rest.end = r->rest.at;
        if (!dh_dht_rest_page(r))
            r->rest.op = DH_OP_SKIP;
    }
    if (r->rest.at >= r->rest.end)
        r->rest.op = DH_OP_SKIP;
    return 0;
}

void dh_dht_let_go(struct dh_dht *r, u32 lock)
{
    if (lock < r->form.n_locks)
        r->form.locks[lock].holder = r->form.locks[lock].depth = r->form.locks[lock].readers = 0;
}

/* An event about an object or a thread, as it is. 1, or an error. */
static long give_sync(struct dh_dht *r, struct dh_dht_stream *s, const struct dh_dht_event *e, u8 op,
                      struct dh_event *out)
{
    u32 target = 0;
    bool other = op == DH_OP_FORK || op == DH_OP_JOIN;
    if (other && e->addr >= DH_DHT_THREADS)
        return dh_dht_bad(r, dh_dht_offset(s), "an impossible thread is forked or joined");
    if (other)
        target = dh_dht_thread_of(r, (u32)e->addr);
    else if (dh_event_space(op) == DH_SPACE_LOCK)
        target = dh_objects_at(&r->objects, e->addr);
    if (target == UINT32_MAX)
        return dh_dht_no_room(r, s);
    *out = (struct dh_event){
        .op = op, .mode = e->mode, .thread = s->thread, .target = target, .site = site_of(r, s, e->site)};
    if (op == DH_OP_VOLATILE && e->op == DH_DHT_OP_RELEASE_FOREIGN) {
        out->mode = DH_WRITE;
        dh_dht_let_go(r, target);
    }
    return 1;
}

/* A read-modify-write acquires, accesses and publishes, in this order; it is up to three events. */
static long give_atomic(struct dh_dht *r, struct dh_dht_stream *s, const struct dh_dht_event *e,
                        struct dh_event *out)
{
    long n = 0, rc;
    bool load = e->op != DH_OP_ATOMIC_STORE, store = e->op != DH_OP_ATOMIC_LOAD;
    if (e->size > 64)
        return dh_dht_bad(r, dh_dht_offset(s), "an atomic operation is too large");
    if (load) {
        rc = give_sync(r, s, e, DH_OP_ATOMIC_LOAD, &out[n]);
        if (rc < 0)
            return rc;
        n++;
    }
    if (e->size) {
        struct dh_dht_event access = *e;
        access.mode = DH_ATOMIC | (store ? DH_WRITE : DH_READ);
        rc = begin_access(r, s, &access, e->size, store ? DH_OP_WRITE : DH_OP_READ);
        for (; !rc && r->rest.op != DH_OP_SKIP && n < DH_DHT_ATOMIC_EVENTS - 1; n++)
            rc = dh_dht_rest_next(r, &out[n]) < 0 ? -ENOMEM : 0;
        if (rc)
            return rc;
        r->rest.op = DH_OP_SKIP;
    }
    if (store) {
        rc = give_sync(r, s, e, e->op, &out[n]);
        if (rc < 0)
            return rc;
        n++;
    }
    return n;
}

static long check_form(struct dh_dht *r, struct dh_dht_stream *s, struct dh_event *out, long n)
{
    s->known |= n > 0;
    for (long i = 0; i < n; i++) {
        enum dh_form_error error = dh_form_next(&r->form, &out[i], r->number + (u64)i);
        if (out[i].op == DH_OP_END)
            r->threads[s->thread].ended = true;
        /* A robust mutex outlives its holder. */
        if (error == DH_FORM_HELD && r->form.other < r->n_threads && r->threads[r->form.other].ended) {
            dh_dht_let_go(r, out[i].target);
            error = dh_form_next(&r->form, &out[i], r->number + (u64)i);
        }
        if (r->lenient && (error == DH_FORM_HELD || error == DH_FORM_NOT_HELD)) {
            dh_dht_let_go(r, out[i].target);
            error = error == DH_FORM_HELD ? dh_form_next(&r->form, &out[i], r->number + (u64)i) : DH_FORM_OK;
            if (out[i].op == DH_OP_RELEASE) { /* as one of a lock that it is not known to hold */
                out[i].op = DH_OP_VOLATILE;
                out[i].mode = DH_WRITE;
            }
        }
        if (error != DH_FORM_OK)
            return dh_dht_bad(r, dh_dht_offset(s), form_texts[error]);
    }
    return n;
}

/* What a stored event stands for, into out (room for DH_DHT_ATOMIC_EVENTS), or into r->rest. */
static long give(struct dh_dht *r, struct dh_dht_stream *s, struct dh_dht_event *e, struct dh_event *out)
{
    long n;
    if (s->uid == DH_DHT_NOBODY &&
        !(dh_dht_operands(e->op) & DH_DHT_HAS_TICKET && dh_dht_operands(e->op) & DH_DHT_HAS_BYTES))
        return dh_dht_bad(r, dh_dht_offset(s), "an event of nobody that somebody must have done");
    if (DH_UNLIKELY((e->mode & DH_DHT_MARKS) || e->op == DH_DHT_OP_CARRIED)) {
        int out_of_view = dh_dht_view_event(r, s, e);
        if (out_of_view)
            return out_of_view == -ENOMEM ? dh_dht_no_room(r, s) : out_of_view < 0 ? out_of_view : 0;
    }
    switch (e->op) {
    case DH_OP_READ:
    case DH_OP_WRITE:
        if (e->size > 64)
            return dh_dht_bad(r, dh_dht_offset(s), "an access is too large");
        return begin_access(r, s, e, e->size, e->op);
    case DH_DHT_OP_CHECK:
        return e->size > 64 ? dh_dht_bad(r, dh_dht_offset(s), "a check is too large")
                            : begin_access(r, s, e, e->size, DH_OP_READ);
    case DH_DHT_OP_READS:
    case DH_DHT_OP_WRITES:
        return begin_access(r, s, e, e->bytes, e->op == DH_DHT_OP_READS ? DH_OP_READ : DH_OP_WRITE);
    case DH_OP_RANGE_NEW:
    case DH_OP_RANGE_FREE:
    case DH_OP_RANGE_MOVE:
    case DH_OP_RANGE_COPY:
    case DH_DHT_OP_BLOCK:
        return begin_memory(r, s, e);
    case DH_DHT_OP_FORGET:
        dh_objects_forget(&r->objects, e->addr, e->bytes);
        return 0;
    case DH_DHT_OP_FRAME:
        return 0;
    case DH_OP_ATOMIC_LOAD:
    case DH_OP_ATOMIC_STORE:
    case DH_OP_ATOMIC_RMW:
        n = give_atomic(r, s, e, out);
        break;
    case DH_DHT_OP_RELEASE_FOREIGN:
        n = give_sync(r, s, e, DH_OP_VOLATILE, out);
        break;
    default:
        n = give_sync(r, s, e, e->op, out);
    }
    return n < 0 ? n : check_form(r, s, out, n);
}

/* ---- The order ---- */

/* The next event of a stream. 1; 0: it has no more; or an error. */
static int decode(struct dh_dht *r, struct dh_dht_stream *s)
{
    for (;;) {
        int more = s->raw ? dh_dht_decode_next(s->decoder, &s->event) : 0;
        if (DH_LIKELY(more > 0)) {
            if (DH_UNLIKELY(r->watch != NULL))
                dh_dht_watch_decoded(s);
            return 1;
        }
        if (more < 0)
            return dh_dht_bad(r, dh_dht_offset(s), s->decoder->error);
        int rc = dh_dht_load(r, s);
        if (rc <= 0)
            return rc;
    }
}

/* Whose turn is it? 1; 0: the trace is at its end; or an error. */
static int turn(struct dh_dht *r)
{
    if (r->n_heap == 0)
        return 0;
    if (r->heap[0]->key != r->ticket) {
        const struct dh_dht_stream *s = r->heap[0];
        if (!r->complete && s->key > r->ticket) {
            r->cut = r->ticket; /* what comes later may depend on what is missing */
            return 0;
        }
        return dh_dht_bad(r, s->refs[s->next ? s->next - 1 : 0].offset,
                          s->key > r->ticket ? "a ticket before those of this chunk is missing"
                                             : "a ticket is there twice");
    }
    struct dh_dht_stream *s = heap_pop(r);
    if (!s->waiting) {
        int rc = decode(r, s);
        if (rc < 0)
            return rc;
        if (rc == 0 || !(dh_dht_operands(s->event.op) & DH_DHT_HAS_TICKET) || s->event.ticket != s->key)
            return dh_dht_bad(r, dh_dht_offset(s), "the thread does not begin with the ticket its head says");
        s->waiting = true;
        s->thread = s->uid == DH_DHT_NOBODY ? 0 : dh_dht_thread_of(r, s->uid);
        if (s->thread == UINT32_MAX)
            return -ENOMEM;
    }
    r->current = s;
    return 1;
}

/* The next stored event, in s->event of the current stream. As above. */
static int advance(struct dh_dht *r)
{
    for (;;) {
        struct dh_dht_stream *s = r->current;
        if (!s) {
            int rc = turn(r);
            if (rc <= 0)
                return rc;
            continue;
        }
        if (!s->waiting) {
            int rc = decode(r, s);
            if (rc < 0)
                return rc;
            if (rc == 0) {
                r->current = NULL;
                continue;
            }
        }
        s->waiting = false;
        if (!(dh_dht_operands(s->event.op) & DH_DHT_HAS_TICKET))
            return 1;
        if (s->event.ticket == r->ticket) {
            r->ticket++;
            return 1;
        }
        s->waiting = true;
        s->key = s->event.ticket;
        heap_push(r, s);
        r->current = NULL;
    }
}

/* Decoded accesses of up to eight bytes, whose variables have been prefetched: nearly all events. */
enum { ROW = 32, ROW_BYTES = 8 };
struct row {
    u64 addr;
    u32 site;
    u16 size;
    u8 op, mode;
};

/* As many as come, at most cap. What ends the row waits in the stream. How many, or an error. */
static long decode_row(struct dh_dht *r, struct dh_dht_stream *s, struct row *row, u32 cap)
{
    struct dh_dht_event *e = &s->event;
    bool words = s->refs[s->next - 1].words;
    for (u32 n = 0; n < cap; n++, row++) {
        int more = dh_dht_decode_run(s->decoder, e) ? 1 : dh_dht_decode_next(s->decoder, e);
        if (more < 0)
            return dh_dht_bad(r, dh_dht_offset(s), s->decoder->error);
        if (more == 0)
            return n;
        row->site = site_of(r, s, e->site);
        if ((e->op != DH_OP_READ && e->op != DH_OP_WRITE) || e->size == 0 || e->size > ROW_BYTES ||
            (e->mode & DH_DHT_MARKS) || (words && ((e->addr | e->size) & 7)) ||
            e->addr > UINT64_MAX - ROW_BYTES || row->site == UINT32_MAX) {
            s->waiting = true;
            return n;
        }
        dh_cells_soon(&r->cells, e->addr);
        row->addr = e->addr;
        row->size = (u16)e->size;
        row->op = e->op;
        row->mode = e->mode;
    }
    return cap;
}

/* The accesses of the current thread up to whatever else it does. How many, or an error. */
static long read_rows(struct dh_dht *r, struct dh_event *events, size_t cap)
{
    struct dh_dht_stream *s = r->current;
    struct dh_event *out = events, *end = events + cap;
    if (!s->known || r->form.threads[s->thread].joined || !s->raw)
        return 0;
    while (!s->waiting && (size_t)(end - out) >= ROW_BYTES) {
        struct row rows[ROW];
        size_t room = (size_t)(end - out) / ROW_BYTES;
        long n = decode_row(r, s, rows, room < ROW ? (u32)room : (u32)ROW);
        if (n < 0)
            return n;
        for (const struct row *row = rows; row < rows + n; row++) {
            for (u64 at = row->addr, stop = at + row->size; at < stop; out++) {
                u32 size, cell = dh_cells_at(&r->cells, at, &size);
                if (DH_UNLIKELY(cell == UINT32_MAX))
                    return dh_dht_no_room(r, s);
                out->op = row->op;
                out->mode = row->mode;
                out->size = row->size;
                out->thread = s->thread;
                out->target = cell;
                out->site = row->site;
                at += size;
            }
        }
        if (n == 0)
            break;
    }
    return out - events;
}

/* k events were given out; or it is an error. */
DH_INLINE long given(struct dh_dht *r, const struct dh_event *events, long k)
{
    if (k > 0) {
        if (DH_UNLIKELY(r->watch != NULL))
            dh_dht_watch_given(r, r->current, events, k);
        r->number += (u64)k;
    }
    return k;
}

static long read_merged(struct dh_dht *r, struct dh_event *events, size_t cap)
{
    size_t n = 0;
    while (n + DH_DHT_ATOMIC_EVENTS <= cap) {
        if (r->rest.op != DH_OP_SKIP) {
            long k = given(r, &events[n], dh_dht_rest_next(r, &events[n]));
            if (k < 0)
                return k;
            n += (size_t)k;
            continue;
        }
        if (r->current && !r->current->waiting && !r->watch) {
            long k = read_rows(r, &events[n], cap - DH_DHT_ATOMIC_EVENTS - n);
            if (k < 0)
                return k;
            n += (size_t)k;
            r->number += (u64)k;
        }
        int rc = r->ended ? 0 : advance(r);
        if (rc < 0)
            return rc;
        if (rc == 0) {
            if (!r->ended)
                dh_form_end(&r->form);
            r->ended = true;
            break;
        }
        if (DH_UNLIKELY(r->watch != NULL))
            dh_dht_watch_begin(r, r->current);
        long k = given(r, &events[n], give(r, r->current, &r->current->event, &events[n]));
        if (k < 0)
            return k;
        n += (size_t)k;
    }
    return (long)n;
}

long dh_dht_read(struct dh_dht *r, struct dh_event *events, size_t cap)
{
    long n = r->flags & DH_DHT_NAMED ? dh_dht_named_read(r, events, cap) : read_merged(r, events, cap);
    if (n == -ENOMEM && !r->error[0])
        dh_dht_bad(r, r->current ? dh_dht_offset(r->current) : 0, "no memory to read on");
    return n;
}
