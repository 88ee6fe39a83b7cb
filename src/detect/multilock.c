/*
 * multilock.c - MultiLock-HB: every access that could still matter is kept with its clock and lockset.
 *
 * Paper: Xie, Xue, Zhang, "Acculock: Accurate and Efficient Detection of Data Races", Software Practice and
 * Experience 43(5), 2013, as described in Yu et al., ETRI Journal 2017, section III.2.A. Guarantee: hybrid.
 * Two accesses are reported if no explicit synchronisation orders them and they hold no lock in common; such
 * a race may be impossible for reasons other than locks. The paper's optimisation: an access is redundant if
 * an access of the same thread and kind, in the same epoch, with fewer or the same locks is there already;
 * and a new access replaces older ones of its thread with the same or more locks, since whatever races with
 * those races with it. Bounded history: at most HISTORY entries per thread, kind and variable (the ETRI
 * study's 3000), then the oldest is dropped. It is never reached unless a thread accesses one variable under
 * that many incomparable locksets. Departures: the paper stops at the first race of a variable; this does
 * not.
 */
#include "detect/hybrid.h"

enum { HISTORY = 3000, INDEX_FROM = 64 };

struct entry {
    u32 tid;
    u32 clock; /* 0: another took its place */
    u32 set;
    u32 site;
    u32 before; /* the entry of this thread before it, + 1; 0: none. Only where there is an index */
};

/* Entries of all threads, older before newer. From INDEX_FROM on, those of a thread are found by an index. */
struct history {
    struct entry *entries;
    u32 n, cap;
    u32 gone;                   /* how many have no clock; none, without an index */
    struct dh_by_thread newest; /* of u32: the thread's last entry, + 1 */
    struct dh_hybrid_all all;
};

struct cell {
    struct history r;
    struct history w;
};

static bool is_indexed(const struct history *h)
{
    return h->newest.items != NULL;
}

/* The thread's own entries, newest first: each is the one before `i`, + 1. 0: there is no more. */
static u32 own_before(const struct history *h, u32 tid, u32 i)
{
    while (i-- > 0)
        if (h->entries[i].tid == tid)
            return i + 1;
    return 0;
}

static u32 own_newest(const struct history *h, u32 tid)
{
    if (!is_indexed(h))
        return own_before(h, tid, h->n);
    const u32 *newest = dh_by_thread_get(&h->newest, tid, sizeof(*newest));
    return newest ? *newest : 0;
}

static u32 own_next(const struct history *h, u32 i)
{
    const struct entry *x = &h->entries[i - 1];
    return is_indexed(h) ? x->before : own_before(h, x->tid, i - 1);
}

static bool is_redundant(struct dh_detector *d, const struct history *h, const struct entry *now)
{
    for (u32 i = own_newest(h, now->tid); i; i = own_next(h, i)) {
        const struct entry *old = &h->entries[i - 1];
        if (old->clock == now->clock && dh_lockset_within(d->own, old->set, now->set))
            return true;
    }
    return false;
}

static void check(struct dh_detector *d, const struct dh_event *e, struct history *h,
                  const struct dh_hybrid_thread *t, const struct entry *now, bool write)
{
    bool concurrent = false;
    u32 reported = 0;
    if (dh_hybrid_all_safe(d, &h->all, t, now->set))
        return;
    for (u32 i = 0; i < h->n && reported < DH_RACES_OF_ACCESS; i++) {
        const struct entry *old = &h->entries[i];
        if (old->clock <= dh_vc_get(&t->hb.c, old->tid))
            continue;
        concurrent = true;
        if (dh_lockset_disjoint(d->own, old->set, now->set)) {
            dh_detect_race(d, e, old->tid, old->site, write);
            reported++;
        }
    }
    if (!concurrent)
        dh_hybrid_all_within(&h->all, t);
}

