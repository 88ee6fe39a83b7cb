/*
 * drive.c - see drive.h: one detector over one batch of events.
 */
#include "detect/drive.h"

#include <string.h>

/* For events other than accesses: how many of them ahead a lock is prefetched. */
enum { OTHERS_AHEAD = 3 };

/* One cell of a range. from: its source, NULL if there is none or nothing is known about it. */
static void range_cell(struct dh_detector *d, u8 op, void *to, void *from)
{
    if (to && d->ops->cell_drop)
        d->ops->cell_drop(d, to);
    if (to)
        memset(to, 0, d->cells.size);
    if (to && from && op == DH_OP_RANGE_COPY && d->ops->cell_copy)
        d->ops->cell_copy(d, to, from);
    else if (to && from && (op == DH_OP_RANGE_MOVE || !d->ops->cell_drop)) /* else it cannot be shared */
        memcpy(to, from, d->cells.size);
    if (from && op == DH_OP_RANGE_MOVE)
        memset(from, 0, d->cells.size);
}

static void range(struct dh_detector *d, const struct dh_event *e)
{
    bool sourced = e->op == DH_OP_RANGE_MOVE || e->op == DH_OP_RANGE_COPY;
    for (u32 i = 0; i < e->size && d->cells.size && !(sourced && e->target == e->site); i++) {
        if (d->companions.n) {
            dh_companions_drop(d, e->target + i);
            if (e->op == DH_OP_RANGE_MOVE)
                dh_companions_move(d, e->target + i, e->site + i);
            else if (e->op == DH_OP_RANGE_COPY)
                dh_companions_copy(d, e->target + i, e->site + i);
        }
        void *to = dh_table_get(&d->cells, e->target + i);
        void *from = sourced ? dh_table_get(&d->cells, e->site + i) : NULL;
        if (from && !to)
            to = dh_table_at(&d->cells, e->target + i);
        range_cell(d, e->op, to, from);
    }
}

/* A read that is not kept is shown to a copy of its cell. */
static void check_only(struct dh_detector *d, const struct dh_event *e, void *thread)
{
    const void *own = dh_table_get(&d->cells, e->target);
    if (!own) /* no access to be checked against */
        return;
    if (!d->spare_cell && !(d->spare_cell = dh_detect_alloc(d, d->cells.size)))
        return;
    if (d->ops->cell_copy)
        d->ops->cell_copy(d, d->spare_cell, own);
    else
        memcpy(d->spare_cell, own, d->cells.size);
    d->ops->read(d, e, thread, d->spare_cell);
    if (d->ops->cell_drop)
        d->ops->cell_drop(d, d->spare_cell);
    memset(d->spare_cell, 0, d->cells.size);
}

static void atomic_access(struct dh_detector *d, const struct dh_event *e, void *thread)
{
    dh_access_fn *access = e->op == DH_OP_READ ? d->ops->read : d->ops->write;
    if (!access || !dh_companions_possible(d))
        return;
    d->cell = e->target;
    if (dh_event_is_check(e)) {
        check_only(d, e, thread);
        return;
    }
    void *cell = dh_companions_get(d, e->target, e->thread);
    if (cell)
        access(d, e, thread, cell);
}

/* The handler of a synchronisation event; NULL: another kind of event, or this detector ignores it. */
static dh_sync_fn *sync_of(const struct dh_detector_ops *ops, u8 op, u8 mode)
{
    switch (op) {
    case DH_OP_ACQUIRE:
        return ops->acquire;
    case DH_OP_RELEASE:
        return mode & DH_LET_GO ? ops->let_go : ops->release;
    case DH_OP_VOLATILE:
        return ops->volatile_access;
    case DH_OP_ATOMIC_LOAD:
    case DH_OP_ATOMIC_STORE:
    case DH_OP_ATOMIC_RMW:
        return ops->atomic;
    case DH_OP_BARRIER_ENTER:
        return ops->barrier_enter;
    case DH_OP_BARRIER_LEAVE:
        return ops->barrier_leave;
    case DH_OP_WAIT:
        return ops->wait;
    case DH_OP_NOTIFY:
        return ops->notify;
    default:
        return NULL;
    }
}

