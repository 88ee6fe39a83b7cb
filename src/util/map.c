/*
 * map.c - see map.h. Open addressing with linear probing, at most three quarters full.
 */
#include "util/map.h"

#include <stdlib.h>
#include <string.h>

struct dh_map_slot {
    const char *key; /* NULL: free */
    size_t len;
    u64 hash;
    void *value;
};

u64 dh_util_hash(const void *data, size_t len)
{
    const u8 *bytes = data;
    u64 hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3ull;
    return hash;
}

void dh_map_init(struct dh_map *m, struct dh_arena *arena)
{
    *m = (struct dh_map){.arena = arena};
}

void dh_map_done(struct dh_map *m)
{
    free(m->slots);
    *m = (struct dh_map){0};
}

/* The slot that holds the key, or the free one where it belongs. cap is not 0. */
static struct dh_map_slot *find(const struct dh_map *m, const void *key, size_t len, u64 hash)
{
    for (size_t i = hash;; i++) {
        struct dh_map_slot *slot = &m->slots[i & (m->cap - 1)];
        if (!slot->key || (slot->hash == hash && slot->len == len && memcmp(slot->key, key, len) == 0))
            return slot;
    }
}

static void grow(struct dh_map *m, size_t cap)
{
    struct dh_map bigger = *m;
    bigger.cap = cap;
    bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
    if (!bigger.slots)
        dh_util_no_memory();
    for (size_t i = 0; i < m->cap; i++) {
        const struct dh_map_slot *old = &m->slots[i];
        if (old->key)
            *find(&bigger, old->key, old->len, old->hash) = *old;
    }
    free(m->slots);
    *m = bigger;
}

void dh_map_reserve(struct dh_map *m, size_t n)
{
    size_t cap = m->cap ? m->cap : 64;
    while (n * 4 >= cap * 3)
        cap *= 2;
    if (cap > m->cap)
        grow(m, cap);
}

bool dh_map_next(const struct dh_map *m, size_t *at, const void **ret_key, size_t *ret_len, void **ret_value)
{
    while (*at < m->cap && !m->slots[*at].key)
        ++*at;
    if (*at == m->cap)
        return false;
    const struct dh_map_slot *slot = &m->slots[(*at)++];
    *ret_key = slot->key;
    *ret_len = slot->len;
    *ret_value = slot->value;
    return true;
}

void *dh_map_get(const struct dh_map *m, const void *key, size_t len)
{
    if (!m->cap)
        return NULL;
    const struct dh_map_slot *slot = find(m, key, len, dh_util_hash(key, len));
    return slot->key ? slot->value : NULL;
}

void dh_map_put(struct dh_map *m, const void *key, size_t len, void *value)
{
    if (m->n * 4 >= m->cap * 3)
        grow(m, m->cap ? m->cap * 2 : 64);
    u64 hash = dh_util_hash(key, len);
    struct dh_map_slot *slot = find(m, key, len, hash);
    if (!slot->key) {
        *slot = (struct dh_map_slot){dh_arena_dup(m->arena, key, len), len, hash, NULL};
        m->n++;
    }
    slot->value = value;
}
