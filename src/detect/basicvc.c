/*
 * basicvc.c - the traditional detector: a vector of reads and one of writes per variable, compared at every
 * access.
 *
 * Paper: described in Flanagan and Freund, "FastTrack", CACM 53(11), 2010, sections 2.2 and 4.
 * Guarantee: precise, for every access: an access is reported if and only if it is concurrent with an earlier
 * conflicting access, and once for each thread with such an access (its last one). Departures: none.
 */
#include "detect/hb.h"

static void read(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    struct dh_hb_thread *t = thread;
    struct dh_rw *x = cell;
    dh_rw_check_read(d, e, x, &t->c);
    dh_marks_add(d, &x->r, &t->c, t->tid, t->clock, e->site);
}

static void write(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    struct dh_hb_thread *t = thread;
    struct dh_rw *x = cell;
    dh_rw_check_write(d, e, x, &t->c);
    dh_marks_add(d, &x->w, &t->c, t->tid, t->clock, e->site);
}

const struct dh_detector_ops dh_detector_basicvc = {
    .name = "basicvc",
    .paper = "Flanagan, Freund: FastTrack (CACM 2010), section 4; Mattern's vector clocks (1988)",
    .guarantee = DH_PRECISE,
    .summary = "happens-before with two vector clocks per variable; reports every racy access",
    DH_HB_FULL,
    DH_RW_CELL,
    .read = read,
    .write = write,
};
