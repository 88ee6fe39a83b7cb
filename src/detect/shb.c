/*
 * shb.c - schedulable happens-before: happens-before plus an edge from each write to the reads that see it.
 *
 * Paper: Mathur, Kini, Viswanathan, "What Happens-After the First Race? Enhancing the Predictive Power of
 * Happens-Before Based Dynamic Race Detection", OOPSLA 2018, algorithm 1. Guarantee: predictive-sound for
 * every race it reports, not only the first: each reported pair can really happen next to each other in some
 * reordering of this trace. It reports an access if and only if it is unordered with an earlier conflicting
 * one, the edge into the access itself not counted. Departures: the check of a read against the last write
 * uses the clock before that write is learned (as the paper does); a clock is advanced after each write,
 * since a write publishes what its thread knows. The vector of the last write is kept as it was when written;
 * it is joined only if its epoch is new to the reader.
 */
#include "detect/hb.h"

struct cell {
    struct dh_marks r;
    struct dh_marks w;
    struct dh_vc last; /* clock of the last write */
    u32 tid, clock;    /* its epoch; clock 0: none yet */
};

static void read(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    struct dh_hb_thread *t = thread;
    struct cell *x = cell;
    if (DH_UNLIKELY(dh_marks_exceed(&x->w, &t->c)))
        dh_marks_report(d, e, &x->w, &t->c, true);
    dh_marks_set(d, &x->r, t->tid, t->clock, e->site);
    if (x->clock > dh_vc_get(&t->c, x->tid))
        dh_vc_join(d, &t->c, &x->last);
}

static void write(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    struct dh_hb_thread *t = thread;
    struct cell *x = cell;
    if (DH_UNLIKELY(dh_marks_exceed(&x->w, &t->c)))
        dh_marks_report(d, e, &x->w, &t->c, true);
    if (DH_UNLIKELY(dh_marks_exceed(&x->r, &t->c)))
        dh_marks_report(d, e, &x->r, &t->c, false);
    dh_marks_set(d, &x->w, t->tid, t->clock, e->site);
    dh_vc_copy(d, &x->last, &t->c);
    x->tid = t->tid;
    x->clock = t->clock;
    dh_hb_tick(t);
}

static void soon(const struct dh_event *e, const void *cell)
{
    const struct cell *x = cell;
    __builtin_prefetch(x->w.m, 1);
    dh_marks_soon(&x->r, e->thread);
}

static void drop(struct dh_detector *d, void *cell)
{
    struct cell *x = cell;
    dh_marks_drop(d, &x->r);
    dh_marks_drop(d, &x->w);
    dh_vc_drop(d, &x->last);
}

const struct dh_detector_ops dh_detector_shb = {
    .name = "shb",
    .paper = "Mathur, Kini, Viswanathan: What Happens-After the First Race? (OOPSLA 2018)",
    .guarantee = DH_PREDICTIVE_SOUND,
    .summary = "happens-before plus write-to-read order; every reported race is real, not only the first",
    .thread_size = sizeof(struct dh_hb_thread),
    .lock_size = sizeof(struct dh_hb_lock),
    .cell_size = sizeof(struct cell),
    DH_HB_FULL,
    .read = read,
    .write = write,
    .soon = soon,
    .cell_drop = drop,
};
