/*
 * cost.h - how much of the program's time a window has taken (docs/design/field.md, "The budget").
 *
 * While a thread waits, all of that time counts, whatever else happens in it: traps of other threads and code
 * changes overlap with the wait. Once it has resumed, other threads' traps count, by their number but never
 * more than the time elapsed; so does the wait of a thread that is to be examined. Time that a thread loses
 * between the end of its wait and getting a processor again is reported separately: it is runnable, and
 * others run.
 */
#ifndef DH_CHASE_COST_H
#define DH_CHASE_COST_H

#include "base/control.h"

enum { DH_CHASE_COST_TRAP_US = 10 };

struct dh_chase_cost {
    u64 waited, late;
    bool alone; /* the first thread resumed by itself */
};

/* For the window whose first thread is control->first, in this state, until now. With vector clocks traps
 * happen all the time, whatever the budget, so they do not count. */
struct dh_chase_cost dh_chase_cost_of(const struct dh_control *c, u32 state, u64 now, bool full);
/* How long a first thread that came at this time still waited, between one moment and the later one at which
 * it was released, up to the limit of its patience; also if it is no longer control->first. */
u64 dh_chase_cost_rest(const struct dh_control *c, u64 came, u64 from, u64 until);
/* While nobody waits at the first side: the cost since a moment at which there had been this many traps. */
u64 dh_chase_cost_traps(const struct dh_control *c, u32 state, u64 traps, u64 since, u64 now);

#endif
