/*
 * predict_oracle.c - see predict_oracle.h. Written for being obvious, not fast.
 */
#include "traces/predict_oracle.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, LOCKS = 4, CELLS = 4, PER_THREAD = 32, SEEN = 1 << 18 };

bool predict_conflict(const struct kit_trace *t, u32 i, u32 j)
{
    const struct dh_event *a = &t->events[i], *b = &t->events[j];
    bool both_atomic = a->mode & b->mode & DH_ATOMIC;
    return dh_event_is_access(a) && dh_event_is_access(b) && a->thread != b->thread &&
           a->target == b->target && (a->op == DH_OP_WRITE || b->op == DH_OP_WRITE) && !both_atomic;
}

/* The trace laid out for the search. All numbers of events are + 1; 0: none. */
struct layout {
    const struct kit_trace *t;
    u32 of[THREADS][PER_THREAD]; /* events of a thread; 0 after the last */
    u32 local[PREDICT_EVENTS];
    u32 from[PREDICT_EVENTS];                 /* the write a read saw */
    u32 joined[PREDICT_EVENTS];               /* events of the thread that a join waits for */
    u32 held[THREADS][PER_THREAD + 1];        /* bits of locks, by number of events done; */
    u32 read[THREADS][PER_THREAD + 1];        /* of those held in shared mode */
    u32 last[THREADS][PER_THREAD + 1][LOCKS]; /* last acquisition, by number of events done */
    bool preserving;
};

/* Where a reordering has got to: all that its future depends on. */
struct state {
    u8 done[THREADS];
    u8 writer[CELLS];
};

static u64 *seen; /* states met, marked with the search that met them; 0: free slot */
static u64 n_seen, search;
static struct state *stack;

static void lay_out(struct layout *l, const struct kit_trace *t)
{
    u32 done[THREADS] = {0}, writer[CELLS] = {0};
    if (t->n >= 32 || t->threads > THREADS || t->locks > LOCKS || t->cells > CELLS)
        abort();
    l->t = t;
    for (u32 i = 0; i < t->n; i++) {
        const struct dh_event *e = &t->events[i];
        u32 th = e->thread, k = done[th]++;
        if (k + 1 >= PER_THREAD)
            abort();
        l->of[th][k] = i + 1;
        l->local[i] = k;
        u32 *held = e->mode == DH_SHARED ? &l->read[th][k + 1] : &l->held[th][k + 1];
        l->held[th][k + 1] = l->held[th][k];
        l->read[th][k + 1] = l->read[th][k];
        memcpy(l->last[th][k + 1], l->last[th][k], sizeof(l->last[th][k]));
        if (e->op == DH_OP_ACQUIRE) {
            *held |= 1u << e->target;
            l->last[th][k + 1][e->target] = i + 1;
        } else if (e->op == DH_OP_RELEASE) {
            *held &= ~(1u << e->target);
        } else if (e->op == DH_OP_READ) {
            l->from[i] = writer[e->target];
        } else if (e->op == DH_OP_WRITE) {
            writer[e->target] = i + 1;
        } else if (e->op == DH_OP_JOIN) {
            l->joined[i] = done[e->target];
        }
    }
}

static bool happened(const struct layout *l, const struct state *s, u32 i)
{
    return l->local[i] < s->done[l->t->events[i].thread];
}

/* The next event of the thread, + 1, if what forks it has happened. */
static u32 next_of(const struct layout *l, const struct state *s, u32 th)
{
    u32 e = l->of[th][s->done[th]];
    for (u32 i = 0; i + 1 < e; i++) {
        if (l->t->events[i].op == DH_OP_FORK && l->t->events[i].target == th && !happened(l, s, i))
            return 0;
    }
    return e;
}

static bool can_acquire(const struct layout *l, const struct state *s, u32 i)
{
    u32 lock = l->t->events[i].target;
    bool shared = l->t->events[i].mode == DH_SHARED;
    for (u32 u = 0; u < THREADS; u++) {
        if (l->held[u][s->done[u]] & 1u << lock)
            return false;
        if (!shared && l->read[u][s->done[u]] & 1u << lock)
            return false;
        if (l->preserving && l->last[u][s->done[u]][lock] > i + 1)
            return false;
    }
    return true;
}

static bool can_join(const struct layout *l, const struct state *s, u32 i)
{
    u32 u = l->t->events[i].target;
    for (u32 k = 0; k < i; k++) {
        if (l->t->events[k].op == DH_OP_FORK && l->t->events[k].target == u && !happened(l, s, k))
            return false;
    }
    return s->done[u] >= l->joined[i];
}

