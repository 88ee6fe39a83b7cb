/*
 * policy.h - when to sample: RaceChaser's budget (Caper and RaceChaser, CC 2017, section 4.2).
 *
 * Time is in microseconds. Waited is what the chase has taken of the program's time: waits at the first side,
 * traps of others while nobody waits, changes of code (chase/cost.h); windows do not overlap. What may be
 * spent is rmax * max(total, min). A window is begun only if the budget covers the worst that it may cost,
 * and is settled by what it did cost:
 *
 *     patience    until the command attends to the thread that came
 *     delay       perhaps a shorter one than is wanted, though not less than half of it
 *     patience    until the command has cleared everything, or copied the stacks of two that have met
 *     patience    steering only: until the other's access has been made
 *     margin      for what has no limit of its own
 *
 * Each of these but the last ends by a clock that the waiting thread itself looks at. So waited <= rmax *
 * max(total, min) whatever the command does, unless the margin is used up: by traps at the second side after
 * the thread has gone on, while the command has no processor and cannot clear it. The margin is a
 * millisecond, twice the worst that any window took of it, and twice the longest change of code.
 *
 * A thread whose time is over may have to wait for a processor. Nobody can foresee how long, and it is not
 * for us that it waits: that is late, not waited. It is charged to the budget all the same when it has
 * happened, so that a busy machine has fewer windows.
 *
 * A caller that runs a program many times may carry over what was left of the budget, or what was spent
 * beyond it, from one run to the next (agent/balance.h): then `carried` is added to what may be spent, and
 * min is 0.
 *
 *     P_budget = 1 - (waited + late + next) / ((max(total, min) + next) * rmax + carried)
 *
 * where `next` is the worst cost of the next window, and P_budget is 0 if that is not covered.
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
    u64 longest; /* the delay of a site doubles every second turn, up to this; 0: it does not */
    bool fair;   /* somebody else sees to it that sites take turns: whenever the budget covers it, one is
                    sampled */
    bool whole;  /* a delay is not shortened, and each site is sampled once: steering */
    u64 patience;
    u64 min;         /* t_min: shorter runs are granted the budget of this long one */
    int64_t carried; /* what may be waited beyond that, from earlier runs; below 0: so much less */
    u64 random;      /* state of the generator; not 0 */
    u64 waited;
    u64 late;
    u64 overrun; /* the worst that a window took of the margin, or is expected to */
    u64 change;  /* the longest change of code */
    struct {
        u32 samples;
        u32 quick; /* samples in a row that were hit at once */
        u32 turns; /* how many it has had, in earlier runs too; set by the caller before it asks */
    } sites[DH_CONTROL_SITES];
};

/* The usual patience, if anything is limited. */
enum { DH_CHASE_POLICY_PATIENCE_US = 2000 };

/* What is left of the budget at this time after the start, beside the margin, if so much has been spent that
 * is not settled yet. */
u64 dh_chase_policy_left(const struct dh_chase_policy *p, u64 total, u64 spent);
/* The delay that may be granted to a thread that came to this site so long ago. */
u64 dh_chase_policy_delay(const struct dh_chase_policy *p, u32 site, u64 total, u64 spent);
/* While nobody waits: may things go on for another step of so long, which others may spend in traps, and
 * after which somebody may have to be looked at? */
bool dh_chase_policy_covers(const struct dh_chase_policy *p, u64 total, u64 spent, u64 step);
double dh_chase_policy_budget(const struct dh_chase_policy *p, u32 site, u64 total); /* P_budget */

/* Sample this site, at this time after the start? Its first sample is taken whenever the budget covers it: it
 * may be the only chance. */
bool dh_chase_policy_decide(struct dh_chase_policy *p, u32 site, u64 total);
/* A sample has been taken: the site was armed for so long before it was hit; the window was to cost this at
 * most, without the margin, and did cost that, beside what it was late. */
void dh_chase_policy_sampled(struct dh_chase_policy *p, u32 site, u64 armed, u64 most, u64 cost, u64 late);

/* The command was woken so late: so it may be when a window is to be ended. */
void dh_chase_policy_expect(struct dh_chase_policy *p, u64 late);

/* Somebody has waited beside the windows told of. */
void dh_chase_policy_add(struct dh_chase_policy *p, u64 more);
/* Code was changed outside the windows told of. */
void dh_chase_policy_changed(struct dh_chase_policy *p, u64 took);

#endif
