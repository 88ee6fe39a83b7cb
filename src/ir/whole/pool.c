/*
 * pool.c - see pool.h.
 */
#include "ir/whole/pool.h"

#include <stdlib.h>
#include <string.h>

void dh_w_pool_init(struct dh_w_pool *p, struct dh_arena *arena)
{
    *p = (struct dh_w_pool){0};
    dh_map_init(&p->map, arena);
}

void dh_w_pool_done(struct dh_w_pool *p)
{
    dh_map_done(&p->map);
    free(p->item);
    free(p->size);
}

u32 dh_w_pool_add(struct dh_w_pool *p, const void *bytes, size_t n)
{
    /* The map's value is the address of the copy's header, which holds the number. */
    const u32 *known = dh_map_get(&p->map, bytes, n);
    if (known != NULL)
        return *known;
    u64 *copy = dh_arena_alloc(p->map.arena, n + sizeof *copy);
    copy[0] = (u32)p->n;
    memcpy(copy + 1, bytes, n);
    dh_map_put(&p->map, bytes, n, copy);
    p->item = dh_util_grow(p->item, p->n, &p->cap, sizeof *p->item);
    p->size = dh_util_grow(p->size, p->n, &p->cap_size, sizeof *p->size);
    p->item[p->n] = copy + 1;
    p->size[p->n] = n;
    return (u32)p->n++;
}
