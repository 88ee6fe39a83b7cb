/*
 * intern.c - see intern.h.
 */
#include "ir/pts/intern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 256, FIRST_MEMO = 256, MEMO_MAX = 1 << 20 };
enum { OP_JOIN = 1, OP_MINUS = 2 }; /* keys of the cache; clients' keys are larger */
static const uint64_t COLLECT_FIRST = 64u << 20;

static uint64_t mix(uint64_t x)
{
    x = (x + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

int dh_intern_init(struct dh_intern *t)
{
    memset(t, 0, sizeof *t);
    t->at = calloc(16, sizeof *t->at);
    t->slots = calloc(FIRST_SLOTS, sizeof *t->slots);
    t->memo = calloc(FIRST_MEMO, sizeof *t->memo);
    if (!t->at || !t->slots || !t->memo)
        return -ENOMEM;
    t->n = 1; /* the empty set */
    t->cap = 16;
    t->slots_n = FIRST_SLOTS;
    t->memo_n = FIRST_MEMO;
    t->collect_at = COLLECT_FIRST;
    return 0;
}

void dh_intern_done(struct dh_intern *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        dh_set_done(&t->at[i].set);
    free(t->at);
    free(t->slots);
    free(t->memo);
    free(t->unused);
    memset(t, 0, sizeof *t);
}

/* ---- The table ---- */

static void put(struct dh_intern *t, uint32_t s)
{
    uint32_t mask = t->slots_n - 1, i = (uint32_t)mix(t->at[s].hash) & mask;
    while (t->slots[i])
        i = (i + 1) & mask;
    t->slots[i] = s;
}

static bool rehash(struct dh_intern *t, uint32_t slots_n)
{
    uint32_t *more = calloc(slots_n, sizeof *more);
    if (!more)
        return false;
    free(t->slots);
    t->slots = more;
    t->slots_n = slots_n;
    for (uint32_t s = 1; s < t->n; s++)
        if (t->at[s].count)
            put(t, s);
    return true;
}

/* More sets, more results to remember; what is remembered so far is not worth moving. */
static void enlarge_memo(struct dh_intern *t)
{
    if (t->memo_n >= MEMO_MAX || t->n < t->memo_n)
        return;
    struct dh_intern_memo *more = calloc((size_t)t->memo_n * 4, sizeof *more);
    if (!more)
        return; /* it is only a cache */
    free(t->memo);
    t->memo = more;
    t->memo_n *= 4;
}

/* A number for a set that is not in the table. Takes the set; on failure too. */
static uint32_t insert(struct dh_intern *t, struct dh_set *s, uint64_t hash, uint32_t count)
{
    uint32_t id = t->unused_n ? t->unused[t->unused_n - 1] : t->n;
    if (id == t->n && t->n == t->cap) {
        struct dh_interned *more = realloc(t->at, (size_t)t->cap * 2 * sizeof *more);
        if (!more)
            goto failed;
        t->at = more;
        t->cap *= 2;
    }
    if (t->n >= t->slots_n / 2 && !rehash(t, t->slots_n * 2))
        goto failed;
    if (id == t->n)
        t->n++;
    else
        t->unused_n--;
    t->at[id] = (struct dh_interned){*s, hash, count, false};
    t->bytes += dh_set_bytes(s);
    put(t, id);
    enlarge_memo(t);
    return id;
failed:
    dh_set_done(s);
    return DH_INTERN_FAILED;
}

/* The set that holds x and y, which have no member in common and as many as it has: their union. */
static uint32_t find_union(const struct dh_intern *t, uint64_t hash, uint32_t count, const struct dh_set *x,
                           const struct dh_set *y)
{
    uint32_t mask = t->slots_n - 1;
    for (uint32_t i = (uint32_t)mix(hash) & mask; t->slots[i]; i = (i + 1) & mask) {
        const struct dh_interned *e = &t->at[t->slots[i]];
        if (e->hash == hash && e->count == count && dh_set_within(x, &e->set) && dh_set_within(y, &e->set))
            return t->slots[i];
    }
    return 0;
}

uint32_t dh_intern_take(struct dh_intern *t, struct dh_set *s)
{
    static const struct dh_set none;
    struct dh_set_iter it;
    uint32_t x, count = 0;
    uint64_t hash = 0;
    dh_set_iter_init(&it, s);
    while (dh_set_next(&it, &x)) {
        hash += mix(x);
        count++;
    }
    uint32_t id = count ? find_union(t, hash, count, s, &none) : 0;
    if (id || !count) {
        dh_set_done(s);
        return id;
    }
    id = insert(t, s, hash, count);
    memset(s, 0, sizeof *s);
    return id;
}

/* ---- The cache ---- */

static struct dh_intern_memo *memo_at(const struct dh_intern *t, uint64_t key, uint32_t a, uint32_t b)
{
    return &t->memo[mix(key * 31 + mix((uint64_t)a << 32 | b)) & (t->memo_n - 1)];
}

static bool recall(const struct dh_intern *t, uint64_t key, uint32_t a, uint32_t b, uint32_t *ret)
{
    const struct dh_intern_memo *m = memo_at(t, key, a, b);
    *ret = m->result;
    return m->key == key && m->a == a && m->b == b;
}

static void remember(struct dh_intern *t, uint64_t key, uint32_t a, uint32_t b, uint32_t result)
{
    *memo_at(t, key, a, b) = (struct dh_intern_memo){key, a, b, result};
}

uint32_t dh_intern_recall(const struct dh_intern *t, uint64_t key, uint32_t s)
{
    uint32_t result;
    return recall(t, key + OP_MINUS + 1, s, 0, &result) ? result : 0;
}

void dh_intern_remember(struct dh_intern *t, uint64_t key, uint32_t s, uint32_t result)
{
    remember(t, key + OP_MINUS + 1, s, 0, result);
}

/* ---- Operations ---- */

uint32_t dh_intern_add(struct dh_intern *t, uint32_t s, uint32_t x)
{
    struct dh_set one = {.n = 1, .small = {x}}, made = {0};
    if (dh_set_has(&t->at[s].set, x))
        return s;
    uint64_t hash = t->at[s].hash + mix(x);
    uint32_t count = t->at[s].count + 1, id = find_union(t, hash, count, &t->at[s].set, &one);
    if (id)
        return id;
    if (dh_set_join(&made, &t->at[s].set) || dh_set_add(&made, x) < 0) {
        dh_set_done(&made);
        return DH_INTERN_FAILED;
    }
    return insert(t, &made, hash, count);
}

uint32_t dh_intern_minus(struct dh_intern *t, uint32_t a, uint32_t b)
{
    uint32_t result;
    if (a == b || a == 0)
        return 0;
    if (b == 0)
        return a;
    if (recall(t, OP_MINUS, a, b, &result))
        return result;
    struct dh_set made = {0};
    if (dh_set_minus(&t->at[a].set, &t->at[b].set, &made)) {
        dh_set_done(&made);
        return DH_INTERN_FAILED;
    }
    result = dh_intern_take(t, &made);
    if (result != DH_INTERN_FAILED)
        remember(t, OP_MINUS, a, b, result);
    return result;
}

uint32_t dh_intern_join(struct dh_intern *t, uint32_t a, uint32_t b)
{
    uint32_t result;
    if (a == b || b == 0)
        return a;
    if (a == 0)
        return b;
    if (a > b) { /* one way round, for the cache */
        uint32_t other = a;
        a = b;
        b = other;
    }
    if (recall(t, OP_JOIN, a, b, &result))
        return result;
    uint32_t rest = dh_intern_minus(t, b, a);
    if (rest == DH_INTERN_FAILED)
        return rest;
    uint64_t hash = t->at[a].hash + t->at[rest].hash;
    uint32_t count = t->at[a].count + t->at[rest].count;
    result = rest ? find_union(t, hash, count, &t->at[a].set, &t->at[rest].set) : a;
    if (!result) {
        struct dh_set made = {0};
        if (dh_set_join(&made, &t->at[a].set) || dh_set_join(&made, &t->at[rest].set)) {
            dh_set_done(&made);
            return DH_INTERN_FAILED;
        }
        result = insert(t, &made, hash, count);
    }
    if (result != DH_INTERN_FAILED)
        remember(t, OP_JOIN, a, b, result);
    return result;
}

void dh_intern_collect(struct dh_intern *t)
{
    uint32_t *list = realloc(t->unused, t->n * sizeof *list);
    if (!list)
        return; /* later, perhaps */
    t->unused = list;
    t->unused_n = 0;
    t->bytes = 0;
    for (uint32_t s = t->n; s-- > 1;) {
        struct dh_interned *e = &t->at[s];
        if (!e->used) {
            dh_set_done(&e->set);
            e->count = 0;
            t->unused[t->unused_n++] = s;
        } else
            t->bytes += dh_set_bytes(&e->set);
        e->used = false;
    }
    memset(t->memo, 0, t->memo_n * sizeof *t->memo);
    memset(t->slots, 0, t->slots_n * sizeof *t->slots);
    for (uint32_t s = 1; s < t->n; s++)
        if (t->at[s].count)
            put(t, s);
    t->collect_at = t->bytes * 2 > COLLECT_FIRST ? t->bytes * 2 : COLLECT_FIRST;
}
