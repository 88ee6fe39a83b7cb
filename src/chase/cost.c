/*
 * cost.c - see cost.h.
 */
#include "chase/cost.h"

static u64 since(u64 then, u64 now)
{
    return now > then ? now - then : 0;
}

static u64 at_most(u64 value, u64 most)
{
    return value < most ? value : most;
}

/* When it went on by itself, or 0. */
static u64 left_at(const struct dh_control *c, u64 came, u64 now)
{
    u64 left = __atomic_load_n(&c->left_us, __ATOMIC_ACQUIRE);
    return left > came && left < now ? left : 0;
}

/* How long the second of two that have met has waited to be looked at. */
static u64 shown_for(const struct dh_control *c, u32 state, u64 now)
{
    const u64 came = c->second.time_us, gone = __atomic_load_n(&c->gone_us, __ATOMIC_ACQUIRE);
    if ((state & DH_CONTROL_PHASE) != DH_CONTROL_SHOWN)
        return 0;
    return since(came, gone > came && gone < now ? gone : now);
}

u64 dh_chase_cost_traps(const struct dh_control *c, u32 state, u64 traps, u64 begin, u64 now)
{
    u64 made = since(traps, __atomic_load_n(&c->traps, __ATOMIC_RELAXED));
    return at_most(made * DH_CHASE_COST_TRAP_US + shown_for(c, state, now), since(begin, now));
}

struct dh_chase_cost dh_chase_cost_of(const struct dh_control *c, u32 state, u64 now, bool full)
{
    const u64 came = c->first.time_us, left = left_at(c, came, now);
    const u64 late = __atomic_load_n(&c->late, __ATOMIC_ACQUIRE);
    struct dh_chase_cost cost = {.waited = since(came, left ? left : now), .alone = left != 0};
    if (late >> 32 == (state & ~(u32)DH_CONTROL_PHASE))
        cost.late = at_most((u32)late, cost.waited);
    cost.waited -= cost.late;
    if (left && full)
        cost.waited += shown_for(c, state, now);
    else if (left)
        cost.waited += dh_chase_cost_traps(c, state, c->left_traps, left, now);
    return cost;
}

u64 dh_chase_cost_rest(const struct dh_control *c, u64 came, u64 from, u64 until)
{
    const u64 left = left_at(c, came, until);
    return since(from, left ? left : until);
}
