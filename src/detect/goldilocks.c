/*
 * goldilocks.c - Goldilocks: which threads may access a variable is a set of threads and locks, extended by
 * synchronisation.
 *
 * Paper: Elmas, Qadeer, Tasiran, "Goldilocks: A Race and Transaction-Aware Java Runtime", PLDI 2007, section
 * 4. Guarantee: precise for the first race of each variable, as with FastTrack: only the last write and the
 * last read of each thread since are remembered.
 *
 * An access by t gives the set {t}. A release of m by a member adds m; an acquisition of a member m adds the
 * thread; fork, join, volatiles and barriers likewise. So every synchronisation is a step "every set that
 * contains `from` now also contains `to`". An access does not race with an earlier one if its thread is in
 * the earlier one's set.
 *
 * Departures: the paper evaluates sets lazily, by walking a list of the steps for each variable, and has
 * short circuits to avoid that (section 5). The walks of all variables together are quadratic in the trace;
 * here all sets are always up to date (goldilocks_sets.h), and no short circuits are needed. Transactions and
 * the unsound shortcut for thread-local data are left out. C11's atomics are added: a store removes what was
 * published from its object before it publishes, and fences work through two elements of their thread.
 */
#include "detect/goldilocks_sets.h"

struct thread {
    u32 tid;
    u32 self;         /* as an element */
    bool fenced, saw; /* it made a release fence; relaxed loads since it began */
};

struct lock {
    u32 entered, left; /* barrier: as in hb.h */
    u32 round;         /* barrier: the one being left; the next is being entered */
    bool readers;      /* it was ever held for reading */
    bool published;    /* an atomic object: it has something published */
};

/* Reads are kept in order of arrival. `places` tells where a thread's read is: an entry is valid if it is
 * below n and the read there is of this thread, so that a write need not clear it. */
struct cell {
    struct dh_gold_set w;
    struct dh_gold_set *reads;  /* the last of each thread since that write */
    struct dh_by_thread places; /* of u32 */
    u32 n, cap;
};

static u32 element(struct dh_detector *d, u32 id, u32 kind)
{
    return dh_gold_element(d->own, id, kind);
}

static void init(struct dh_detector *d)
{
    ((struct dh_gold_sets *)d->own)->d = d;
}

static void thread_init(struct dh_detector *d, void *thread, u32 tid)
{
    struct thread *t = thread;
    t->tid = tid;
    t->self = element(d, tid, DH_GOLD_THREAD);
}

static bool admits(struct dh_detector *d, const struct thread *t, const struct dh_gold_set *s)
{
    return !s->thread || dh_gold_has(d->own, s, t->self);
}

static void check(struct dh_detector *d, const struct dh_event *e, const struct thread *t,
                  const struct dh_gold_set *s, bool write)
{
    if (DH_UNLIKELY(!admits(d, t, s)))
        dh_detect_race(d, e, s->thread - 1, s->site, write);
}

/* The set of the thread's last read since the last write, created if necessary. NULL: no memory. */
static struct dh_gold_set *read_of(struct dh_detector *d, struct cell *x, const struct thread *t)
{
    u32 *place = dh_by_thread_at(d, &x->places, t->tid, sizeof(*place));
    if (!place)
        return NULL;
    if (*place < x->n && x->reads[*place].thread == t->tid + 1)
        return &x->reads[*place];
    if (!DH_ROOM(d, x->reads, x->cap, x->n))
        return NULL;
    *place = x->n++;
    return &x->reads[*place];
}

static void read(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    struct thread *t = thread;
    struct cell *x = cell;
    check(d, e, t, &x->w, true);
    struct dh_gold_set *s = read_of(d, x, t);
    if (s)
        *s = dh_gold_start(d->own, t->self, e->site);
}

