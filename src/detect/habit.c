/*
 * habit.c - see habit.h. Happens-before is hb.h's. Memory use is that of a detector: the clocks, a pointer
 * for each variable, and 128 bytes for each variable accessed at the tracked places.
 */
#include "detect/habit.h"

#include <errno.h>
#include <string.h>

#include "base/tally.h"
#include "detect/hb.h"
#include "detect/renumber.h"

/* Every acquisition is compared for every tracked thread: with hundreds of thousands, tracking all of them
 * would take far longer than the detector. */
enum { PAIRS_OF_A_PLACE = 8, INDEX = 4 * DH_HABIT_PAIRS, ACTORS = 128 };
_Static_assert(DH_TALLY_KEYS <= 64, "a set of them is one word");

/* What a thread did last at one place of a pair. */
struct doing {
    u64 stretch;        /* 0: nothing */
    u64 locks;          /* that it held, of those that are tallied: a bit for each */
    u32 met, met_clock; /* the last observation in this stretch: the other thread, + 1, and its clock */
};

/* Two places, which may be the same. */
struct pair {
    u32 accesses;
    struct dh_tally locks, calls;
    struct {
        u32 site;
        u32 observations; /* in which this place came second; those that have no order count for both */
        struct dh_tally orders;
        struct doing *doing; /* by thread */
        u32 n_doing;
    } sides[2];
};

/* The last access to a variable at one place of a pair. */
struct last {
    u32 tid, clock; /* clock 0: there was none */
    u32 thread;     /* as it was fed */
    bool write;
    bool followed; /* what its thread teaches others */
    u64 locks;
};

/* Of one variable and one pair. */
struct memory {
    struct memory *next;
    struct pair *pair;
    struct last last[2];
};

struct held {
    u32 lock, site;
};

struct thread {
    struct dh_hb_thread hb;
    struct held *held;
    u32 n_held, cap_held;
    u32 changes; /* of what it holds */
    u32 *taught; /* by thread: the object by which it last acquired from that one, + 1; 0: by other means */
    u32 n_taught;
    bool created;
    bool acts; /* it was at a tracked place, and is one of the first ACTORS that were */
};

struct own {
    struct dh_habit *races;
    u32 n, next;
    struct pair *pairs[DH_HABIT_PAIRS];
    u32 n_pairs;
    u32 index[INDEX];   /* by place, open addressing: one side of a pair (pair * 2 + side), + 1 */
    u32 actors[ACTORS]; /* threads that act */
    u32 known[ACTORS];  /* of each of them, before an acquisition */
    u32 n_actors;
    u32 newest;
};

/* ---- Places ---- */

static u32 hash(u32 site)
{
    return (u32)dh_hash64(site) & (INDEX - 1);
}

/* *ret_of_place: how many pairs sites[0] is part of, as far as was looked. */
static struct pair *find_pair(const struct own *o, const u32 sites[2], u32 *ret_of_place)
{
    *ret_of_place = 0;
    for (u32 at = hash(sites[0]); o->index[at]; at = (at + 1) & (INDEX - 1)) {
        struct pair *p = o->pairs[(o->index[at] - 1) / 2];
        u32 side = (o->index[at] - 1) % 2;
        if (p->sides[side].site != sites[0])
            continue;
        if (p->sides[!side].site == sites[1])
            return p;
        ++*ret_of_place;
    }
    return NULL;
}

static void index_side(struct own *o, u32 pair, u32 side)
{
    u32 at = hash(o->pairs[pair]->sides[side].site);
    while (o->index[at])
        at = (at + 1) & (INDEX - 1);
    o->index[at] = pair * 2 + side + 1;
}

/* False: no memory. */
static bool follow_pair(struct dh_detector *d, const u32 sites[2])
{
    struct own *o = d->own;
    const u32 turned[2] = {sites[1], sites[0]};
    u32 first, second;
    if (o->n_pairs == DH_HABIT_PAIRS || find_pair(o, sites, &first) || find_pair(o, turned, &second) ||
        first >= PAIRS_OF_A_PLACE || second >= PAIRS_OF_A_PLACE)
        return true;
    struct pair *p = dh_detect_alloc(d, sizeof(*p));
    if (!p)
        return false;
    p->sides[0].site = sites[0];
    p->sides[1].site = sites[1];
    o->pairs[o->n_pairs] = p;
    index_side(o, o->n_pairs, 0);
    if (sites[0] != sites[1])
        index_side(o, o->n_pairs, 1);
    o->n_pairs++;
    return true;
}

/* ---- What threads hold, and what they learn ---- */

/* False: there are too many. */
static bool note_actor(struct own *o, struct thread *t)
{
    if (t->acts)
        return true;
    if (o->n_actors == ACTORS)
        return false;
    o->actors[o->n_actors++] = t->hb.tid;
    return t->acts = true;
}

static void remember(struct own *o, const struct thread *t)
{
    for (u32 i = 0; i < o->n_actors; i++)
        o->known[i] = dh_vc_get(&t->hb.c, o->actors[i]);
}

