/*
 * drive.h - the loop over plain accesses, nearly all events of any trace.
 *
 * The host (host.c) splits a batch at other events and passes the runs in between to a detector's `accesses`:
 * this loop, with the detector's handlers inlined and its cell size known (DH_DRIVE), or with calls through
 * its table if that was not worth it.
 *
 * Memory latency dominates. The cell of an access is looked up and prefetched FAR events ahead and waits in a
 * ring; NEAR events ahead, what the cell points to is prefetched. Looking ahead does not test the kind of
 * event, since such a branch would be mispredicted at every synchronisation: for other events it uses cell 0.
 */
#ifndef DH_DETECT_DRIVE_H
#define DH_DETECT_DRIVE_H

#include "detect/detector.h"

enum { DH_DRIVE_FAR = 16, DH_DRIVE_NEAR = 8, DH_DRIVE_RING = 32 };

struct dh_batch {
    const struct dh_event *events;
    size_t n;
    u64 first;                  /* number of the first event */
    void *cells[DH_DRIVE_RING]; /* of upcoming events, by index */
};

typedef void dh_soon_fn(const struct dh_event *e, const void *cell);

/* A read or write that is not atomic. Without branches. */
DH_INLINE bool dh_drive_is_plain(const struct dh_event *e)
{
    return (bool)((u32)((u8)(e->op - DH_OP_READ) < 2) & (u32) !(e->mode & DH_ATOMIC));
}

/* Finds the cell of event i, if there is one. `size` is that of a cell, 0 if the detector has none. */
DH_INLINE void dh_drive_ahead(struct dh_detector *d, struct dh_batch *b, size_t i, u32 size)
{
    if (DH_UNLIKELY(i >= b->n) || !size)
        return;
    const struct dh_event *e = &b->events[i];
    char *cell = dh_table_at_sized(&d->cells, e->target & -(u32)dh_drive_is_plain(e), size);
    if (DH_UNLIKELY(!cell)) {
        d->failed = true;
        return;
    }
    b->cells[i % DH_DRIVE_RING] = cell;
    __builtin_prefetch(cell, 1);
    if (size > 16) /* it may be on two lines */
        __builtin_prefetch(cell + size - 1, 1);
}

/* The events [from, to), all of them plain accesses. */
DH_INLINE void dh_drive_accesses(struct dh_detector *d, struct dh_batch *b, size_t from, size_t to,
                                 dh_access_fn *read, dh_access_fn *write, dh_soon_fn *soon, u32 size)
{
    u32 tid = b->events[from].thread;
    void *thread = dh_detect_thread(d, tid);
    for (size_t i = from; i < to; i++) {
        const struct dh_event *e = &b->events[i];
        dh_drive_ahead(d, b, i + DH_DRIVE_FAR, size);
        if (e->thread != tid) {
            tid = e->thread;
            thread = dh_detect_thread(d, tid);
        }
        if (DH_UNLIKELY(d->failed)) /* by an earlier event, or there is no such thread or cell */
            return;
        if (soon && size && DH_LIKELY(i + DH_DRIVE_NEAR < b->n))
            soon(e + DH_DRIVE_NEAR, b->cells[(i + DH_DRIVE_NEAR) % DH_DRIVE_RING]);
        d->event = b->first + i;
        d->cell = e->target;
        if (e->op == DH_OP_READ)
            read(d, e, thread, b->cells[i % DH_DRIVE_RING]);
        else
            write(d, e, thread, b->cells[i % DH_DRIVE_RING]);
    }
}

/* A batch; `others` are those of its events that are not plain accesses. */
void dh_drive(struct dh_detector *d, struct dh_batch *b, const u32 *others, u32 n_others);

/* Defines `accesses` for a detector's table. Its handlers come before. */
#define DH_DRIVE(read, write, soon, cell)                                                        \
    static void accesses(struct dh_detector *d, struct dh_batch *b, size_t from, size_t to)      \
    {                                                                                            \
        dh_drive_accesses(d, b, from, to, read, write, soon, (u32)DH_ALIGN_UP(sizeof(cell), 8)); \
    }                                                                                            \
    struct dh_batch /* for the semicolon behind it */

#endif