/* Reads that race with e, in the order of their threads. They are done with, so they may change places. */
static DH_COLD void report_reads(struct dh_detector *d, const struct dh_event *e, struct dh_gold_set *reads,
                                 u32 n)
{
    for (u32 i = 1; i < n; i++) {
        struct dh_gold_set s = reads[i];
        u32 at = i;
        for (; at > 0 && reads[at - 1].thread > s.thread; at--)
            reads[at] = reads[at - 1];
        reads[at] = s;
    }
    for (u32 i = 0; i < n; i++)
        dh_detect_race(d, e, reads[i].thread - 1, reads[i].site, false);
}

static void write(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    struct thread *t = thread;
    struct cell *x = cell;
    check(d, e, t, &x->w, true);
    u32 racing = 0;
    for (u32 i = 0; i < x->n; i++) {
        if (DH_LIKELY(admits(d, t, &x->reads[i])))
            continue;
        struct dh_gold_set s = x->reads[i];
        x->reads[i] = x->reads[racing];
        x->reads[racing++] = s;
    }
    if (DH_UNLIKELY(racing))
        report_reads(d, e, x->reads, racing);
    x->n = 0; /* what races with them from here on races with this write */
    x->w = dh_gold_start(d->own, t->self, e->site);
}

static void soon(const struct dh_event *e, const void *cell)
{
    const struct cell *x = cell;
    if (e->op == DH_OP_READ) {
        dh_by_thread_soon(&x->places, e->thread, sizeof(u32));
        return;
    }
    const char *reads = (const char *)x->reads; /* a write goes through all of them */
    for (size_t at = 0; at < x->n * sizeof(*x->reads) && at < 1024; at += 64)
        __builtin_prefetch(reads + at, 1);
}

static void copy(struct dh_detector *d, void *to, const void *from)
{
    struct cell *x = to;
    const struct cell *old = from;
    x->w = old->w;
    dh_by_thread_copy(d, &x->places, &old->places, sizeof(u32));
    x->reads = dh_detect_dup(d, old->reads, old->cap * sizeof(*x->reads));
    x->cap = x->reads ? old->cap : 0;
    x->n = x->reads ? old->n : 0;
}

static void drop(struct dh_detector *d, void *cell)
{
    struct cell *x = cell;
    dh_detect_free(d, x->reads, x->cap * sizeof(*x->reads));
    dh_by_thread_drop(d, &x->places, sizeof(u32));
    *x = (struct cell){0};
}

static void give(struct dh_detector *d, u32 from, u32 to)
{
    dh_gold_give(d->own, from, to);
}

static void acquire(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    struct thread *t = thread;
    struct lock *l = lock;
    if (!l)
        return;
    give(d, element(d, e->target, DH_GOLD_LOCK), t->self);
    if (l->readers && e->mode == DH_EXCLUSIVE)
        give(d, element(d, e->target, DH_GOLD_READERS), t->self);
}

static void release(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    struct thread *t = thread;
    struct lock *l = lock;
    if (!l)
        return;
    give(d, t->self, element(d, e->target, e->mode == DH_SHARED ? DH_GOLD_READERS : DH_GOLD_LOCK));
    l->published = true;
    l->readers |= e->mode == DH_SHARED;
}

static void on_fork(struct dh_detector *d, const struct dh_event *e, void *thread, void *other)
{
    (void)thread, (void)other;
    give(d, element(d, e->thread, DH_GOLD_THREAD), element(d, e->target, DH_GOLD_THREAD));
}

static void on_join(struct dh_detector *d, const struct dh_event *e, void *thread, void *other)
{
    (void)thread, (void)other;
    give(d, element(d, e->target, DH_GOLD_THREAD), element(d, e->thread, DH_GOLD_THREAD));
}

static void publish(struct dh_detector *d, const struct dh_event *e, struct lock *l)
{
    if (l)
        l->published = true;
    give(d, element(d, e->thread, DH_GOLD_THREAD), element(d, e->target, DH_GOLD_LOCK));
}

static void learn(struct dh_detector *d, const struct dh_event *e)
{
    give(d, element(d, e->target, DH_GOLD_LOCK), element(d, e->thread, DH_GOLD_THREAD));
}

