/*
 * policy.h - when to sample: RaceChaser's budget (Caper and RaceChaser, CC 2017, section 4.2).
 *
 * Time is in microseconds. Waited is every moment from when a thread comes to the first side until the last
 * breakpoint of the second is cleared: the waits, all traps, the changes of code; windows do not overlap.
 *
 *     P_budget = 1 - (waited + next) / ((max(total, min) + next) * rmax)
 *
 * where `next` is what the next window is expected to take: the delay, or as much as the longest so far.
 * Nothing is sampled if that is not positive, so waited / max(total, min) stays below rmax. A window that
 * takes longer than any before, on a busy machine, is made up for by those that come later.
 *
 * The paper's P_freq is 1 / how often this thread has sampled. Breakpoints that are set for one hit leave no
 * count of hits; how long one was armed before it was hit says the same: P_freq of an instruction is 1 / (1 +
 * n) where its last n samples were each hit within one delay of being armed. What is rare has P_freq 1.
 */
#ifndef DH_CHASE_POLICY_H
#define DH_CHASE_POLICY_H

#include "base/control.h"

struct dh_chase_policy {
    double rmax; /* 0.05 is 5% */
    u64 delay;
    u64 min;    /* t_min: shorter runs are granted the budget of this long one */
    u64 random; /* state of the generator; not 0 */
    u64 waited;
    u64 longest; /* window */
    struct {
        u32 samples;
        u32 quick; /* samples in a row that were hit at once */
    } sites[DH_CONTROL_SITES];
};

/* Sample this site, at this time after the start? Its first sample is taken whenever the budget allows it: it
 * may be the only chance. */
bool dh_chase_policy_decide(struct dh_chase_policy *p, u32 site, u64 total);
/* A sample has been taken: the site was armed for so long before it was hit, and the window took so long. */
void dh_chase_policy_sampled(struct dh_chase_policy *p, u32 site, u64 armed, u64 window);

/* More time has gone into the window that ended last. */
void dh_chase_policy_add(struct dh_chase_policy *p, u64 more);

double dh_chase_policy_budget(const struct dh_chase_policy *p, u64 total); /* P_budget, may be negative */

#endif
