/*
 * pages.c - see pages.h.
 */
#include "event/pages.h"

#include <string.h>

#include "base/pool.h"

enum { LIMIT = 1 << 30 };

void dh_pages_done(struct dh_pages *p)
{
    dh_pool_free(p->keys, p->cap * sizeof(*p->keys));
    dh_pool_free(p->slots, (size_t)p->cap * 2 * sizeof(*p->slots));
    *p = (struct dh_pages){0};
}

static u32 place_of(u64 key, u32 cap)
{
    return (u32)(dh_hash64(key) >> 20) & (cap * 2 - 1);
}

/* The slot of the key, or the empty one where it belongs. */
static u32 *look(const struct dh_pages *p, u64 key)
{
    u32 at = place_of(key, p->cap);
    while (p->slots[at] && p->keys[p->slots[at] - 1] != key)
        at = (at + 1) & (p->cap * 2 - 1);
    return &p->slots[at];
}

static bool grow(struct dh_pages *p)
{
    struct dh_pages q = {.n = p->n, .cap = p->cap ? p->cap * 2 : 256};
    if (q.cap > LIMIT)
        return false;
    q.keys = dh_pool_alloc(q.cap * sizeof(*q.keys));
    q.slots = dh_pool_alloc((size_t)q.cap * 2 * sizeof(*q.slots));
    if (!q.keys || !q.slots) {
        dh_pages_done(&q);
        return false;
    }
    for (u32 i = 0; i < p->n; i++) {
        q.keys[i] = p->keys[i];
        *look(&q, q.keys[i]) = i + 1;
    }
    dh_pages_done(p);
    *p = q;
    return true;
}

u32 dh_pages_find(const struct dh_pages *p, u64 key)
{
    return p->cap ? *look(p, key) - 1 : DH_PAGES_NONE;
}

u32 dh_pages_add(struct dh_pages *p, u64 key)
{
    u32 known = dh_pages_find(p, key);
    if (known != DH_PAGES_NONE)
        return known;
    if (p->n == p->cap && !grow(p))
        return DH_PAGES_NONE;
    p->keys[p->n++] = key;
    *look(p, key) = p->n;
    return p->n - 1;
}