/* Closes gaps, and builds the index if there are many entries. Without memory there is none. */
static void tidy(struct dh_detector *d, struct history *h)
{
    u32 kept = 0;
    for (u32 i = 0; i < h->n; i++)
        if (h->entries[i].clock)
            h->entries[kept++] = h->entries[i];
    h->n = kept;
    h->gone = 0;
    dh_by_thread_drop(d, &h->newest, sizeof(u32));
    for (u32 i = 0; h->n >= INDEX_FROM && i < h->n; i++) {
        u32 *newest = dh_by_thread_at(d, &h->newest, h->entries[i].tid, sizeof(*newest));
        if (!newest)
            break;
        h->entries[i].before = *newest;
        *newest = i + 1;
    }
}

/* Removes the thread's entries that the new one replaces, and the oldest if there are too many. */
static void make_way(struct dh_detector *d, struct history *h, const struct entry *now)
{
    struct entry *oldest = NULL;
    u32 kept = 0, next, nowhere = 0, *link = &nowhere, *to_oldest = NULL;
    if (is_indexed(h))
        link = dh_by_thread_get(&h->newest, now->tid, sizeof(*link));
    for (u32 i = own_newest(h, now->tid); i; i = next) {
        struct entry *old = &h->entries[i - 1];
        next = own_next(h, i);
        if (dh_lockset_within(d->own, now->set, old->set)) {
            old->clock = 0;
            *link = old->before;
            h->gone++;
        } else {
            oldest = old;
            to_oldest = link;
            link = &old->before;
            kept++;
        }
    }
    if (kept >= HISTORY) {
        oldest->clock = 0;
        *to_oldest = oldest->before;
        h->gone++;
    }
}

static void remember(struct dh_detector *d, struct history *h, const struct entry *now)
{
    make_way(d, h, now);
    if (!DH_ROOM(d, h->entries, h->cap, h->n))
        return;
    h->entries[h->n++] = *now;
    if (is_indexed(h)) {
        u32 *newest = dh_by_thread_at(d, &h->newest, now->tid, sizeof(*newest));
        if (newest) {
            h->entries[h->n - 1].before = *newest;
            *newest = h->n;
        }
    }
    if (is_indexed(h) ? h->gone > h->n / 2 : h->gone || h->n >= INDEX_FROM)
        tidy(d, h);
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
    check(d, e, &x->w, t, &now, true);
    if (write)
        check(d, e, &x->r, t, &now, false);
    dh_hybrid_all_add(d, &own->all, t, now.set);
    remember(d, own, &now);
}

static void soon(const struct dh_event *e, const void *cell)
{
    const struct cell *x = cell;
    const struct history *h = e->op == DH_OP_WRITE ? &x->w : &x->r;
    for (u32 i = 0; i < h->n && i < 16; i += 3) /* three to a line */
        __builtin_prefetch(&h->entries[i]);
}

static void copy_history(struct dh_detector *d, struct history *to, const struct history *from)
{
    to->entries = dh_detect_dup(d, from->entries, from->cap * sizeof(*from->entries));
    to->cap = to->entries ? from->cap : 0;
    if (!to->entries || !dh_by_thread_copy(d, &to->newest, &from->newest, sizeof(u32)))
        return;
    to->n = from->n;
    to->gone = from->gone;
    to->all = from->all;
}

static void copy(struct dh_detector *d, void *to, const void *from)
{
    struct cell *x = to;
    const struct cell *y = from;
    copy_history(d, &x->r, &y->r);
    copy_history(d, &x->w, &y->w);
}

static void drop_history(struct dh_detector *d, struct history *h)
{
    dh_detect_free(d, h->entries, h->cap * sizeof(*h->entries));
    dh_by_thread_drop(d, &h->newest, sizeof(u32));
}

static void drop(struct dh_detector *d, void *cell)
{
    struct cell *x = cell;
    drop_history(d, &x->r);
    drop_history(d, &x->w);
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