static bool is_signal(const struct dh_event *e)
{
    return (e->op == DH_OP_VOLATILE && e->mode & DH_WRITE) || e->op == DH_OP_BARRIER_ENTER ||
           e->op == DH_OP_NOTIFY;
}

static bool is_wait(const struct dh_event *e)
{
    return (e->op == DH_OP_VOLATILE && !(e->mode & DH_WRITE)) || e->op == DH_OP_BARRIER_LEAVE ||
           e->op == DH_OP_WAIT;
}

/* Who waits finds the signals that it found in the trace, and no others. */
static bool can_wait(const struct layout *l, const struct state *s, u32 i)
{
    for (u32 k = 0; k < l->t->n; k++) {
        const struct dh_event *e = &l->t->events[k];
        if (is_signal(e) && e->target == l->t->events[i].target && happened(l, s, k) != (k < i))
            return false;
    }
    return true;
}

static bool step(const struct layout *l, struct state *s, u32 i)
{
    const struct dh_event *e = &l->t->events[i];
    if (e->op == DH_OP_ACQUIRE && !can_acquire(l, s, i))
        return false;
    if (e->op == DH_OP_JOIN && !can_join(l, s, i))
        return false;
    if (e->op == DH_OP_READ && s->writer[e->target] != l->from[i])
        return false;
    if (is_wait(e) && !can_wait(l, s, i))
        return false;
    if (e->op == DH_OP_WRITE)
        s->writer[e->target] = (u8)(i + 1);
    s->done[e->thread]++;
    return true;
}

/* Is there a circle of threads each of which waits for a lock of the next? */
static bool deadlocked(const struct layout *l, const struct state *s)
{
    for (u32 start = 0; start < THREADS; start++) {
        u32 th = start;
        for (u32 steps = 0; steps < THREADS; steps++) {
            u32 e = next_of(l, s, th), owner = THREADS;
            if (!e || l->t->events[e - 1].op != DH_OP_ACQUIRE)
                break;
            for (u32 u = 0; u < THREADS; u++) {
                if (u != th && l->held[u][s->done[u]] & 1u << l->t->events[e - 1].target)
                    owner = u;
            }
            if (owner == THREADS)
                break;
            if ((th = owner) == start)
                return true;
        }
    }
    return false;
}

static bool is_new(const struct state *s)
{
    u64 key = search;
    for (u32 i = 0; i < THREADS; i++)
        key = key << 5 | s->done[i];
    for (u32 i = 0; i < CELLS; i++)
        key = key << 5 | s->writer[i];
    u32 at = (u32)dh_hash64(key) & (SEEN - 1);
    for (; seen[at]; at = (at + 1) & (SEEN - 1)) {
        if (seen[at] == key)
            return false;
    }
    seen[at] = key;
    if (++n_seen == SEEN - 1)
        abort();
    return true;
}

static void note_pairs(struct predict_pairs *ret, const struct layout *l, const struct state *s)
{
    u32 next[THREADS];
    for (u32 th = 0; th < THREADS; th++)
        next[th] = next_of(l, s, th);
    for (u32 a = 0; a < THREADS; a++) {
        for (u32 b = 0; b < THREADS; b++) {
            if (next[a] && next[b] > next[a] && predict_conflict(l->t, next[a] - 1, next[b] - 1))
                ret->row[next[b] - 1] |= 1ull << (next[a] - 1);
        }
    }
}

void predict_search(struct predict_pairs *ret, const struct kit_trace *t, bool preserving)
{
    static struct layout l;
    u32 n = 0;
    if (!seen) {
        seen = kit_alloc(SEEN * sizeof(*seen));
        stack = kit_alloc(SEEN * THREADS * sizeof(*stack));
    }
    if (++search == 1 << 20 || n_seen > SEEN / 4) {
        memset(seen, 0, SEEN * sizeof(*seen));
        n_seen = 0;
        search = 1;
    }
    memset(&l, 0, sizeof(l));
    lay_out(&l, t);
    l.preserving = preserving;
    *ret = (struct predict_pairs){0};
    stack[n++] = (struct state){0};
    while (n) {
        struct state s = stack[--n];
        if (!is_new(&s))
            continue;
        note_pairs(ret, &l, &s);
        ret->deadlock |= deadlocked(&l, &s);
        for (u32 th = 0; th < THREADS; th++) {
            struct state after = s;
            u32 e = next_of(&l, &s, th);
            if (e && step(&l, &after, e - 1))
                stack[n++] = after;
        }
    }
}

/* The orders as rows of bits: bit i of row j says that i is before j. */
struct orders {
    const struct kit_trace *t;
    u64 hb[PREDICT_EVENTS];      /* with the event itself */
    u64 weak[PREDICT_EVENTS];    /* starts with fork and join */
    u64 section[PREDICT_EVENTS]; /* of an acquisition: the events of its section */
    u32 rel[PREDICT_EVENTS];     /* of an acquisition: its release, + 1 */
};