static void volatile_access(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    (void)thread;
    if (e->mode & DH_WRITE)
        publish(d, e, lock);
    else
        learn(d, e);
}

/* What a thread's release fence published, and what its relaxed loads saw. */
static u32 fence_element(struct dh_detector *d, const struct thread *t, bool seen)
{
    return element(d, t->tid * 2 + seen, DH_GOLD_FENCE);
}

static bool acquires(u8 order)
{
    return order != DH_RELAXED && order != DH_RELEASE;
}

static void fence(struct dh_detector *d, const struct dh_event *e, struct thread *t)
{
    if (acquires(e->mode) && t->saw)
        give(d, fence_element(d, t, true), t->self);
    if (e->mode >= DH_RELEASE) {
        give(d, t->self, fence_element(d, t, false));
        t->fenced = true;
    }
}

static void atomic_load(struct dh_detector *d, const struct dh_event *e, struct thread *t,
                        const struct lock *l)
{
    if (!l->published)
        return;
    if (acquires(e->mode)) {
        learn(d, e);
    } else {
        give(d, element(d, e->target, DH_GOLD_LOCK), fence_element(d, t, true));
        t->saw = true;
    }
}

/* A plain store heads a new release sequence; a read-modify-write continues the one it finds. */
static void atomic_store(struct dh_detector *d, const struct dh_event *e, struct thread *t, struct lock *l)
{
    u32 object = element(d, e->target, DH_GOLD_LOCK);
    if (e->op == DH_OP_ATOMIC_STORE && l->published) {
        give(d, object, DH_GOLD_NOBODY);
        l->published = false;
    }
    if (e->mode < DH_RELEASE && !t->fenced)
        return;
    give(d, e->mode >= DH_RELEASE ? t->self : fence_element(d, t, false), object);
    l->published = true;
}

static void atomic(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    if (e->op == DH_OP_FENCE) {
        fence(d, e, thread);
        return;
    }
    if (lock && e->op != DH_OP_ATOMIC_STORE)
        atomic_load(d, e, thread, lock);
    if (lock && e->op != DH_OP_ATOMIC_LOAD)
        atomic_store(d, e, thread, lock);
}

/* Two elements for a barrier, used alternately: a thread that is slow to leave one round must not acquire
 * from the next. */
static u32 round_element(struct dh_detector *d, const struct dh_event *e, u32 round)
{
    return element(d, e->target, round & 1 ? DH_GOLD_LOCK : DH_GOLD_READERS);
}

static void barrier_enter(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    (void)thread;
    struct lock *b = lock;
    if (!b)
        return;
    give(d, element(d, e->thread, DH_GOLD_THREAD), round_element(d, e, b->round + 1));
    b->entered++;
}

static void barrier_leave(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    (void)thread;
    struct lock *b = lock;
    if (!b)
        return;
    if (b->left == 0) {
        b->round++;
        b->left = b->entered;
        b->entered = 0;
    }
    give(d, round_element(d, e, b->round), element(d, e->thread, DH_GOLD_THREAD));
    if (b->left)
        b->left--;
}

const struct dh_detector_ops dh_detector_goldilocks = {
    .name = "goldilocks",
    .paper = "Elmas, Qadeer, Tasiran: Goldilocks (PLDI 2007)",
    .guarantee = DH_PRECISE,
    .summary =
        "happens-before as sets of threads and locks handed on; finds the first race of every racy variable",
    .own_size = sizeof(struct dh_gold_sets),
    .thread_size = sizeof(struct thread),
    .lock_size = sizeof(struct lock),
    .cell_size = sizeof(struct cell),
    .init = init,
    .thread_init = thread_init,
    .read = read,
    .write = write,
    .acquire = acquire,
    .release = release,
    .fork = on_fork,
    .join = on_join,
    .volatile_access = volatile_access,
    .atomic = atomic,
    .barrier_enter = barrier_enter,
    .barrier_leave = barrier_leave,
    .soon = soon,
    .cell_drop = drop,
    .cell_copy = copy,
};
