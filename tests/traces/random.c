/*
 * random.c - see random.h.
 *
 * Ids: locks 0..locks-1; above them one volatile, one condition and one barrier, in the same name space.
 */
#include "traces/random.h"

#include <string.h>

enum { MAX = 16 };

struct making {
    struct kit_trace *t;
    const struct random_options *o;
    u64 state;
    bool live[MAX];    /* forked (or thread 0) and not ended */
    bool started[MAX]; /* its number was used up */
    bool ended[MAX];   /* not joined yet */
    bool joined[MAX];
    u32 held[MAX][MAX]; /* stack of locks, mode in the high bit */
    u32 depth[MAX];
    u32 readers[MAX]; /* by lock */
    u32 writer[MAX];  /* by lock: thread + 1 */
};

#define SHARED_BIT 0x80000000u

static u32 roll(struct making *m, u32 n)
{
    m->state = m->state * 6364136223846793005ull + 1442695040888963407ull;
    return (u32)((m->state >> 33) % n);
}

static void put(struct making *m, u8 op, u8 mode, u32 thread, u32 target)
{
    kit_add(m->t, (struct dh_event){
                      .op = op, .mode = mode, .thread = thread, .target = target, .site = m->t->n + 1});
}

static u32 some_thread(struct making *m)
{
    u32 t;
    do
        t = roll(m, m->o->threads);
    while (!m->live[t]);
    return t;
}

static bool holds(const struct making *m, u32 t, u32 lock)
{
    for (u32 i = 0; i < m->depth[t]; i++) {
        if ((m->held[t][i] & ~SHARED_BIT) == lock)
            return true;
    }
    return false;
}

static void acquire(struct making *m, u32 t)
{
    u32 lock = roll(m, m->o->locks);
    bool shared = m->o->rich && roll(m, 3) == 0;
    if (holds(m, t, lock) || m->writer[lock] || (m->readers[lock] && !shared) || m->depth[t] == 3)
        return;
    put(m, DH_OP_ACQUIRE, shared ? DH_SHARED : DH_EXCLUSIVE, t, lock);
    m->held[t][m->depth[t]++] = lock | (shared ? SHARED_BIT : 0);
    if (shared)
        m->readers[lock]++;
    else
        m->writer[lock] = t + 1;
}

static void release(struct making *m, u32 t)
{
    if (!m->depth[t])
        return;
    u32 i = roll(m, 4) ? m->depth[t] - 1 : roll(m, m->depth[t]); /* mostly, not always, the last one */
    u32 lock = m->held[t][i] & ~SHARED_BIT;
    bool shared = m->held[t][i] & SHARED_BIT;
    memmove(&m->held[t][i], &m->held[t][i + 1], (m->depth[t] - i - 1) * sizeof(u32));
    m->depth[t]--;
    put(m, DH_OP_RELEASE, shared ? DH_SHARED : DH_EXCLUSIVE, t, lock);
    if (shared)
        m->readers[lock]--;
    else
        m->writer[lock] = 0;
}

static void access(struct making *m, u32 t)
{
    u32 cell = roll(m, m->o->cells);
    bool write = roll(m, 5) < 2;
    if (m->o->disciplined) {
        u32 lock = cell % m->o->locks;
        if (m->writer[lock] != t + 1 && !(m->readers[lock] && holds(m, t, lock) && !write))
            return;
    }
    put(m, write ? DH_OP_WRITE : DH_OP_READ, m->o->atomics && roll(m, 2) ? DH_ATOMIC : 0, t, cell);
}

static void fork_or_join(struct making *m, u32 t)
{
    u32 u = roll(m, m->o->threads);
    if (!m->started[u]) {
        if (m->joined[u] || roll(m, 8))
            put(m, DH_OP_FORK, 0, t, u); /* else it runs without a fork */
        m->started[u] = m->live[u] = true;
    } else if (m->ended[u] && u != t) {
        put(m, DH_OP_JOIN, 0, t, u);
        m->ended[u] = false;
        m->joined[u] = true;
        m->started[u] = roll(m, 2) == 0; /* or its number is free for another thread */
    }
}

