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
    struct lasts *by_thread;
    u32 n;
};

/* Is there nothing new in this access? */
static bool covered(const struct last *l, u32 clock, bool bare)
{
    return l->clock == clock && (l->bare || !bare);
}

static void check(struct dh_detector *d, const struct dh_event *e, const struct last *l, u32 tid,
                  const struct dh_vc *c, bool bare, bool write)
{
    if (l->clock > dh_vc_get(c, tid) && (bare || l->bare))
        dh_detect_race(d, e, tid, l->site, write);
}

static void access(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    struct dh_hybrid_thread *t = thread;
    struct cell *x = cell;
    bool write = e->op == DH_OP_WRITE, bare = dh_held_for(&t->held, e) == 0;
    u32 tid = t->hb.tid;
    if (!DH_ROOM(d, x->by_thread, x->n, tid))
        return;
    struct last *own = write ? &x->by_thread[tid].w : &x->by_thread[tid].r;
    if (covered(own, t->hb.clock, bare))
        return;
    for (u32 i = 0; i < x->n; i++) {
        check(d, e, &x->by_thread[i].w, i, &t->hb.c, bare, true);
        if (write)
            check(d, e, &x->by_thread[i].r, i, &t->hb.c, bare, false);
    }
    *own = (struct last){.clock = t->hb.clock, .site = e->site, .bare = bare};
}

static void soon(const struct dh_event *e, const void *cell)
{
    const struct cell *x = cell;
    if (e->thread < x->n)
        __builtin_prefetch(&x->by_thread[e->thread], 1);
}

static void copy(struct dh_detector *d, void *to, const void *from)
{
    struct cell *x = to;
    const struct cell *y = from;
    x->by_thread = dh_detect_dup(d, y->by_thread, y->n * sizeof(*y->by_thread));
    x->n = x->by_thread ? y->n : 0;
}

static void drop(struct dh_detector *d, void *cell)
{
    struct cell *x = cell;
    dh_detect_free(d, x->by_thread, x->n * sizeof(*x->by_thread));
    *x = (struct cell){0};
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
