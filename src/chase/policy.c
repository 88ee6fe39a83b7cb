/*
 * policy.c - see policy.h.
 */
#include "chase/policy.h"

double dh_chase_policy_budget(const struct dh_chase_policy *p, u64 total)
{
    u64 next = p->longest > p->delay ? p->longest : p->delay;
    double time = (double)((total > p->min ? total : p->min) + next);
    return p->rmax > 0 ? 1 - (double)(p->waited + next) / (time * p->rmax) : -1;
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
    double budget = dh_chase_policy_budget(p, total);
    if (budget <= 0)
        return false;
    return p->sites[site].samples == 0 || draw(p) < budget / (1 + p->sites[site].quick);
}

void dh_chase_policy_sampled(struct dh_chase_policy *p, u32 site, u64 armed, u64 window)
{
    DH_ASSERT(site < DH_CONTROL_SITES);
    p->waited += window;
    p->longest = window > p->longest ? window : p->longest;
    p->sites[site].samples++;
    p->sites[site].quick = armed < p->delay ? p->sites[site].quick + 1 : 0;
}

void dh_chase_policy_add(struct dh_chase_policy *p, u64 more)
{
    p->waited += more;
}
