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

/* When the thread resumed by itself, or 0. */
static u64 left_at(const struct dh_control *c, u64 came, u64 now)
{
    u64 left = __atomic_load_n(&c->left_us, __ATOMIC_ACQUIRE);
    return left > came && left < now ? left : 0;
}

static u64 at_least(u64 value, u64 least)
{
    return value > least ? value : least;
}

/* The delay that the first thread was granted; 0 if the command has not attended to it. */
static u64 granted(const struct dh_control *c)
{
    return c->until_us > c->first.time_us ? since(c->attended_us, c->until_us) : 0;
}

/* How long, at most, the first thread waits in a window in this state. If it seems to take longer, its time
 * is over and it had no processor to notice. */
static u64 longest(const struct dh_control *c, u32 state)
{
    const u64 all = 2 * c->patience_us + granted(c);
    switch (state & DH_CONTROL_PHASE) {
    case DH_CONTROL_HELD:
        return c->patience_us;
    case DH_CONTROL_WATCHED:
        return c->patience_us + granted(c);
    case DH_CONTROL_MET:
    case DH_CONTROL_SHOWN:
        return at_least(all, c->grant_us);
    default:
        return all;
    }
}

/* How long the second of two threads that met has waited to be examined since this moment; before, the first
 * waited, too. */
static u64 shown_for(const struct dh_control *c, u32 state, u64 begin, u64 now)
{
    const u64 came = c->second.time_us, gone = __atomic_load_n(&c->gone_us, __ATOMIC_ACQUIRE);
    const u64 end = at_least(c->first.time_us + c->grant_us, came + c->patience_us);
    if ((state & DH_CONTROL_PHASE) != DH_CONTROL_SHOWN)
        return 0;
    return since(at_least(came, begin), gone > came && gone < now ? gone : at_most(now, end));
}

u64 dh_chase_cost_traps(const struct dh_control *c, u32 state, u64 traps, u64 begin, u64 now)
{
    u64 made = since(traps, __atomic_load_n(&c->traps, __ATOMIC_RELAXED));
    return at_most(made * DH_CHASE_COST_TRAP_US + shown_for(c, state, begin, now), since(begin, now));
}

struct dh_chase_cost dh_chase_cost_of(const struct dh_control *c, u32 state, u64 now, bool full)
{
    const u64 came = c->first.time_us, left = left_at(c, came, now);
    const u64 noted = __atomic_load_n(&c->late, __ATOMIC_ACQUIRE);
    const u64 late = noted >> 32 == (state & ~(u32)DH_CONTROL_PHASE) ? (u32)noted : 0;
    const u64 all = since(came, left ? left : now);
    struct dh_chase_cost cost = {.waited = at_most(since(late, all), longest(c, state)), .alone = left != 0};
    cost.late = all - cost.waited;
    if (left && full)
        cost.waited += shown_for(c, state, left, now);
    else if (left)
        cost.waited += dh_chase_cost_traps(c, state, c->left_traps, left, now);
    return cost;
}

u64 dh_chase_cost_rest(const struct dh_control *c, u64 came, u64 from, u64 until)
{
    const u64 left = left_at(c, came, until);
    return at_most(since(from, left ? left : until), c->patience_us);
}
