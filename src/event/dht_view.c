/*
 * dht_view.c - see dht_read.h: interprets the marks that programs with a language runtime leave in their
 * recordings (dht_code.h; the ablations of "Low-Level Detection of Language-Level Data Races with LARD",
 * table 2).
 *
 * One execution can be viewed in several ways: the stored events are the same, and the view decides which of
 * them the detectors see. Accesses that the language runtime reports are counted in every view alike.
 */
#include <errno.h>

#include "base/search.h"
#include "event/dht_reader.h"

void dh_dht_set_view(struct dh_dht *r, const struct dh_dht_view *view)
{
    r->view = *view;
}

/* The access at e was reported by the language runtime: remember which events it becomes. */
static int note_language(struct dh_dht *r, const struct dh_dht_event *e)
{
    bool range = e->op == DH_DHT_OP_READS || e->op == DH_DHT_OP_WRITES;
    u64 at = e->addr, end = at + (range ? e->bytes : e->size);
    u32 size, n = 0;
    if (!dh_dht_grow((void **)&r->language, r->n_language, &r->cap_language, sizeof(*r->language)))
        return -ENOMEM;
    for (; at < end && n < UINT32_MAX; at += size, n++)
        if (dh_cells_at(&r->cells, at, &size) == UINT32_MAX)
            return -ENOMEM;
    r->language[r->n_language++] = (struct dh_dht_language){.first = r->number, .n = n};
    return 0;
}

bool dh_dht_language_access(const struct dh_dht *r, u64 event, u64 *ret_index)
{
    size_t lo = DH_SEARCH_UPTO(r->language, r->n_language, first, event);
    if (lo == 0 || event - r->language[lo - 1].first >= r->language[lo - 1].n)
        return false;
    *ret_index = lo - 1;
    return true;
}

static int carried(struct dh_dht *r, struct dh_dht_stream *s, const struct dh_dht_event *e)
{
    if (e->addr >= DH_DHT_THREADS)
        return dh_dht_bad(r, dh_dht_offset(s), "an impossible thread carries another");
    r->lenient = true;
    if (!r->view.no_identity)
        return 1;
    s->thread = dh_dht_thread_of(r, (u32)e->addr);
    s->known = false; /* as this thread */
    return s->thread == UINT32_MAX ? -ENOMEM : 1;
}

/* The ordering and the access of an atomic operation are handled separately. */
static int atomic(struct dh_dht *r, struct dh_dht_event *e, bool system_order, bool system_access)
{
    bool order = !system_order || r->view.system_order, access = !system_access || r->view.system_accesses;
    if (!access)
        e->size = 0;
    if (order || !access)
        return !order; /* all of it, the order alone, or nothing */
    e->mode = DH_ATOMIC | (e->op == DH_OP_ATOMIC_LOAD ? DH_READ : DH_WRITE);
    e->op = e->op == DH_OP_ATOMIC_LOAD ? DH_OP_READ : DH_OP_WRITE;
    return 0;
}

/* A release that creates no ordering. Is it of a lock that was taken outside, so that the detectors must see
 * it? */
static bool let_go(struct dh_dht *r, const struct dh_dht_stream *s, struct dh_dht_event *e)
{
    u32 lock = dh_objects_at(&r->objects, e->addr);
    const struct dh_form_lock *l = lock < r->form.n_locks ? &r->form.locks[lock] : NULL;
    if (l && (e->mode & DH_SHARED ? l->readers != 0 : l->holder == s->thread + 1)) {
        e->mode |= DH_LET_GO;
        return true;
    }
    dh_dht_let_go(r, lock);
    return false;
}

int dh_dht_view_event(struct dh_dht *r, struct dh_dht_stream *s, struct dh_dht_event *e)
{
    const struct dh_dht_view *v = &r->view;
    bool system = e->mode & DH_DHT_SYSTEM, language = e->mode & DH_DHT_LANGUAGE;
    e->mode &= (u8)~DH_DHT_MARKS;
    switch (e->op) {
    case DH_DHT_OP_CARRIED:
        return carried(r, s, e);
    case DH_OP_READ:
    case DH_OP_WRITE:
    case DH_DHT_OP_READS:
    case DH_DHT_OP_WRITES:
        if (language && !system)
            return note_language(r, e);
        return system && !v->system_accesses;
    case DH_DHT_OP_CHECK:
        return system && !v->system_accesses;
    case DH_OP_ATOMIC_LOAD:
    case DH_OP_ATOMIC_STORE:
    case DH_OP_ATOMIC_RMW:
        return atomic(r, e, system, language);
    case DH_OP_RANGE_NEW:
    case DH_DHT_OP_BLOCK:
    case DH_DHT_OP_FORGET:
        return language && v->no_clear;
    case DH_OP_RANGE_MOVE:
        if (language && !v->no_copy)
            dh_objects_move(&r->objects, e->addr, e->source, e->bytes);
        return language && v->no_copy;
    case DH_OP_RANGE_COPY:
        return language && v->no_copy;
    case DH_OP_FORK:
    case DH_OP_JOIN:
    case DH_OP_BEGIN:
    case DH_OP_END:
        return (language && v->no_identity) || (system && !v->system_order);
    case DH_OP_RELEASE:
        return system && !v->system_order && !let_go(r, s, e);
    default:
        return system && !v->system_order;
    }
}
