/*
 * multirace.c - MultiRace: DJIT+ that skips vector comparisons while a lockset shows that they must succeed.
 *
 * Paper: Pozniansky and Schuster, "MultiRace", Concurrency and Computation 19(3), 2007; as in the comparison
 * of FastTrack (CACM 2010), section 4.1: the lockset is updated at the first access of an epoch, and clocks
 * are compared only after it is empty. Guarantee: no false alarms; misses what Eraser's states for
 * initialisation and read-sharing hide (hence unsound, in the sense of this list). Departures: none known.
 */
#include "detect/hybrid.h"

enum { VIRGIN, EXCLUSIVE, SHARED, SHARED_MODIFIED };

struct cell {
    struct dh_rw rw;
    u32 state;
    u32 set;
    u32 owner;
};

static void acquire(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    dh_hybrid_acquire(d, e, thread, lock);
    dh_hb_acquire(d, e, thread, lock);
}

static void release(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    dh_hybrid_release(d, e, thread, lock);
    dh_hb_release(d, e, thread, lock);
}

/* Eraser's states. True when the lockset no longer vouches for the variable. */
static bool unprotected(struct dh_detector *d, const struct dh_event *e, struct dh_hybrid_thread *t,
                        struct cell *x)
{
    bool write = e->op == DH_OP_WRITE;
    u32 held = dh_held_for(&t->held, e);
    if (x->state == VIRGIN) {
        x->state = EXCLUSIVE;
        x->owner = e->thread;
    }
    if (x->state == EXCLUSIVE) {
        if (x->owner == e->thread)
            return false;
        x->state = write ? SHARED_MODIFIED : SHARED;
        x->set = held;
    } else {
        if (write)
            x->state = SHARED_MODIFIED;
        x->set = dh_lockset_meet(d->own, x->set, held);
    }
    return x->state == SHARED_MODIFIED && x->set == 0;
}

static void read(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    struct dh_hybrid_thread *t = thread;
    struct cell *x = cell;
    if (dh_marks_get(&x->rw.r, t->hb.tid) == t->hb.clock)
        return;
    if (unprotected(d, e, t, x))
        dh_rw_check_read(d, e, &x->rw, &t->hb.c);
    dh_marks_add(d, &x->rw.r, &t->hb.c, t->hb.tid, t->hb.clock, e->site);
}

static void write(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    struct dh_hybrid_thread *t = thread;
    struct cell *x = cell;
    if (dh_marks_get(&x->rw.w, t->hb.tid) == t->hb.clock)
        return;
    if (unprotected(d, e, t, x))
        dh_rw_check_write(d, e, &x->rw, &t->hb.c);
    dh_marks_add(d, &x->rw.w, &t->hb.c, t->hb.tid, t->hb.clock, e->site);
}

static void copy(struct dh_detector *d, void *to, const void *from)
{
    struct cell *x = to;
    *x = *(const struct cell *)from;
    dh_rw_copy(d, &x->rw, from);
}

const struct dh_detector_ops dh_detector_multirace = {
    .name = "multirace",
    .paper = "Pozniansky, Schuster: MultiRace (Concurrency and Computation 2007)",
    .guarantee = DH_UNSOUND,
    .summary = "DJIT+ behind a lockset; no false alarms, but misses races of initialisation and hand-over",
    .cell_size = sizeof(struct cell),
    DH_HB_COMMON,
    DH_HYBRID_STATE,
    .acquire = acquire,
    .release = release,
    .read = read,
    .write = write,
    .soon = dh_rw_soon,
    .cell_drop = dh_rw_drop,
    .cell_copy = copy,
};
