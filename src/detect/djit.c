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

static void read(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    struct dh_hb_thread *t = thread;
    struct dh_rw *x = cell;
    if (dh_marks_get(&x->r, t->tid) == t->clock)
        return; /* READ SAME EPOCH */
    dh_rw_check_read(d, e, x, &t->c);
    dh_marks_add(d, &x->r, &t->c, t->tid, t->clock, e->site);
}

static void write(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    struct dh_hb_thread *t = thread;
    struct dh_rw *x = cell;
    if (dh_marks_get(&x->w, t->tid) == t->clock)
        return; /* WRITE SAME EPOCH */
    dh_rw_check_write(d, e, x, &t->c);
    dh_marks_add(d, &x->w, &t->c, t->tid, t->clock, e->site);
}

const struct dh_detector_ops dh_detector_djit = {
    .name = "djit",
    .paper = "Pozniansky, Schuster: Efficient on-the-fly data race detection (PPoPP 2003): DJIT+",
    .guarantee = DH_PRECISE,
    .summary =
        "happens-before with vector clocks, one check per epoch; finds the first race of every racy variable",
    DH_HB_FULL,
    DH_RW_CELL,
    .read = read,
    .write = write,
};
