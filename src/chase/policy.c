/*
 * policy.c - see policy.h.
 */
#include "chase/policy.h"

/* For the overrun of the first window, of which nothing is known; and the least for those that follow. */
enum { FIRST_RESERVE_US = 4000, LEAST_RESERVE_US = 500 };

static u64 reserve_of(const struct dh_chase_policy *p)
{
    u64 seen = 2 * p->overrun + LEAST_RESERVE_US;
    return p->windows || seen > FIRST_RESERVE_US ? seen : FIRST_RESERVE_US;
}

/* What it would be if there were no budget. */
static u64 wanted(const struct dh_chase_policy *p, u32 site)
{
    enum { MOST = 20 };
    u32 doublings = p->sites[site].turns / 2;
    u64 delay = p->delay << (doublings < MOST ? doublings : MOST);
    return p->longest <= p->delay ? p->delay : delay < p->longest ? delay : p->longest;
}

/* What may be spent until this time after the start. */
static double granted(const struct dh_chase_policy *p, u64 total)
{
    return (double)(total > p->min ? total : p->min) * p->rmax + (double)p->carried;
}

u64 dh_chase_policy_delay(const struct dh_chase_policy *p, u32 site, u64 total, u64 spent)
{
    const u64 delay = wanted(p, site);
    if (p->rmax >= 1)
        return delay;
    double left = granted(p, total) - (double)(p->waited + spent) - (double)reserve_of(p);
    if (left <= 0)
        return 0;
    return left < (double)delay ? (u64)left : delay;
}

/* The same for one that is to begin: less than half a delay is not worth it. */
static u64 next_delay(const struct dh_chase_policy *p, u32 site, u64 total)
{
    u64 delay = dh_chase_policy_delay(p, site, total, 0);
    return delay < (p->whole ? p->delay : (wanted(p, site) + 1) / 2) ? 0 : delay;
}

double dh_chase_policy_budget(const struct dh_chase_policy *p, u32 site, u64 total)
{
    u64 delay = next_delay(p, site, total), next = delay + reserve_of(p);
    double all = granted(p, total) + (double)next * p->rmax;
    double budget = delay && all > 0 ? 1 - (double)(p->waited + next) / all : 0;
    return budget > 0 ? budget : 0;
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

void dh_chase_policy_sampled(struct dh_chase_policy *p, u32 site, u64 armed, u64 window, u64 delay)
{
    DH_ASSERT(site < DH_CONTROL_SITES);
    u64 over = window > delay ? window - delay : 0;
    p->waited += window;
    p->windows++;
    p->overrun = over > p->overrun ? over : p->overrun;
    p->sites[site].samples++;
    p->sites[site].quick = armed < p->delay ? p->sites[site].quick + 1 : 0;
}

void dh_chase_policy_late(struct dh_chase_policy *p, u64 late)
{
    p->overrun = late > p->overrun ? late : p->overrun;
}

void dh_chase_policy_add(struct dh_chase_policy *p, u64 more)
{
    p->waited += more;
}
