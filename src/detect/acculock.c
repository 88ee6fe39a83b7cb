/*
 * acculock.c - AccuLock: epochs and one lockset for the writes of a variable, one lockset per reading thread.
 *
 * Paper: Xie and Xue, "Acculock: Accurate and Efficient Detection of Data Races", CGO 2011, as described in
 * Yu et al., ETRI Journal 2017, section III.2.A. Guarantee: hybrid. Finds every variable with a
 * happens-before race, and races of other schedules; false alarms where threads are ordered by something it
 * does not see, and where writes share locks pairwise but not all together (nested locks). Departures:
 * accesses of one epoch whose locks include those already recorded are skipped; otherwise their sets are
 * intersected; for reads too only the last set is kept, as in the paper.
 */
#include "detect/hybrid.h"

struct last_read {
    u32 clock;
    u32 set;
    u32 site;
};

struct cell {
    u32 w_tid, w_clock; /* epoch of the last write; clock 0: none */
    u32 w_set;          /* locks common to the last writes that are not ordered */
    u32 w_site;
    struct dh_by_thread reads; /* of struct last_read */
    struct dh_hybrid_all all_reads;
};

static void check_write(struct dh_detector *d, const struct dh_event *e, struct dh_hybrid_thread *t,
                        struct cell *x, u32 held)
{
    if (x->w_clock > dh_vc_get(&t->hb.c, x->w_tid) && dh_lockset_disjoint(d->own, x->w_set, held))
        dh_detect_race(d, e, x->w_tid, x->w_site, true);
}

static void check_reads(struct dh_detector *d, const struct dh_event *e, struct dh_hybrid_thread *t,
                        struct cell *x, u32 held)
{
    struct dh_by_thread_run run;
    bool concurrent = false;
    u32 reported = 0;
    if (dh_hybrid_all_safe(d, &x->all_reads, t, held))
        return;
    for (u32 i = 0; reported < DH_RACES_OF_ACCESS && dh_by_thread_run(&x->reads, i, &run); i++) {
        const struct last_read *r = run.items;
        for (u32 k = 0; k < run.n && reported < DH_RACES_OF_ACCESS; k++) {
            if (!r[k].clock || r[k].clock <= dh_vc_get(&t->hb.c, run.first + k))
                continue;
            concurrent = true;
            if (dh_lockset_disjoint(d->own, r[k].set, held)) {
                dh_detect_race(d, e, run.first + k, r[k].site, false);
                reported++;
            }
        }
    }
    if (!concurrent)
        dh_hybrid_all_within(&x->all_reads, t);
}

static void read(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    struct dh_hybrid_thread *t = thread;
    struct cell *x = cell;
    u32 tid = t->hb.tid, held = t->held.any;
    struct last_read *r = dh_by_thread_get(&x->reads, tid, sizeof(*r));
    if (r && r->clock == t->hb.clock && r->set == held)
        return;
    check_write(d, e, t, x, held);
    dh_hybrid_all_add(d, &x->all_reads, t, held);
    if (!r)
        r = dh_by_thread_at(d, &x->reads, tid, sizeof(*r));
    if (r)
        *r = (struct last_read){.clock = t->hb.clock, .set = held, .site = e->site};
}

static void write(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    struct dh_hybrid_thread *t = thread;
    struct cell *x = cell;
    u32 tid = t->hb.tid, held = t->held.exclusive;
    bool same_epoch = x->w_tid == tid && x->w_clock == t->hb.clock;
    if (same_epoch && dh_lockset_within(d->own, x->w_set, held))
        return;
    check_write(d, e, t, x, held);
    check_reads(d, e, t, x, held);
    bool ordered = !same_epoch && x->w_clock <= dh_vc_get(&t->hb.c, x->w_tid);
    x->w_set = ordered ? held : dh_lockset_meet(d->own, x->w_set, held);
    x->w_tid = tid;
    x->w_clock = t->hb.clock;
    x->w_site = e->site;
}

static void soon(const struct dh_event *e, const void *cell)
{
    const struct cell *x = cell;
    dh_by_thread_soon(&x->reads, e->thread, sizeof(struct last_read));
}

static void copy(struct dh_detector *d, void *to, const void *from)
{
    struct cell *x = to;
    const struct cell *old = from;
    *x = *old;
    x->reads = (struct dh_by_thread){0};
    dh_by_thread_copy(d, &x->reads, &old->reads, sizeof(struct last_read));
}

static void drop(struct dh_detector *d, void *cell)
{
    struct cell *x = cell;
    dh_by_thread_drop(d, &x->reads, sizeof(struct last_read));
}

const struct dh_detector_ops dh_detector_acculock = {
    .name = "acculock",
    .paper = "Xie, Xue: Acculock (CGO 2011)",
    .guarantee = DH_HYBRID,
    .summary = "relaxed happens-before plus locksets, in little space; false alarms with nested locks",
    .cell_size = sizeof(struct cell),
    DH_HYBRID_ALL,
    .read = read,
    .write = write,
    .soon = soon,
    .cell_drop = drop,
    .cell_copy = copy,
};
