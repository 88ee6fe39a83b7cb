/*
 * policy.h - when to sample: RaceChaser's budget (Caper and RaceChaser, CC 2017, section 4.2).
 *
 * Time is in microseconds. `waited` is what the chase has taken of the program's time: waits at the first
 * side, traps of other threads while nobody waits, code changes (chase/cost.h); windows do not overlap. The
 * budget is rmax * max(total, min). A window is begun only if the budget covers its worst-case cost, and is
 * charged what it actually cost. The worst case is the sum of:
 *
 *     patience    until the command attends to the thread that came
 *     delay       perhaps shorter than wanted, but at least half of it
 *     patience    until the command has cleared everything, or copied the stacks of two threads that met
 *     patience    steering only: until the other's access has been made
 *     margin      for costs without a limit of their own
 *
 * Each of these except the last is ended by a clock that the waiting thread itself checks. The margin covers
 * traps that come after the thread has resumed, while the command has no processor and cannot clear what is
 * armed: when they have used it up, the program removes the breakpoints itself. So waited <= rmax *
 * max(total, min) whatever the command does, except where the program cannot do that
 * (docs/design/field.md). The margin is a millisecond, plus twice the most that any window took of it, plus
 * twice the longest code change.
 *
 * A thread whose time is over may have to wait for a processor. How long cannot be predicted, and it does not
 * wait because of us: that time is `late`, not `waited`. It is charged to the budget afterwards all the same,
 * so that there are fewer windows on a busy machine.
 *
 * A caller that runs a program many times may carry over the rest of the budget, or what was overspent, from
 * one run to the next (agent/balance.h): then `carried` is added to the budget, and min is 0. It may also
 * allow a reserve, rmax * min(ran + total, reserved): that covers the worst case of a window, but is not
 * meant to be spent. The delay itself, which is what a window usually costs, has to be covered without it.
 *
 *     P_budget = 1 - (waited + late + next) / ((max(total, min) + next) * rmax + carried)
 *
 * where `next` is the worst-case cost of the next window, and P_budget is 0 if that is not covered. With an
 * rmax of 1 there is no limit, and P_budget is 1: otherwise a long first wait would rule out the second.
 *
 * The paper's P_freq is 1 / how often this thread has sampled. One-shot breakpoints do not count hits, but
 * the time from arming to the hit is as informative: P_freq of an instruction is 1 / (1 + n) if its last n
 * samples were each hit within one delay of being armed. Rare instructions have P_freq 1.
 */
#ifndef DH_CHASE_POLICY_H
#define DH_CHASE_POLICY_H

#include "base/control.h"

struct dh_chase_policy {
    double rmax; /* 0.05 is 5%; 1: no limit */
    u64 delay;
    u64 longest; /* a site's delay doubles every second turn, up to this; 0: it does not */
    bool fair;   /* the caller makes sites take turns: one is sampled whenever the budget covers it */
    bool whole;  /* steering: a delay is never shortened, and each site is sampled once */
    u64 patience;
    u64 min;         /* t_min: shorter runs get the budget of a run this long */
    int64_t carried; /* budget from earlier runs in addition to that; negative: deducted */
    u64 ran;         /* in earlier runs, as far as it matters for the reserve */
    u64 reserved;    /* running time for which there is a reserve; 0: there is none */
    u64 random;      /* state of the generator; not 0 */
    u64 waited;
    u64 late;
    u64 overrun; /* the most a window took of the margin, or is expected to */
    u64 change;  /* the longest change of code */
    struct {
        u32 samples;
        u32 quick; /* consecutive samples that were hit at once */
        u32 turns; /* so far, including earlier runs; set by the caller before it asks */
    } sites[DH_CONTROL_SITES];
};

/* The usual patience, if there is a limit. */
enum { DH_CHASE_POLICY_PATIENCE_US = 2000 };

/* What is left of the budget and the reserve at this time after the start, less the margin, if this much has
 * been spent but not settled yet. */
u64 dh_chase_policy_left(const struct dh_chase_policy *p, u64 total, u64 spent);
/* The delay that can be granted to a thread that came to this site this long ago. */
u64 dh_chase_policy_delay(const struct dh_chase_policy *p, u32 site, u64 total, u64 spent);
/* While nobody waits: can another step of this length be afforded, during which other threads may trap, and
 * after which one may have to be examined? */
bool dh_chase_policy_covers(const struct dh_chase_policy *p, u64 total, u64 spent, u64 step);
double dh_chase_policy_budget(const struct dh_chase_policy *p, u32 site, u64 total); /* P_budget */

/* Sample this site, at this time after the start? Its first sample is taken whenever the budget covers it:
 * there may be no other chance. */
bool dh_chase_policy_decide(struct dh_chase_policy *p, u32 site, u64 total);
/* A sample has been taken: the site was armed this long before it was hit; `most` is what the window could
 * have cost without the margin, `cost` what it did cost, not counting lateness. */
void dh_chase_policy_sampled(struct dh_chase_policy *p, u32 site, u64 armed, u64 most, u64 cost, u64 late);

/* The command was woken this late, so it may be as late when a window has to be ended. */
void dh_chase_policy_expect(struct dh_chase_policy *p, u64 late);

/* How many traps the margin covers: as many may come while the command does not clear what is armed. 0: any
 * number. */
u32 dh_chase_policy_spare(const struct dh_chase_policy *p);
/* How many may be caused in the window that begins at this site. 0: any number. */
u32 dh_chase_policy_hits(const struct dh_chase_policy *p, u32 site, u64 total, u64 spent);
/* What was spent in addition to the budget, at this time after the start. */
u64 dh_chase_policy_excess(const struct dh_chase_policy *p, u64 total);

/* A thread has waited outside the windows reported so far. */
void dh_chase_policy_add(struct dh_chase_policy *p, u64 more);
/* Code was changed outside the windows reported so far. */
void dh_chase_policy_changed(struct dh_chase_policy *p, u64 took);

#endif