/* Anything but a plain access. */
static void other_event(struct dh_detector *d, const struct dh_event *e)
{
    const struct dh_detector_ops *ops = d->ops;
    void *thread = dh_detect_thread(d, e->thread);
    dh_thread_fn *fork_or_join = e->op == DH_OP_FORK ? ops->fork : ops->join;
    dh_sync_fn *sync = sync_of(ops, e->op, e->mode);
    if (d->failed)
        return; /* there is no such thread */
    if (sync) {
        sync(d, e, thread, dh_table_at(&d->locks, e->target));
        return;
    }
    switch (e->op) {
    case DH_OP_READ:
    case DH_OP_WRITE:
        atomic_access(d, e, thread);
        break;
    case DH_OP_FORK:
    case DH_OP_JOIN:
        if (fork_or_join)
            fork_or_join(d, e, thread, dh_detect_thread(d, e->target));
        break;
    case DH_OP_RANGE_NEW:
    case DH_OP_RANGE_FREE:
    case DH_OP_RANGE_MOVE:
    case DH_OP_RANGE_COPY:
        range(d, e);
        break;
    case DH_OP_FENCE:
        if (ops->atomic)
            ops->atomic(d, e, thread, NULL);
        break;
    default:
        break;
    }
}

/* Accesses to variables that may have companions. */
static void shown_to_companions(struct dh_detector *d, struct dh_batch *b, size_t from, size_t to)
{
    for (size_t i = from; i < to && !d->failed; i++) {
        const struct dh_event *e = &b->events[i];
        dh_drive_accesses(d, b, i, i + 1, d->ops->read, d->ops->write, NULL, d->cells.size);
        if (!d->failed)
            dh_companions_show(d, e, dh_detect_thread(d, e->thread));
    }
}

static void plain_accesses(struct dh_detector *d, struct dh_batch *b, size_t from, size_t to)
{
    const struct dh_detector_ops *ops = d->ops;
    if (DH_UNLIKELY(d->companions.n))
        shown_to_companions(d, b, from, to);
    else if (ops->accesses)
        ops->accesses(d, b, from, to);
    else
        dh_drive_accesses(d, b, from, to, ops->read, ops->write, ops->soon, d->cells.size);
}

/* Prefetch for an event other than an access; most of them concern a lock. */
static void other_soon(const struct dh_detector *d, const struct dh_event *e)
{
    const char *lock = dh_table_get(&d->locks, e->target);
    for (u32 at = 0; lock && at < d->locks.size; at += 64)
        __builtin_prefetch(lock + at, 1);
}

void dh_drive(struct dh_detector *d, struct dh_batch *b, const u32 *others, u32 n_others)
{
    bool cells = d->ops->read && d->ops->write;
    u32 size = cells ? d->cells.size : 0;
    for (size_t i = 0; i < DH_DRIVE_FAR; i++)
        dh_drive_ahead(d, b, i, size);
    size_t at = 0;
    for (u32 k = 0; k <= n_others && !d->failed; k++) {
        size_t stop = k < n_others ? others[k] : b->n;
        if (cells && stop > at)
            plain_accesses(d, b, at, stop);
        if (stop == b->n || d->failed)
            break;
        dh_drive_ahead(d, b, stop + DH_DRIVE_FAR, size);
        if (d->ops->soon && size && stop + DH_DRIVE_NEAR < b->n && !d->failed)
            d->ops->soon(&b->events[stop + DH_DRIVE_NEAR], b->cells[(stop + DH_DRIVE_NEAR) % DH_DRIVE_RING]);
        if (k + OTHERS_AHEAD < n_others)
            other_soon(d, &b->events[others[k + OTHERS_AHEAD]]);
        d->event = b->first + stop;
        if (b->events[stop].op != DH_OP_SKIP)
            other_event(d, &b->events[stop]);
        at = stop + 1;
    }
}
