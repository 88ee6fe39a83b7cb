/*
 * lockset.c - see lockset.h.
 */
#include "detect/lockset.h"

#include <string.h>

enum { ADD = 1, REMOVE, MEET };

void dh_locksets_init(struct dh_locksets *s, struct dh_detector *d)
{
    s->d = d;
    s->n = 1; /* number 0 is the empty set and needs no entry */
}

static u64 hash_of(const u32 *locks, u32 n)
{
    u64 h = n;
    for (u32 i = 0; i < n; i++)
        h = dh_hash64(h ^ locks[i]);
    return h;
}

static void index_put(struct dh_locksets *s, u32 number)
{
    const struct dh_lockset *set = &s->sets[number];
    u32 i = (u32)hash_of(set->locks, set->n) & (s->index_cap - 1);
    while (s->index[i])
        i = (i + 1) & (s->index_cap - 1);
    s->index[i] = number;
}

static bool index_grow(struct dh_locksets *s)
{
    u32 cap = s->index_cap ? s->index_cap * 2 : 64;
    u32 *index = dh_detect_alloc(s->d, cap * sizeof(*index));
    if (!index)
        return false;
    dh_detect_free(s->d, s->index, s->index_cap * sizeof(*index));
    s->index = index;
    s->index_cap = cap;
    for (u32 i = 1; i < s->n; i++)
        index_put(s, i);
    return true;
}

/* The number of the set in `scratch`. */
static u32 intern(struct dh_locksets *s, u32 n)
{
    if (n == 0 || (s->n * 2 >= s->index_cap && !index_grow(s)))
        return 0;
    u32 i = (u32)hash_of(s->scratch, n) & (s->index_cap - 1);
    for (; s->index[i]; i = (i + 1) & (s->index_cap - 1)) {
        const struct dh_lockset *old = &s->sets[s->index[i]];
        if (old->n == n && memcmp(old->locks, s->scratch, n * sizeof(u32)) == 0)
            return s->index[i];
    }
    if (!DH_ROOM(s->d, s->sets, s->cap, s->n))
        return 0;
    u32 *locks = dh_detect_alloc(s->d, n * sizeof(*locks));
    if (!locks)
        return 0;
    memcpy(locks, s->scratch, n * sizeof(*locks));
    s->sets[s->n] = (struct dh_lockset){.locks = locks, .n = n};
    s->index[i] = s->n;
    return s->n++;
}

static struct dh_lockset get(const struct dh_locksets *s, u32 set)
{
    return set ? s->sets[set] : (struct dh_lockset){0};
}

static u32 compute(struct dh_locksets *s, u32 op, u32 a, u32 b)
{
    struct dh_lockset x = get(s, a), y = op == MEET ? get(s, b) : (struct dh_lockset){0};
    u32 n = 0;
    if (!DH_ROOM(s->d, s->scratch, s->scratch_cap, x.n))
        return 0;
    if (op == MEET) {
        for (u32 i = 0, j = 0; i < x.n && j < y.n;) {
            if (x.locks[i] == y.locks[j])
                s->scratch[n++] = x.locks[i];
            u32 p = x.locks[i], q = y.locks[j];
            i += p <= q;
            j += q <= p;
        }
        return intern(s, n);
    }
    bool placed = op == REMOVE;
    for (u32 i = 0; i < x.n; i++) {
        if (!placed && b < x.locks[i]) {
            s->scratch[n++] = b;
            placed = true;
        }
        if (x.locks[i] != b)
            s->scratch[n++] = x.locks[i];
    }
    if (!placed)
        s->scratch[n++] = b;
    return intern(s, n);
}

static u32 memoised(struct dh_locksets *s, u32 op, u32 a, u32 b)
{
    u64 key = ((u64)a << 32 | b) * 4 + op;
    struct dh_lockset_memo *m = &s->memo[dh_hash64(key) & (DH_LOCKSET_MEMO - 1)];
    if (m->op == op && m->a == a && m->b == b)
        return m->result;
    u32 result = compute(s, op, a, b);
    if (!s->d->failed)
        *m = (struct dh_lockset_memo){.a = a, .b = b, .op = op, .result = result};
    return result;
}

u32 dh_lockset_add(struct dh_locksets *s, u32 set, u32 lock)
{
    return memoised(s, ADD, set, lock);
}

u32 dh_lockset_remove(struct dh_locksets *s, u32 set, u32 lock)
{
    return set ? memoised(s, REMOVE, set, lock) : 0;
}

u32 dh_lockset_meet(struct dh_locksets *s, u32 a, u32 b)
{
    if (a == b)
        return a;
    if (a == 0 || b == 0)
        return 0;
    return a < b ? memoised(s, MEET, a, b) : memoised(s, MEET, b, a);
}

void dh_held_acquire(struct dh_locksets *s, struct dh_held *held, const struct dh_event *e)
{
    bool same = held->any == held->exclusive; /* nearly always: one look is enough then */
    held->any = dh_lockset_add(s, held->any, e->target);
    if (e->mode == DH_EXCLUSIVE)
        held->exclusive = same ? held->any : dh_lockset_add(s, held->exclusive, e->target);
}

void dh_held_release(struct dh_locksets *s, struct dh_held *held, const struct dh_event *e)
{
    bool same = held->any == held->exclusive;
    held->any = dh_lockset_remove(s, held->any, e->target);
    held->exclusive = same ? held->any : dh_lockset_remove(s, held->exclusive, e->target);
}
