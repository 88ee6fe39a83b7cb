/*
 * policy.c - see policy.h.
 */
#include "chase/policy.h"

double dh_chase_policy_budget(const struct dh_chase_policy *p, u64 total)
{
    double time = (double)((total > p->min ? total : p->min) + p->delay);
    return p->rmax > 0 ? 1 - (double)(p->waited + p->delay) / (time * p->rmax) : -1;
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
    p->sites[site].samples++;
    p->sites[site].quick = armed < p->delay ? p->sites[site].quick + 1 : 0;
}
