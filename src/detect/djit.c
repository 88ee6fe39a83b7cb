/*
 * djit.c - DJIT+: only the first read and the first write of a variable in each epoch of a thread is
 * compared.
 *
 * Paper: Pozniansky and Schuster, "MultiRace: Efficient on-the-fly data race detection in multithreaded C++
 * programs", Concurrency and Computation 19(3), 2007, in the variant of FastTrack (CACM 2010) figure 3, right
 * column. Guarantee: precise for the first race of each variable; later accesses of an epoch that race again
 * are not reported. Departures: the paper stops checking a variable after its first race; here it goes on.
 */
#include "detect/hb.h"

struct cell {
    struct dh_marks r;
    struct dh_marks w;
};

static void read(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    struct dh_hb_thread *t = thread;
    struct cell *x = cell;
    if (dh_marks_get(&x->r, t->tid) == t->clock)
        return; /* READ SAME EPOCH */
    if (DH_UNLIKELY(dh_marks_exceed(&x->w, &t->c)))
        dh_marks_report(d, e, &x->w, &t->c, true);
    dh_marks_set(d, &x->r, t->tid, t->clock, e->site);
}

static void write(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    struct dh_hb_thread *t = thread;
    struct cell *x = cell;
    if (dh_marks_get(&x->w, t->tid) == t->clock)
        return; /* WRITE SAME EPOCH */
    if (DH_UNLIKELY(dh_marks_exceed(&x->w, &t->c)))
        dh_marks_report(d, e, &x->w, &t->c, true);
    if (DH_UNLIKELY(dh_marks_exceed(&x->r, &t->c)))
        dh_marks_report(d, e, &x->r, &t->c, false);
    dh_marks_set(d, &x->w, t->tid, t->clock, e->site);
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
}

static void drop(struct dh_detector *d, void *cell)
{
    struct cell *x = cell;
    dh_marks_drop(d, &x->r);
    dh_marks_drop(d, &x->w);
}

const struct dh_detector_ops dh_detector_djit = {
    .name = "djit",
    .paper = "Pozniansky, Schuster: Efficient on-the-fly data race detection (PPoPP 2003): DJIT+",
    .guarantee = DH_PRECISE,
    .summary =
        "happens-before with vector clocks, one check per epoch; finds the first race of every racy variable",
    .thread_size = sizeof(struct dh_hb_thread),
    .lock_size = sizeof(struct dh_hb_lock),
    .cell_size = sizeof(struct cell),
    DH_HB_FULL,
    .read = read,
    .write = write,
    .soon = soon,
    .cell_drop = drop,
    .cell_copy = copy,
};
