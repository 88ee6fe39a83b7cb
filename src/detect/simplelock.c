/*
 * simplelock.c - SimpleLock+: instead of locksets, one bit: was any lock held?
 *
 * Paper: Yu and Bae, "SimpleLock+: Fast and Accurate Hybrid Data Race Detection", The Computer Journal 59(6),
 * 2016, as described in Yu et al., ETRI Journal 2017, section III.2.B. Guarantee: hybrid. Reports two
 * accesses that no explicit synchronisation orders if at least one of them held no lock. Misses races between
 * accesses under different locks, and those of epochs before a thread's last one on the variable. Departures:
 * none known.
 */
#include "detect/hybrid.h"

/* The accesses of one kind by one thread in its last epoch on this variable. */
struct last {
    u32 clock;
    u32 site;
    bool bare; /* at least one of them held no lock; `site` is then one of those */
};

struct lasts {
    struct last r;
    struct last w;
};

struct cell {
    struct dh_by_thread lasts; /* of struct lasts */
};

/* Is there nothing new in this access? */
static bool covered(const struct last *l, u32 clock, bool bare)
{
    return l->clock == clock && (l->bare || !bare);
}

static void check(struct dh_detector *d, const struct dh_event *e, const struct last *l, u32 tid,
                  const struct dh_vc *c, bool bare, bool write)
{
    if (l->clock && (bare || l->bare) && l->clock > dh_vc_get(c, tid))
        dh_detect_race(d, e, tid, l->site, write);
}

static void check_run(struct dh_detector *d, const struct dh_event *e, const struct dh_by_thread_run *run,
                      const struct dh_vc *c, bool bare)
{
    const struct lasts *lasts = run->items;
    for (u32 i = 0; i < run->n; i++) {
        check(d, e, &lasts[i].w, run->first + i, c, bare, true);
        if (e->op == DH_OP_WRITE)
            check(d, e, &lasts[i].r, run->first + i, c, bare, false);
    }
}

static void access(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    struct dh_hybrid_thread *t = thread;
    struct cell *x = cell;
    bool write = e->op == DH_OP_WRITE, bare = dh_held_for(&t->held, e) == 0;
    u32 tid = t->hb.tid;
    struct lasts *lasts = dh_by_thread_at(d, &x->lasts, tid, sizeof(*lasts));
    if (!lasts)
        return;
    struct last *own = write ? &lasts->w : &lasts->r;
    if (covered(own, t->hb.clock, bare))
        return;
    struct dh_by_thread_run run;
    for (u32 i = 0; dh_by_thread_run(&x->lasts, i, &run); i++)
        check_run(d, e, &run, &t->hb.c, bare);
    *own = (struct last){.clock = t->hb.clock, .site = e->site, .bare = bare};
}

static void soon(const struct dh_event *e, const void *cell)
{
    const struct cell *x = cell;
    dh_by_thread_soon(&x->lasts, e->thread, sizeof(struct lasts));
}

static void copy(struct dh_detector *d, void *to, const void *from)
{
    struct cell *x = to;
    const struct cell *y = from;
    dh_by_thread_copy(d, &x->lasts, &y->lasts, sizeof(struct lasts));
}

static void drop(struct dh_detector *d, void *cell)
{
    struct cell *x = cell;
    dh_by_thread_drop(d, &x->lasts, sizeof(struct lasts));
}

const struct dh_detector_ops dh_detector_simplelock = {
    .name = "simplelock",
    .paper = "Yu, Bae: SimpleLock+ (The Computer Journal 2016)",
    .guarantee = DH_HYBRID,
    .summary = "relaxed happens-before plus one bit per access; misses races under different locks",
    .cell_size = sizeof(struct cell),
    DH_HYBRID_ALL,
    .read = access,
    .write = access,
    .soon = soon,
    .cell_drop = drop,
    .cell_copy = copy,
};
