/*
 * map.h - a hash map from byte strings to pointers, for hosted tools.
 *
 * Keys are copied into the map's arena; values belong to the caller. Nothing is ever removed.
 */
#ifndef DH_UTIL_MAP_H
#define DH_UTIL_MAP_H

#include "util/arena.h"

struct dh_map_slot;

struct dh_map {
    struct dh_arena *arena; /* holds the keys; set by dh_map_init */
    struct dh_map_slot *slots;
    size_t cap; /* 0 or a power of two */
    size_t n;
};

void dh_map_init(struct dh_map *m, struct dh_arena *arena);
void dh_map_done(struct dh_map *m);

/* NULL if absent. */
void *dh_map_get(const struct dh_map *m, const void *key, size_t len);
/* Replaces. value must not be NULL. */
void dh_map_put(struct dh_map *m, const void *key, size_t len, void *value);

/* Makes room for n keys in total, so that the map need not grow before. */
void dh_map_reserve(struct dh_map *m, size_t n);
/* The next entry after *at, which starts at 0; false at the end. The order makes filling another map
 * fast. */
bool dh_map_next(const struct dh_map *m, size_t *at, const void **ret_key, size_t *ret_len, void **ret_value);

u64 dh_util_hash(const void *data, size_t len); /* FNV-1a, 64 bits: the same on every machine */

#endif