/* What t knows beyond what is remembered was acquired from this object, + 1. */
static void learned(struct dh_detector *d, struct thread *t, u32 by)
{
    const struct own *o = d->own;
    for (u32 i = 0; i < o->n_actors; i++)
        if (dh_vc_get(&t->hb.c, o->actors[i]) > o->known[i] &&
            DH_ROOM(d, t->taught, t->n_taught, o->actors[i]))
            t->taught[o->actors[i]] = by;
}

static void drop_held(struct thread *t, u32 lock)
{
    for (u32 i = t->n_held; i-- > 0;) {
        if (t->held[i].lock != lock)
            continue;
        t->n_held--;
        memmove(&t->held[i], &t->held[i + 1], (t->n_held - i) * sizeof(*t->held));
        t->changes++;
        return;
    }
}

static void acquire(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    struct thread *t = thread;
    remember(d->own, t);
    dh_hb_acquire(d, e, thread, lock);
    learned(d, t, e->target + 1);
    drop_held(t, e->target); /* of which the release is missing */
    t->changes++;
    if (DH_ROOM(d, t->held, t->cap_held, t->n_held))
        t->held[t->n_held++] = (struct held){e->target, e->site};
}

static void release(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    drop_held(thread, e->target);
    dh_hb_release(d, e, thread, lock);
}

static void let_go(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    (void)d;
    (void)lock;
    drop_held(thread, e->target);
}

static void volatile_access(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    remember(d->own, thread);
    dh_hb_volatile(d, e, thread, lock);
    learned(d, thread, e->target + 1);
}

static void atomic(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    remember(d->own, thread);
    dh_hb_atomic(d, e, thread, lock);
    learned(d, thread, lock ? e->target + 1 : 0);
}

static void barrier_leave(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    remember(d->own, thread);
    dh_hb_barrier_leave(d, e, thread, lock);
    learned(d, thread, e->target + 1);
}

static void fork_thread(struct dh_detector *d, const struct dh_event *e, void *thread, void *other)
{
    struct own *o = d->own;
    struct thread *u = other;
    if (!u)
        return;
    remember(o, u);
    dh_hb_fork(d, e, thread, other);
    learned(d, u, 0);
    /* Higher numbers, and reused ones, are not those of the trace. */
    o->newest = e->target < DH_RENUMBER_FROM && !u->created ? e->target : DH_UNKNOWN;
    u->created = true;
}

static void join_thread(struct dh_detector *d, const struct dh_event *e, void *thread, void *other)
{
    remember(d->own, thread);
    dh_hb_join(d, e, thread, other);
    learned(d, thread, 0);
}

/* ---- Accesses ---- */

static u64 bit(u32 index)
{
    return index < DH_TALLY_KEYS ? 1ull << index : 0;
}

/* Counts an access; what its thread holds goes into *now. Two locks that were taken at one place count once.
 */
static void count_access(struct pair *p, const struct thread *t, struct doing *now)
{
    p->accesses++;
    for (u32 i = 0; i < t->n_held; i++) {
        bool again = false;
        for (u32 k = 0; k < i; k++)
            again |= t->held[k].site == t->held[i].site;
        now->locks |= bit(dh_tally_add(&p->locks, t->held[i].lock));
        if (!again)
            dh_tally_add(&p->calls, t->held[i].site);
    }
}

/* An access of t at this side, which may come after `before`. */
static void observe(struct pair *p, u32 side, const struct thread *t, const struct last *before, bool write,
                    struct doing *now)
{
    u32 tid = before->tid;
    if (!before->clock || !before->followed || tid == t->hb.tid || !(write || before->write) ||
        (now->met == tid + 1 && now->met_clock == before->clock))
        return;
    now->met = tid + 1;
    now->met_clock = before->clock;
    bool ordered = dh_vc_get(&t->hb.c, tid) >= before->clock;
    p->sides[side].observations++;
    p->sides[!side].observations += !ordered;
    if (ordered && tid < t->n_taught && t->taught[tid])
        dh_tally_add(&p->sides[side].orders, t->taught[tid] - 1);
}

/* The event of a race: what its accesses held. Nothing is known of the earlier one if another thread came
 * in between. */
static void note_races(struct dh_detector *d, const struct pair *p, u32 side, const struct doing *now,
                       const struct last *before)
{
    struct own *o = d->own;
    while (o->next < o->n && o->races[o->next].event < d->event)
        o->next++;
    for (u32 i = o->next; i < o->n && o->races[i].event == d->event; i++) {
        struct dh_habit *r = &o->races[i];
        if (r->pair || r->sites[0] != p->sides[side].site || r->sites[1] != p->sides[!side].site)
            continue;
        bool known = before->clock && before->thread == r->earlier;
        r->pair = p;
        r->before = p->accesses;
        r->newest = o->newest;
        r->locks[0] = now->locks;
        r->locks[1] = known ? before->locks : UINT64_MAX;
    }
}

