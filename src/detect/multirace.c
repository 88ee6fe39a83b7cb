/*
 * multirace.c - MultiRace: DJIT+ whose vector comparisons are spared while a lockset shows that they must
 * succeed.
 *
 * Paper: Pozniansky and Schuster, "MultiRace", Concurrency and Computation 19(3), 2007; as in the comparison
 * of FastTrack (CACM 2010), section 4.1: the lockset is updated at the first access of an epoch, and clocks
 * are compared only after it is empty. Guarantee: no false alarms; misses what Eraser's states for
 * initialisation and read-sharing hide (hence unsound, in the sense of this list). Departures: none known.
 */
#include "detect/hb.h"
#include "detect/lockset.h"

enum { VIRGIN, EXCLUSIVE, SHARED, SHARED_MODIFIED };

struct thread {
    struct dh_hb_thread hb;
    struct dh_held held;
};

struct cell {
    struct dh_marks r;
    struct dh_marks w;
    u32 state;
    u32 set;
    u32 owner;
};

static void init(struct dh_detector *d)
{
    dh_locksets_init(d->own, d);
}

static void acquire(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    struct thread *t = thread;
    dh_held_acquire(d->own, &t->held, e);
    dh_hb_acquire(d, e, &t->hb, lock);
}

static void release(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    struct thread *t = thread;
    dh_held_release(d->own, &t->held, e);
    dh_hb_release(d, e, &t->hb, lock);
}

/* Eraser's states. True when the lockset no longer vouches for the variable. */
static bool unprotected(struct dh_detector *d, const struct dh_event *e, struct thread *t, struct cell *x)
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
    struct thread *t = thread;
    struct cell *x = cell;
    if (dh_marks_get(&x->r, t->hb.tid) == t->hb.clock)
        return;
    if (unprotected(d, e, t, x) && dh_marks_exceed(&x->w, &t->hb.c))
        dh_marks_report(d, e, &x->w, &t->hb.c, true);
    dh_marks_set(d, &x->r, t->hb.tid, t->hb.clock, e->site);
}

static void write(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    struct thread *t = thread;
    struct cell *x = cell;
    if (dh_marks_get(&x->w, t->hb.tid) == t->hb.clock)
        return;
    if (unprotected(d, e, t, x)) {
        if (dh_marks_exceed(&x->w, &t->hb.c))
            dh_marks_report(d, e, &x->w, &t->hb.c, true);
        if (dh_marks_exceed(&x->r, &t->hb.c))
            dh_marks_report(d, e, &x->r, &t->hb.c, false);
    }
    dh_marks_set(d, &x->w, t->hb.tid, t->hb.clock, e->site);
}

static void soon(const struct dh_event *e, const void *cell)
{
    const struct cell *x = cell;
    __builtin_prefetch(x->w.m, 1);
    dh_marks_soon(&x->r, e->thread);
}

static void copy(struct dh_detector *d, void *to, const void *from)
{
    struct cell *x = to;
    const struct cell *y = from;
    dh_marks_copy(d, &x->r, &y->r);
    dh_marks_copy(d, &x->w, &y->w);
    x->state = y->state;
    x->set = y->set;
    x->owner = y->owner;
}

static void drop(struct dh_detector *d, void *cell)
{
    struct cell *x = cell;
    dh_marks_drop(d, &x->r);
    dh_marks_drop(d, &x->w);
}

const struct dh_detector_ops dh_detector_multirace = {
    .name = "multirace",
    .paper = "Pozniansky, Schuster: MultiRace (Concurrency and Computation 2007)",
    .guarantee = DH_UNSOUND,
    .summary = "DJIT+ behind a lockset; no false alarms, but misses races of initialisation and hand-over",
    .own_size = sizeof(struct dh_locksets),
    .thread_size = sizeof(struct thread),
    .lock_size = sizeof(struct dh_hb_lock),
    .cell_size = sizeof(struct cell),
    DH_HB_COMMON,
    .init = init,
    .acquire = acquire,
    .release = release,
    .read = read,
    .write = write,
    .soon = soon,
    .cell_drop = drop,
    .cell_copy = copy,
};
