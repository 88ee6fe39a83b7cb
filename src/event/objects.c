/*
 * objects.c - see objects.h.
 */
#include "event/objects.h"

#include <string.h>

#include "base/pool.h"

enum { BLOCK_SHIFT = 8, START = 64 };

struct dh_object {
    u64 addr;
    struct dh_object *next;
    u32 number;
};

void dh_objects_done(struct dh_objects *o)
{
    for (u32 i = 0; i < o->n_buckets; i++) {
        for (struct dh_object *x = o->buckets[i], *next; x; x = next) {
            next = x->next;
            dh_pool_free(x, sizeof(*x));
        }
    }
    dh_pool_free(o->buckets, o->n_buckets * sizeof(*o->buckets));
    dh_pool_free(o->addrs, o->cap * sizeof(*o->addrs));
    *o = (struct dh_objects){0};
}

static struct dh_object **bucket_of(const struct dh_objects *o, u64 block)
{
    return &o->buckets[dh_hash64(block) & (o->n_buckets - 1)];
}

static bool grow_buckets(struct dh_objects *o)
{
    struct dh_objects q = {.n_buckets = o->n_buckets ? o->n_buckets * 2 : START};
    q.buckets = dh_pool_alloc(q.n_buckets * sizeof(*q.buckets));
    if (!q.buckets)
        return false;
    for (u32 i = 0; i < o->n_buckets; i++) {
        for (struct dh_object *x = o->buckets[i], *next; x; x = next) {
            struct dh_object **b = bucket_of(&q, x->addr >> BLOCK_SHIFT);
            next = x->next;
            x->next = *b;
            *b = x;
        }
    }
    dh_pool_free(o->buckets, o->n_buckets * sizeof(*o->buckets));
    o->buckets = q.buckets;
    o->n_buckets = q.n_buckets;
    return true;
}

static bool grow_addrs(struct dh_objects *o)
{
    u32 cap = o->cap ? o->cap * 2 : START;
    u64 *addrs = cap ? dh_pool_alloc(cap * sizeof(*addrs)) : NULL;
    if (!addrs)
        return false;
    if (o->n)
        memcpy(addrs, o->addrs, o->n * sizeof(*addrs));
    dh_pool_free(o->addrs, o->cap * sizeof(*addrs));
    o->addrs = addrs;
    o->cap = cap;
    return true;
}

u32 dh_objects_at(struct dh_objects *o, u64 addr)
{
    if (o->n_buckets)
        for (struct dh_object *x = *bucket_of(o, addr >> BLOCK_SHIFT); x; x = x->next)
            if (x->addr == addr)
                return x->number;
    if ((o->live >= o->n_buckets && !grow_buckets(o)) || (o->n == o->cap && !grow_addrs(o)))
        return UINT32_MAX;
    struct dh_object *x = dh_pool_alloc(sizeof(*x));
    if (!x)
        return UINT32_MAX;
    struct dh_object **b = bucket_of(o, addr >> BLOCK_SHIFT);
    *x = (struct dh_object){.addr = addr, .next = *b, .number = o->n};
    *b = x;
    o->live++;
    o->addrs[o->n] = addr;
    return o->n++;
}

/* Take those of one chain in [lo, last] out, onto *list. */
static void unlink_chain(struct dh_objects *o, struct dh_object **link, u64 lo, u64 last,
                         struct dh_object **list)
{
    while (*link) {
        struct dh_object *x = *link;
        if (x->addr < lo || x->addr > last) {
            link = &x->next;
            continue;
        }
        *link = x->next;
        x->next = *list;
        *list = x;
        o->live--;
    }
}

/* Those in [addr, addr + n), taken out. */
static struct dh_object *unlink_range(struct dh_objects *o, u64 addr, u64 n)
{
    struct dh_object *list = NULL;
    if (n == 0 || o->live == 0)
        return NULL;
    u64 last = addr + n - 1 < addr ? UINT64_MAX : addr + n - 1;
    if ((last >> BLOCK_SHIFT) - (addr >> BLOCK_SHIFT) >= o->n_buckets) {
        for (u32 i = 0; i < o->n_buckets; i++)
            unlink_chain(o, &o->buckets[i], addr, last, &list);
        return list;
    }
    for (u64 block = addr >> BLOCK_SHIFT; block <= last >> BLOCK_SHIFT; block++)
        unlink_chain(o, bucket_of(o, block), addr, last, &list);
    return list;
}

void dh_objects_forget(struct dh_objects *o, u64 addr, u64 n)
{
    for (struct dh_object *x = unlink_range(o, addr, n), *next; x; x = next) {
        next = x->next;
        dh_pool_free(x, sizeof(*x));
    }
}

void dh_objects_move(struct dh_objects *o, u64 to, u64 from, u64 n)
{
    struct dh_object *list = unlink_range(o, from, n);
    dh_objects_forget(o, to, n);
    for (struct dh_object *x = list, *next; x; x = next) {
        next = x->next;
        x->addr += to - from;
        o->addrs[x->number] = x->addr;
        struct dh_object **b = bucket_of(o, x->addr >> BLOCK_SHIFT);
        x->next = *b;
        *b = x;
        o->live++;
    }
}
