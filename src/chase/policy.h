/*
 * policy.h - when to sample: RaceChaser's budget (Caper and RaceChaser, CC 2017, section 4.2).
 *
 * Time is in microseconds. Waited is every moment from when a thread comes to the first side until the last
 * breakpoint of the second is cleared, and all changes of code: the waits, the traps, the arming; windows do
 * not overlap. What may be spent is rmax * max(total, min). A window costs its delay and an overrun: wake-ups
 * of both sides and changes of code, which take longer on a busy machine. It is begun only if the budget
 * covers a delay, perhaps a shorter one, and a reserve for the overrun: twice the worst so far. So
 * waited <= rmax * max(total, min), unless a window runs over by more than twice what any did before.
 *
 * Whoever runs a program many times may carry over what was left of the budget, or what was spent beyond it,
 * from one run to the next (agent/purse.h): then `carried` is added to what may be spent, and min is 0.
 *
 *     P_budget = 1 - (waited + next) / ((max(total, min) + next) * rmax + carried)
 *
 * where `next` is the delay and reserve of the next window, and P_budget is 0 if that is not covered.
 *
 * The paper's P_freq is 1 / how often this thread has sampled. Breakpoints that are set for one hit leave no
 * count of hits; how long one was armed before it was hit says the same: P_freq of an instruction is 1 / (1 +
 * n) where its last n samples were each hit within one delay of being armed. What is rare has P_freq 1.
 */
#ifndef DH_CHASE_POLICY_H
#define DH_CHASE_POLICY_H

#include "base/control.h"

struct dh_chase_policy {
    double rmax; /* 0.05 is 5%; 1: nothing is limited */
    u64 delay;
    u64 longest;     /* the delay of a site doubles every second turn, up to this; 0: it does not */
    bool fair;       /* somebody else sees to it that sites take turns: whenever the budget covers it, one is
                        sampled */
    bool whole;      /* a delay is not shortened, and each site is sampled once: steering */
    u64 min;         /* t_min: shorter runs are granted the budget of this long one */
    int64_t carried; /* what may be waited beyond that, from earlier runs; below 0: so much less */
    u64 random;      /* state of the generator; not 0 */
    u64 waited;
    u64 windows; /* ended so far */
    u64 overrun; /* the worst of them, and of other sleeps */
    struct {
        u32 samples;
        u32 quick; /* samples in a row that were hit at once */
        u32 turns; /* how many it has had, in earlier runs too; set by the caller before it asks */
    } sites[DH_CONTROL_SITES];
};

/* The delay that a window at this site may have, at this time after the start, of which so much has been
 * spent already. */
u64 dh_chase_policy_delay(const struct dh_chase_policy *p, u32 site, u64 total, u64 spent);
double dh_chase_policy_budget(const struct dh_chase_policy *p, u32 site, u64 total); /* P_budget */

/* Sample this site, at this time after the start? Its first sample is taken whenever the budget covers it: it
 * may be the only chance. */
bool dh_chase_policy_decide(struct dh_chase_policy *p, u32 site, u64 total);
/* A sample has been taken: the site was armed for so long before it was hit; the window took so long, and was
 * granted this delay. */
void dh_chase_policy_sampled(struct dh_chase_policy *p, u32 site, u64 armed, u64 window, u64 delay);

/* Somebody who slept was woken so late: so may be those who wait in a window. */
void dh_chase_policy_late(struct dh_chase_policy *p, u64 late);

/* Time that has gone into changes of code outside the windows told of, or into waits after one. */
void dh_chase_policy_add(struct dh_chase_policy *p, u64 more);

#endif