static void answer(struct dh_habit *r, const struct pair *p)
{
    u32 lock = dh_tally_most(&p->locks, &r->held), call = dh_tally_most(&p->calls, &r->held_from);
    r->ordered = 0;
    for (u32 i = 0; i < 2; i++) {
        u32 n, order = dh_tally_most(&p->sides[i].orders, &n);
        if (n <= r->ordered)
            continue;
        r->ordered = n;
        r->order = (u32)p->sides[i].orders.keys[order];
        r->observations = p->sides[i].observations;
    }
    r->accesses = p->accesses;
    r->lock = (u32)p->locks.keys[lock];
    r->taken_at = (u32)p->calls.keys[call];
    for (u32 i = 0; i < 2; i++)
        r->lacks[i] = !(r->locks[i] & bit(lock));
}

static struct memory *memory_of(struct dh_detector *d, struct memory **cell, struct pair *p)
{
    struct memory *m = *cell;
    while (m && m->pair != p)
        m = m->next;
    if (m || !(m = dh_detect_alloc(d, sizeof(*m))))
        return m;
    *m = (struct memory){.next = *cell, .pair = p};
    return *cell = m;
}

/* At one place of a pair. thread: as it was fed. */
static void access_at(struct dh_detector *d, const struct dh_event *e, struct thread *t, struct memory **cell,
                      struct pair *p, u32 side, u32 thread)
{
    struct memory *m = memory_of(d, cell, p);
    u32 tid = t->hb.tid, other = p->sides[0].site == p->sides[1].site ? side : !side;
    u64 stretch = (u64)t->hb.clock << 32 | t->changes;
    bool write = e->op == DH_OP_WRITE;
    if (!m || !DH_ROOM(d, p->sides[side].doing, p->sides[side].n_doing, tid))
        return;
    struct doing *now = &p->sides[side].doing[tid];
    if (now->stretch != stretch) {
        *now = (struct doing){.stretch = stretch};
        count_access(p, t, now);
    }
    bool followed = note_actor(d->own, t);
    if (followed)
        observe(p, side, t, &m->last[other], write, now);
    note_races(d, p, side, now, &m->last[other]);
    m->last[side] = (struct last){.tid = tid,
                                  .clock = t->hb.clock,
                                  .thread = thread,
                                  .write = write,
                                  .followed = followed,
                                  .locks = now->locks};
}

static void on_access(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    const struct own *o = d->own;
    u32 who = e->thread, site = e->site;
    dh_host_origin(d->host, &who, &site);
    for (u32 at = hash(site); o->index[at]; at = (at + 1) & (INDEX - 1)) {
        struct pair *p = o->pairs[(o->index[at] - 1) / 2];
        u32 side = (o->index[at] - 1) % 2;
        if (p->sides[side].site == site)
            access_at(d, e, thread, cell, p, side, who);
    }
}

static void cell_drop(struct dh_detector *d, void *cell)
{
    for (struct memory *m = *(struct memory **)cell, *next; m; m = next) {
        next = m->next;
        dh_detect_free(d, m, sizeof(*m));
    }
}

static void cell_copy(struct dh_detector *d, void *to, const void *from)
{
    struct memory **end = to;
    for (const struct memory *m = *(struct memory *const *)from; m; m = m->next) {
        if (!(*end = dh_detect_dup(d, m, sizeof(*m))))
            return;
        (*end)->next = NULL;
        end = &(*end)->next;
    }
}

static const struct dh_detector_ops ops = {
    .name = "habit",
    .guarantee = DH_NO_GUARANTEE,
    .own_size = sizeof(struct own),
    .thread_size = sizeof(struct thread),
    .lock_size = sizeof(struct dh_hb_lock),
    .cell_size = sizeof(struct memory *),
    .thread_init = dh_hb_thread_init,
    .read = on_access,
    .write = on_access,
    .acquire = acquire,
    .release = release,
    .let_go = let_go,
    .fork = fork_thread,
    .join = join_thread,
    .volatile_access = volatile_access,
    .atomic = atomic,
    .barrier_enter = dh_hb_barrier_enter,
    .barrier_leave = barrier_leave,
    .cell_drop = cell_drop,
    .cell_copy = cell_copy,
};

int dh_habit_add(struct dh_host *h, struct dh_habit *races, u32 n)
{
    if (dh_host_add(h, &ops) != 0)
        return -ENOMEM;
    struct dh_detector *d = dh_host_last(h);
    struct own *o = d->own;
    o->races = races;
    o->n = n;
    o->newest = DH_UNKNOWN;
    for (u32 i = 0; i < n; i++) {
        DH_ASSERT(i == 0 || races[i - 1].event <= races[i].event);
        races[i].accesses = 0;
        races[i].pair = NULL;
        if (!follow_pair(d, races[i].sites))
            return -ENOMEM;
    }
    return 0;
}

void dh_habit_answer(struct dh_habit *races, u32 n)
{
    for (u32 i = 0; i < n; i++)
        if (races[i].pair)
            answer(&races[i], races[i].pair);
}
