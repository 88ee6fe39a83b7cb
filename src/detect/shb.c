/*
 * shb.c - schedulable happens-before: happens-before plus an edge from each write to the reads that see it.
 *
 * Paper: Mathur, Kini, Viswanathan, "What Happens-After the First Race? Enhancing the Predictive Power of
 * Happens-Before Based Dynamic Race Detection", OOPSLA 2018.
 *
 * Guarantee: predictive-sound for every race it reports, not only the first: what is ordered before either
 * access, executed in the order of the trace, leaves both next. That is the witness; it needs the trace, so
 * `analyze` produces it in a second pass (confirm.h). Threads that communicate by relaxed atomics are an
 * exception: by the order, and by C, they race, but no interleaving in which every load sees what it saw
 * shows it, so they get no witness.
 *
 * It reports an access if and only if it is unordered with an earlier conflicting one, the edge into the
 * access itself not counted. Departures: a clock is advanced after each write, since a write publishes what
 * its thread knows. The vector of the last write is kept as it was when written; it is joined only if its
 * epoch is new to the reader. Atomic accesses are not shown to it.
 */
#include "detect/hb.h"

struct cell {
    struct dh_rw rw;
    struct dh_vc last; /* clock of the last write */
    u32 tid, clock;    /* its epoch; clock 0: none yet */
};

static void read(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    struct dh_hb_thread *t = thread;
    struct cell *x = cell;
    dh_rw_check_read(d, e, &x->rw, &t->c);
    dh_marks_add(d, &x->rw.r, &t->c, t->tid, t->clock, e->site);
    if (x->clock > dh_vc_get(&t->c, x->tid))
        dh_vc_join(d, &t->c, &x->last);
}

static void write(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    struct dh_hb_thread *t = thread;
    struct cell *x = cell;
    dh_rw_check_write(d, e, &x->rw, &t->c);
    dh_marks_add(d, &x->rw.w, &t->c, t->tid, t->clock, e->site);
    dh_vc_copy(d, &x->last, &t->c);
    x->tid = t->tid;
    x->clock = t->clock;
    dh_hb_tick(d, t);
}

static void drop(struct dh_detector *d, void *cell)
{
    struct cell *x = cell;
    dh_rw_drop(d, &x->rw);
    dh_vc_drop(d, &x->last);
}

static void copy(struct dh_detector *d, void *to, const void *from)
{
    struct cell *x = to;
    const struct cell *old = from;
    dh_rw_copy(d, &x->rw, &old->rw);
    if (dh_vc_copy(d, &x->last, &old->last)) {
        x->tid = old->tid;
        x->clock = old->clock;
    }
}

const struct dh_detector_ops dh_detector_shb = {
    .name = "shb",
    .paper = "Mathur, Kini, Viswanathan: What Happens-After the First Race? (OOPSLA 2018)",
    .guarantee = DH_PREDICTIVE_SOUND,
    .summary = "happens-before plus write-to-read order; every reported race is real, not only the first",
    .cell_size = sizeof(struct cell),
    DH_HB_FULL,
    .read = read,
    .write = write,
    .soon = dh_rw_soon,
    .cell_drop = drop,
    .cell_copy = copy,
    .plain_only = true,
};