static void end(struct making *m, u32 t)
{
    u32 others = 0;
    for (u32 u = 0; u < m->o->threads; u++)
        others += m->live[u] && u != t;
    if (!others || m->depth[t])
        return;
    m->live[t] = false;
    m->ended[t] = true;
}

/* Everyone alive takes part; the first to leave may be busy before the last has left. */
static void barrier(struct making *m)
{
    u32 id = m->o->locks + 2, left = 0;
    bool inside[MAX] = {false};
    for (u32 t = 0; t < m->o->threads; t++) {
        if (m->live[t]) {
            put(m, DH_OP_BARRIER_ENTER, 0, t, id);
            inside[t] = true;
            left++;
        }
    }
    while (left) {
        u32 t = some_thread(m);
        if (inside[t]) {
            put(m, DH_OP_BARRIER_LEAVE, 0, t, id);
            inside[t] = false;
            left--;
        } else {
            access(m, t);
        }
    }
}

static void rich(struct making *m, u32 t)
{
    switch (roll(m, 6)) {
    case 0:
        barrier(m);
        break;
    case 1:
        put(m, DH_OP_NOTIFY, 0, t, m->o->locks + 1);
        break;
    case 2:
        put(m, DH_OP_WAIT, 0, t, m->o->locks + 1);
        break;
    default:
        put(m, DH_OP_VOLATILE, roll(m, 2) ? DH_WRITE : DH_READ, t, m->o->locks);
    }
}

void random_trace(struct kit_trace *t, u64 seed, const struct random_options *options)
{
    struct making m = {.t = t, .o = options, .state = seed * 2 + 1};
    *t = (struct kit_trace){0};
    m.live[0] = m.started[0] = true;
    while (t->n < options->events) {
        u32 self = some_thread(&m), x = roll(&m, 100);
        if (x < 12)
            fork_or_join(&m, self);
        else if (x < 14)
            end(&m, self);
        else if (x < 32)
            acquire(&m, self);
        else if (x < 48)
            release(&m, self);
        else if (x < 54 && options->rich)
            rich(&m, self);
        else
            access(&m, self);
    }
}

static bool well_formed(const struct kit_trace *t)
{
    struct dh_form f = {0};
    bool ok = true;
    u32 entered = 0;
    for (u32 i = 0; i < t->n && ok; i++) {
        entered += t->events[i].op == DH_OP_BARRIER_ENTER;
        entered -= t->events[i].op == DH_OP_BARRIER_LEAVE;
        ok = dh_form_next(&f, &t->events[i], i) == DH_FORM_OK && entered <= t->n;
    }
    dh_form_done(&f);
    return ok && entered == 0;
}

/* Without event i, and without its partner j if j is not i. */
static bool try_without(struct kit_trace *t, u32 i, u32 j, random_check_fn *check)
{
    struct kit_trace smaller = {0};
    for (u32 k = 0; k < t->n; k++) {
        if (k != i && k != j)
            kit_add(&smaller, t->events[k]);
    }
    smaller.threads = t->threads;
    smaller.locks = t->locks;
    smaller.cells = t->cells;
    if (!well_formed(&smaller) || !check(&smaller)) {
        kit_done(&smaller);
        return false;
    }
    kit_done(t);
    *t = smaller;
    return true;
}

/* The release of an acquisition, the leaving of a barrier; i itself if there is none. */
static u32 partner(const struct kit_trace *t, u32 i)
{
    const struct dh_event *a = &t->events[i];
    u8 wanted = a->op == DH_OP_ACQUIRE         ? DH_OP_RELEASE
                : a->op == DH_OP_BARRIER_ENTER ? DH_OP_BARRIER_LEAVE
                                               : DH_OP_COUNT;
    for (u32 j = i + 1; j < t->n; j++) {
        const struct dh_event *b = &t->events[j];
        if (b->op == wanted && b->thread == a->thread && b->target == a->target)
            return j;
    }
    return i;
}

void random_shrink(struct kit_trace *t, random_check_fn *check)
{
    bool smaller = true;
    while (smaller) {
        smaller = false;
        for (u32 i = t->n; i-- > 0;)
            smaller |= i < t->n && try_without(t, i, partner(t, i), check);
    }
}
