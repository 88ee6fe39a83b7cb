/*
 * policy.c - see policy.h.
 */
#include "chase/policy.h"

#include "chase/cost.h"

enum { LEAST_MARGIN_US = 1000, ENDLESS_US = 1000000000 };

static u64 least(u64 a, u64 b)
{
    return a < b ? a : b;
}

static u64 margin_of(const struct dh_chase_policy *p)
{
    return LEAST_MARGIN_US + 2 * p->overrun + 2 * p->change;
}

/* The most a window may cost in addition to its delay, if nobody has come yet. */
static u64 beside_delay(const struct dh_chase_policy *p)
{
    return (p->whole ? 3 : 2) * p->patience + margin_of(p);
}

/* The delay if there were no budget. */
static u64 wanted(const struct dh_chase_policy *p, u32 site)
{
    enum { MOST = 20 };
    u32 doublings = p->sites[site].turns / 2;
    u64 delay = p->delay << (doublings < MOST ? doublings : MOST);
    return p->longest <= p->delay ? p->delay : delay < p->longest ? delay : p->longest;
}

/* What is to be spent by this time after the start. */
static double earned(const struct dh_chase_policy *p, u64 total)
{
    return (double)(total > p->min ? total : p->min) * p->rmax + (double)p->carried;
}

/* What may be spent. */
static double granted(const struct dh_chase_policy *p, u64 total)
{
    const u64 ran = p->ran + total;
    return earned(p, total) + (double)(ran < p->reserved ? ran : p->reserved) * p->rmax;
}

u64 dh_chase_policy_left(const struct dh_chase_policy *p, u64 total, u64 spent)
{
    if (p->rmax >= 1)
        return ENDLESS_US;
    double left = granted(p, total) - (double)(p->waited + p->late + spent) - (double)margin_of(p);
    return left > 0 ? (u64)left : 0;
}

/* The same without the reserve, and without the margin. */
static u64 own_left(const struct dh_chase_policy *p, u64 total, u64 spent)
{
    if (p->rmax >= 1)
        return ENDLESS_US;
    double left = earned(p, total) - (double)(p->waited + p->late + spent);
    return left > 0 ? (u64)left : 0;
}

u64 dh_chase_policy_delay(const struct dh_chase_policy *p, u32 site, u64 total, u64 spent)
{
    const u64 delay = wanted(p, site), left = dh_chase_policy_left(p, total, spent);
    const u64 behind = (p->whole ? 2 : 1) * p->patience;
    if (left <= behind)
        return 0;
    return least(least(delay, left - behind), own_left(p, total, spent));
}

bool dh_chase_policy_covers(const struct dh_chase_policy *p, u64 total, u64 spent, u64 step)
{
    return dh_chase_policy_left(p, total, spent) >= step + p->patience && own_left(p, total, spent) >= step;
}

/* The delay of a window about to begin: the thread may have to wait for the command at first, and less than
 * half a delay is not worthwhile. */
static u64 next_delay(const struct dh_chase_policy *p, u32 site, u64 total)
{
    u64 delay = dh_chase_policy_delay(p, site, total, p->patience);
    return delay < (p->whole ? p->delay : (wanted(p, site) + 1) / 2) ? 0 : delay;
}

double dh_chase_policy_budget(const struct dh_chase_policy *p, u32 site, u64 total)
{
    u64 delay = next_delay(p, site, total), next = delay + beside_delay(p);
    if (p->rmax >= 1)
        return delay ? 1 : 0;
    double all = granted(p, total) + (double)next * p->rmax;
    double budget = delay && all > 0 ? 1 - (double)(p->waited + p->late + next) / all : 0;
    return budget > 0 ? budget : 0;
}

u32 dh_chase_policy_spare(const struct dh_chase_policy *p)
{
    return p->rmax >= 1 ? 0 : (u32)least(margin_of(p) / DH_CHASE_COST_TRAP_US, UINT32_MAX);
}

u32 dh_chase_policy_hits(const struct dh_chase_policy *p, u32 site, u64 total, u64 spent)
{
    const u64 wait = dh_chase_policy_delay(p, site, total, spent) + p->patience;
    const u64 left = dh_chase_policy_left(p, total, spent);
    if (p->rmax >= 1)
        return 0;
    return dh_chase_policy_spare(p) +
           (u32)least((left > wait ? left - wait : 0) / DH_CHASE_COST_TRAP_US, UINT32_MAX / 2);
}

u64 dh_chase_policy_excess(const struct dh_chase_policy *p, u64 total)
{
    const double over = (double)p->waited - earned(p, total);
    return p->rmax < 1 && over > 0 ? (u64)over : 0;
}

/* In [0, 1). */
static double draw(struct dh_chase_policy *p)
{
    p->random ^= p->random << 13;
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    return (double)(p->random >> 11) / (double)(1ull << 53);
}

bool dh_chase_policy_decide(struct dh_chase_policy *p, u32 site, u64 total)
{
    DH_ASSERT(site < DH_CONTROL_SITES);
    if (!next_delay(p, site, total) || p->rmax <= 0)
        return false;
    if (p->fair)
        return true;
    if (p->sites[site].samples == 0 || p->whole)
        return p->sites[site].samples == 0;
    return draw(p) < dh_chase_policy_budget(p, site, total) / (1 + p->sites[site].quick);
}

void dh_chase_policy_sampled(struct dh_chase_policy *p, u32 site, u64 armed, u64 most, u64 cost, u64 late)
{
    DH_ASSERT(site < DH_CONTROL_SITES);
    p->waited += cost;
    p->late += late;
    dh_chase_policy_expect(p, cost > most ? cost - most : 0);
    p->sites[site].samples++;
    p->sites[site].quick = armed < p->delay ? p->sites[site].quick + 1 : 0;
}

void dh_chase_policy_expect(struct dh_chase_policy *p, u64 late)
{
    p->overrun = late > p->overrun ? late : p->overrun;
}

void dh_chase_policy_add(struct dh_chase_policy *p, u64 more)
{
    p->waited += more;
}

void dh_chase_policy_changed(struct dh_chase_policy *p, u64 took)
{
    p->waited += took;
    p->change = took > p->change ? took : p->change;
}
