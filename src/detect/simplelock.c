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
    struct dh_hybrid_all all_r, all_w;
};

/* As a lockset: one lock stands for any. */
enum { BARE, HELD };

/* Is there nothing new in this access? */
static bool covered(const struct last *l, u32 clock, bool bare)
{
    return l->clock == clock && (l->bare || !bare);
}

/* The last accesses of one kind, by all threads. */
static void check(struct dh_detector *d, const struct dh_event *e, const struct dh_hybrid_thread *t,
                  struct cell *x, bool bare, bool write)
{
    struct dh_hybrid_all *all = write ? &x->all_w : &x->all_r;
    struct dh_by_thread_run run;
    bool concurrent = false;
    u32 reported = 0;
    if (dh_hybrid_all_safe(d, all, t, bare ? BARE : HELD))
        return;
    for (u32 i = 0; reported < DH_RACES_OF_ACCESS && dh_by_thread_run(&x->lasts, i, &run); i++) {
        const struct lasts *lasts = run.items;
        for (u32 k = 0; k < run.n && reported < DH_RACES_OF_ACCESS; k++) {
            const struct last *l = write ? &lasts[k].w : &lasts[k].r;
            if (!l->clock || l->clock <= dh_vc_get(&t->hb.c, run.first + k))
                continue;
            concurrent = true;
            if (bare || l->bare) {
                dh_detect_race(d, e, run.first + k, l->site, write);
                reported++;
            }
        }
    }
    if (!concurrent)
        dh_hybrid_all_within(all, t);
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
    check(d, e, t, x, bare, true);
    if (write)
        check(d, e, t, x, bare, false);
    dh_hybrid_all_add(d, write ? &x->all_w : &x->all_r, t, bare ? BARE : HELD);
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
    x->all_r = y->all_r;
    x->all_w = y->all_w;
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
