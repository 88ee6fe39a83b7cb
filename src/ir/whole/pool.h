/*
 * pool.h - interned byte strings, numbered in order of arrival: equal ones have equal numbers.
 */
#ifndef DH_IR_WHOLE_POOL_H
#define DH_IR_WHOLE_POOL_H

#include "util/map.h"

struct dh_w_pool {
    struct dh_map map;
    const void **item;
    size_t *size;
    size_t n, cap, cap_size;
};
void dh_w_pool_init(struct dh_w_pool *p, struct dh_arena *arena);
void dh_w_pool_done(struct dh_w_pool *p);
u32 dh_w_pool_add(struct dh_w_pool *p, const void *bytes, size_t n);

#endif
