/*
 * draw.c - see draw.h. A site that was drawn once stays registered with the program, so drawing it again is
 * free; when the table of sites is full, sites are drawn from the table.
 */
#include "chase/draw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WHOLE = 4 /* quarters */, OLD_US = 500000, TURN_US = 100000, ATTEMPTS = 4 * DH_CHASE_DRAW_SET };

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

static u32 activate(struct dh_chase_draw *d, u32 site)
{
    d->n += !d->active[site];
    d->active[site] = true;
    return site;
}

/* 0, or an errno with a message. -ENOSPC: the table is full, and this one is not in it. */
static int take(struct dh_chase_draw *d, struct dh_chase_target *t, const struct dh_chase_pool *pool,
                const struct dh_chase_spot *spot, u32 *ret_site, const char **ret_why)
{
    if (!pool->loaded)
        return -EAGAIN;
    u32 number = dh_control_find(t->control, spot->address + pool->bias);
    if (number == DH_CONTROL_NOWHERE && t->control->n_sites == DH_CONTROL_SITES && d->turns)
        return -ENOSPC;
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
    *ret_site = activate(d, number);
    return 0;
}

/* ---- Turns ---- */

void dh_chase_turns_init(struct dh_chase_turns *t, struct dh_chase_pool *pools, size_t n, u64 random)
{
    size_t total = 0;
    for (size_t i = 0; i < n; i++) {
        pools[i].first = total;
        pools[i].n = pools[i].spots.n;
        total += pools[i].n;
    }
    *t = (struct dh_chase_turns){.at = dh_util_alloc((total + 1) * sizeof(*t->at)),
                                 .order = dh_util_alloc((total + 1) * sizeof(*t->order)),
                                 .n = total};
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < pools[i].n; k++)
            t->at[pools[i].first + k] =
                (struct dh_chase_turn){.quarters = pools[i].spots.at[k].kinds & DH_CONTROL_WRITE ? 0 : WHOLE};
    for (size_t i = 0; i < total; i++) {
        size_t k = dh_hash64(random++) % (i + 1);
        t->order[i] = t->order[k];
        t->order[k] = (u32)i;
    }
}

void dh_chase_turns_done(struct dh_chase_turns *t)
{
    free(t->at);
    free(t->order);
}

/* The smallest number of quarters, at least `least`, that some access has had; UINT32_MAX: there is none. */
static u32 next_level(const struct dh_chase_turns *t, u32 least)
{
    u32 level = UINT32_MAX;
    for (size_t i = 0; i < t->n; i++)
        level = t->at[i].quarters >= least && t->at[i].quarters < level ? t->at[i].quarters : level;
    return level;
}

static struct dh_chase_pool *pool_of(const struct dh_chase_draw *d, u32 number)
{
    struct dh_chase_pool *pool = d->pools;
    while (number >= pool->first + pool->n)
        pool++;
    return pool;
}

/* Takes those that had the fewest. */
static int take_turns(struct dh_chase_draw *d, struct dh_chase_target *t, const char **ret_why)
{
    struct dh_chase_turns *turns = d->turns;
    int result = -EAGAIN;
    for (u32 level = next_level(turns, 0); level != UINT32_MAX && d->n < DH_CHASE_DRAW_TURNS;
         level = next_level(turns, level + 1)) {
        for (size_t i = 0, at = turns->next; i < turns->n && d->n < DH_CHASE_DRAW_TURNS; i++, at++) {
            const u32 number = turns->order[at % turns->n];
            const struct dh_chase_pool *pool = pool_of(d, number);
            u32 site;
            if (turns->at[number].quarters != level || number - pool->first >= pool->spots.n)
                continue;
            int rc = take(d, t, pool, &pool->spots.at[number - pool->first], &site, ret_why);
            if (rc == 0)
                d->numbers[site] = number;
            else if (rc != -ENOSPC)
                result = rc;
            turns->next = (at + 1) % turns->n;
        }
    }
    return result;
}

static void end_turn(struct dh_chase_draw *d, u32 site)
{
    struct dh_chase_turn *turn = &d->turns->at[d->numbers[site]];
    turn->times++;
    turn->quarters += turn->met ? 1 : WHOLE;
}

/* Nobody came to the rest of the set. */
static void pass_turns(struct dh_chase_draw *d)
{
    for (u32 i = 0; d->turns && i < DH_CONTROL_SITES; i++)
        if (d->active[i])
            end_turn(d, i);
}

u32 dh_chase_draw_times(const struct dh_chase_draw *d, u32 site)
{
    return d->turns ? d->turns->at[d->numbers[site]].times : 0;
}

void dh_chase_turns_met(struct dh_chase_turns *t, size_t number)
{
    if (!t->at[number].met)
        t->at[number].quarters = 0;
    t->at[number].met = true;
}

void dh_chase_draw_met(struct dh_chase_draw *d, u32 site, u64 pc)
{
    if (!d->turns)
        return;
    dh_chase_turns_met(d->turns, d->numbers[site]);
    for (size_t i = 0; i < d->n_pools; i++) {
        const struct dh_chase_pool *pool = &d->pools[i];
        size_t low = 0, high = pool->loaded ? pool->spots.n : 0;
        while (low < high) {
            size_t mid = low + (high - low) / 2;
            if (pool->spots.at[mid].address + pool->bias < pc)
                low = mid + 1;
            else
                high = mid;
        }
        if (pool->loaded && low &&
            pool->spots.at[low - 1].address + pool->spots.at[low - 1].length + pool->bias == pc)
            dh_chase_turns_met(d->turns, pool->first + low - 1);
    }
}

/* ---- A set ---- */

bool dh_chase_draw_ages(struct dh_chase_draw *d, u64 us)
{
    d->is_old = us >= (d->turns ? TURN_US : OLD_US);
    return d->is_old;
}

int dh_chase_draw_fill(struct dh_chase_draw *d, struct dh_chase_target *t, const char **ret_why)
{
    const size_t total = dh_chase_draw_total(d);
    struct dh_chase_pool *pool;
    u32 site;
    int rc = -EAGAIN;
    if (d->n && !d->is_old)
        return 0;
    pass_turns(d);
    memset(d->active, 0, sizeof(d->active));
    d->n = 0;
    d->is_old = false;
    look_for_modules(d, t);
    if (d->turns) {
        rc = take_turns(d, t, ret_why);
    } else if (total <= DH_CHASE_DRAW_SET) {
        for (size_t i = 0; i < total; i++) {
            const struct dh_chase_spot *spot = spot_at(d, i, &pool);
            rc = take(d, t, pool, spot, &site, ret_why);
        }
    } else {
        for (int i = 0; i < ATTEMPTS && d->n < DH_CHASE_DRAW_SET; i++) {
            const struct dh_chase_spot *spot = dh_chase_draw_next(d, &pool);
            rc = take(d, t, pool, spot, &site, ret_why);
        }
    }
    return d->n ? 0 : rc;
}

void dh_chase_draw_drop(struct dh_chase_draw *d, u32 site)
{
    if (d->active[site] && d->turns)
        end_turn(d, site);
    d->n -= d->active[site];
    d->active[site] = false;
}
