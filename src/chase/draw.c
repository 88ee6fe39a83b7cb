/*
 * draw.c - see draw.h. A site that was drawn once stays known to the program, so drawing it again costs
 * nothing; when the table of sites is full, they are drawn from the table.
 */
#include "chase/draw.h"

#include <errno.h>
#include <string.h>

enum { OLD_US = 500000, ATTEMPTS = 4 * DH_CHASE_DRAW_SET };

size_t dh_chase_draw_total(const struct dh_chase_draw *d)
{
    size_t total = 0;
    for (size_t i = 0; i < d->n_pools; i++)
        total += d->pools[i].spots.n;
    return total;
}

static const struct dh_chase_spot *spot_at(const struct dh_chase_draw *d, size_t number,
                                           struct dh_chase_pool **ret_pool)
{
    struct dh_chase_pool *pool = d->pools;
    for (; number >= pool->spots.n; pool++)
        number -= pool->spots.n;
    *ret_pool = pool;
    return &pool->spots.at[number];
}

static u64 random_below(struct dh_chase_draw *d, u64 n)
{
    return dh_hash64(d->random++) % n;
}

const struct dh_chase_spot *dh_chase_draw_next(struct dh_chase_draw *d, struct dh_chase_pool **ret_pool)
{
    return spot_at(d, random_below(d, dh_chase_draw_total(d)), ret_pool);
}

static void look_for_modules(struct dh_chase_draw *d, const struct dh_chase_target *t)
{
    for (size_t i = 0; i < d->n_pools; i++)
        d->pools[i].loaded = dh_chase_target_bias(t, d->pools[i].module, &d->pools[i].bias) == 0;
}

static void activate(struct dh_chase_draw *d, u32 site)
{
    d->n += !d->active[site];
    d->active[site] = true;
}

/* 0, or an errno with a sentence. */
static int take(struct dh_chase_draw *d, struct dh_chase_target *t, const struct dh_chase_pool *pool,
                const struct dh_chase_spot *spot, const char **ret_why)
{
    if (!pool->loaded)
        return -EAGAIN;
    u32 number = dh_control_find(t->control, spot->address + pool->bias);
    if (number == DH_CONTROL_NOWHERE && t->control->n_sites == DH_CONTROL_SITES)
        number = (u32)random_below(d, DH_CONTROL_SITES);
    if (number == DH_CONTROL_NOWHERE) {
        struct dh_chase_site *site = dh_arena_alloc(t->arena, sizeof(*site));
        *site = (struct dh_chase_site){dh_chase_lines_at(pool->module->file, spot), pool->module,
                                       DH_CONTROL_FIRST, 0};
        int rc = dh_chase_target_add(t, site, pool->bias, &number, ret_why);
        if (rc)
            return rc;
    }
    activate(d, number);
    return 0;
}

bool dh_chase_draw_is_old(const struct dh_chase_draw *d, u64 now_us)
{
    return now_us - d->since_us >= OLD_US;
}

int dh_chase_draw_fill(struct dh_chase_draw *d, struct dh_chase_target *t, u64 now_us, const char **ret_why)
{
    const size_t total = dh_chase_draw_total(d);
    struct dh_chase_pool *pool;
    int rc = -EAGAIN;
    if (d->n && !dh_chase_draw_is_old(d, now_us))
        return 0;
    memset(d->active, 0, sizeof(d->active));
    d->n = 0;
    d->since_us = now_us;
    look_for_modules(d, t);
    if (total <= DH_CHASE_DRAW_SET) {
        for (size_t i = 0; i < total; i++) {
            const struct dh_chase_spot *spot = spot_at(d, i, &pool);
            rc = take(d, t, pool, spot, ret_why);
        }
    } else {
        for (int i = 0; i < ATTEMPTS && d->n < DH_CHASE_DRAW_SET; i++) {
            const struct dh_chase_spot *spot = dh_chase_draw_next(d, &pool);
            rc = take(d, t, pool, spot, ret_why);
        }
    }
    return d->n ? 0 : rc;
}

void dh_chase_draw_drop(struct dh_chase_draw *d, u32 site)
{
    d->n -= d->active[site];
    d->active[site] = false;
}