static bool fork_or_join(const struct kit_trace *t, u32 i, u32 j)
{
    const struct dh_event *a = &t->events[i], *b = &t->events[j];
    if ((a->op == DH_OP_FORK && a->target == b->thread) || (b->op == DH_OP_JOIN && b->target == a->thread))
        return true;
    return a->op == DH_OP_FORK && b->op == DH_OP_JOIN && a->target == b->target;
}

static void begin(struct orders *o)
{
    const struct kit_trace *t = o->t;
    for (u32 j = 0; j < t->n; j++) {
        const struct dh_event *b = &t->events[j];
        o->hb[j] = 1ull << j;
        for (u32 i = 0; i < j; i++) {
            const struct dh_event *a = &t->events[i];
            bool hard = fork_or_join(t, i, j);
            if (hard)
                o->weak[j] |= 1ull << i;
            if (hard || a->thread == b->thread ||
                (a->op == DH_OP_RELEASE && b->op == DH_OP_ACQUIRE && a->target == b->target))
                o->hb[j] |= o->hb[i];
        }
        if (b->op != DH_OP_ACQUIRE)
            continue;
        for (u32 k = j; k < t->n && !o->rel[j]; k++) {
            const struct dh_event *c = &t->events[k];
            if (c->thread == b->thread)
                o->section[j] |= 1ull << k;
            if (c->thread == b->thread && c->op == DH_OP_RELEASE && c->target == b->target)
                o->rel[j] = k + 1;
        }
    }
}

/* Bits of the second section that conflict with something in the first. */
static u64 conflicts(const struct orders *o, u64 first, u64 second)
{
    u64 found = 0;
    for (u32 i = 0; i < o->t->n; i++) {
        for (u32 j = i + 1; j < o->t->n; j++) {
            if (first >> i & 1 && second >> j & 1 && predict_conflict(o->t, i, j))
                found |= 1ull << j;
        }
    }
    return found;
}

/* Is something in the first section before something in the second? */
static bool any_before(const struct orders *o, u64 first, u64 second)
{
    for (u32 j = 0; j < o->t->n; j++) {
        if (second >> j & 1 && o->weak[j] & first)
            return true;
    }
    return false;
}

/* Rules (a) and (b) for the sections that begin at i < j. */
static void apply(struct orders *o, enum predict_order order, u32 i, u32 j)
{
    u64 rel = 1ull << (o->rel[i] - 1), both = conflicts(o, o->section[i], o->section[j]);
    bool ordered = any_before(o, o->section[i], o->section[j]);
    if (order == PREDICT_CP) {
        if (both || ordered)
            o->weak[j] |= rel;
        return;
    }
    for (u32 k = 0; k < o->t->n; k++) {
        if (both >> k & 1)
            o->weak[k] |= rel;
    }
    if (ordered && o->rel[j] && o->t->events[i].thread != o->t->events[j].thread)
        o->weak[o->rel[j] - 1] |= rel;
}

static void close(struct orders *o, enum predict_order order)
{
    const struct kit_trace *t = o->t;
    u64 before[PREDICT_EVENTS];
    do {
        memcpy(before, o->weak, sizeof(before));
        for (u32 i = 0; i < t->n; i++) {
            for (u32 j = i + 1; j < t->n; j++) {
                if (o->rel[i] && t->events[i].op == DH_OP_ACQUIRE && t->events[j].op == DH_OP_ACQUIRE &&
                    t->events[i].target == t->events[j].target)
                    apply(o, order, i, j);
            }
        }
        for (u32 j = 0; j < t->n; j++) {
            u64 row = 0;
            for (u32 i = 0; i < j; i++) {
                if (o->weak[j] >> i & 1)
                    row |= o->hb[i];
                if (o->hb[j] >> i & 1)
                    row |= o->weak[i];
            }
            o->weak[j] |= row;
        }
    } while (memcmp(before, o->weak, sizeof(before)) != 0);
}

void predict_close(struct predict_pairs *ret, const struct kit_trace *t, enum predict_order order)
{
    static struct orders o;
    if (t->n > PREDICT_EVENTS)
        abort();
    o = (struct orders){.t = t};
    begin(&o);
    close(&o, order);
    *ret = (struct predict_pairs){0};
    for (u32 j = 0; j < t->n; j++) {
        for (u32 i = 0; i < j; i++) {
            if (predict_conflict(t, i, j) && !(o.weak[j] >> i & 1))
                ret->row[j] |= 1ull << i;
        }
    }
}
