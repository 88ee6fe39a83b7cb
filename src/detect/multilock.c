/*
 * multilock.c - MultiLock-HB: every access that could still matter is kept with its clock and lockset.
 *
 * Paper: Xie, Xue, Zhang, "Acculock: Accurate and Efficient Detection of Data Races", Software Practice and
 * Experience 43(5), 2013, as described in Yu et al., ETRI Journal 2017, section III.2.A. Guarantee: hybrid.
 * Two accesses are reported if no explicit synchronisation orders them and they hold no lock in common; such
 * a race may be impossible for reasons other than locks. The paper's optimisation: an access is redundant if
 * an access of the same thread and kind, in the same epoch, with fewer or the same locks is there already;
 * and a new access takes the place of older ones of its thread with the same or more locks, since whatever
 * races with those races with it. Bounded history: at most HISTORY entries a thread, kind and variable (the
 * ETRI study's 3000), then the oldest goes. It is never reached unless a thread accesses one variable under
 * that many incomparable locksets. Departures: the paper stops at the first race of a variable; here it goes
 * on.
 */
#include "detect/hybrid.h"

enum { HISTORY = 3000 };

struct entry {
    u32 tid;
    u32 clock;
    u32 set;
    u32 site;
};

/* Entries of all threads, older before newer. */
struct history {
    struct entry *entries;
    u32 n, cap;
};

struct cell {
    struct history r;
    struct history w;
};

static bool is_redundant(struct dh_detector *d, const struct history *h, const struct entry *now)
{
    for (u32 i = h->n; i-- > 0;) {
        const struct entry *old = &h->entries[i];
        if (old->tid == now->tid && old->clock == now->clock && dh_lockset_within(d->own, old->set, now->set))
            return true;
    }
    return false;
}

static void check(struct dh_detector *d, const struct dh_event *e, const struct history *h,
                  const struct dh_vc *c, const struct entry *now, bool write)
{
    for (u32 i = 0; i < h->n; i++) {
        const struct entry *old = &h->entries[i];
        if (old->clock > dh_vc_get(c, old->tid) && dh_lockset_disjoint(d->own, old->set, now->set))
            dh_detect_race(d, e, old->tid, old->site, write);
    }
}

static void remember(struct dh_detector *d, struct history *h, const struct entry *now)
{
    u32 kept = 0, own = 0, oldest = 0;
    for (u32 i = 0; i < h->n; i++) {
        const struct entry old = h->entries[i];
        if (old.tid == now->tid) {
            if (dh_lockset_within(d->own, now->set, old.set))
                continue; /* taken the place of */
            if (own++ == 0)
                oldest = kept;
        }
        h->entries[kept++] = old;
    }
    if (own >= HISTORY) {
        for (u32 i = oldest + 1; i < kept; i++)
            h->entries[i - 1] = h->entries[i];
        kept--;
    }
    h->n = kept;
    if (DH_ROOM(d, h->entries, h->cap, h->n))
        h->entries[h->n++] = *now;
}

static void access(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    struct dh_hybrid_thread *t = thread;
    struct cell *x = cell;
    bool write = e->op == DH_OP_WRITE;
    struct history *own = write ? &x->w : &x->r;
    struct entry now = {
        .tid = t->hb.tid, .clock = t->hb.clock, .set = dh_held_for(&t->held, e), .site = e->site};
    if (is_redundant(d, own, &now))
        return;
    check(d, e, &x->w, &t->hb.c, &now, true);
    if (write)
        check(d, e, &x->r, &t->hb.c, &now, false);
    remember(d, own, &now);
}

static void soon(const struct dh_event *e, const void *cell)
{
    const struct cell *x = cell;
    const struct history *h = e->op == DH_OP_WRITE ? &x->w : &x->r;
    for (u32 i = 0; i < h->n && i < 16; i += 4) /* four to a line */
        __builtin_prefetch(&h->entries[i]);
}

static void copy_history(struct dh_detector *d, struct history *to, const struct history *from)
{
    to->entries = dh_detect_dup(d, from->entries, from->cap * sizeof(*from->entries));
    to->n = to->entries ? from->n : 0;
    to->cap = to->entries ? from->cap : 0;
}

static void copy(struct dh_detector *d, void *to, const void *from)
{
    struct cell *x = to;
    const struct cell *y = from;
    copy_history(d, &x->r, &y->r);
    copy_history(d, &x->w, &y->w);
}

static void drop(struct dh_detector *d, void *cell)
{
    struct cell *x = cell;
    dh_detect_free(d, x->r.entries, x->r.cap * sizeof(struct entry));
    dh_detect_free(d, x->w.entries, x->w.cap * sizeof(struct entry));
    *x = (struct cell){0};
}

const struct dh_detector_ops dh_detector_multilock = {
    .name = "multilock",
    .paper = "Xie, Xue, Zhang: Acculock (Software: Practice and Experience 2013): MultiLock-HB",
    .guarantee = DH_HYBRID,
    .summary = "relaxed happens-before plus locksets, with the history of all accesses that still matter",
    .cell_size = sizeof(struct cell),
    DH_HYBRID_ALL,
    .read = access,
    .write = access,
    .soon = soon,
    .cell_drop = drop,
    .cell_copy = copy,
};
