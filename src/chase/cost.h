/*
 * cost.h - what a window has taken of the program's time (docs/design/field.md, "The budget").
 *
 * While a thread waits, all of the time counts, whatever else happens in it: traps of others and changes of
 * code overlap with the wait. When it has gone on, the traps of others count, by their number, though never
 * more than the time that has passed; and so does the wait of one who is to be looked at. What a thread loses
 * between the end of its wait and its next moment on a processor is told apart: it is ready, and others run.
 */
#ifndef DH_CHASE_COST_H
#define DH_CHASE_COST_H

#include "base/control.h"

enum { DH_CHASE_COST_TRAP_US = 10 };

struct dh_chase_cost {
    u64 waited, late;
    bool alone; /* the first thread has gone on by itself */
};

/* Of the window whose first thread is control->first, in this state, until now. Vector clocks have their
 * traps always, whatever the budget: then these do not count. */
struct dh_chase_cost dh_chase_cost_of(const struct dh_control *c, u32 state, u64 now, bool full);
/* How long a first thread that came at this time still waited, from one moment until another at which it was
 * let go, though not beyond its patience; also if it is not control->first any more. */
u64 dh_chase_cost_rest(const struct dh_control *c, u64 came, u64 from, u64 until);
/* While nobody waits at the first side, since some moment at which there had been so many traps. */
u64 dh_chase_cost_traps(const struct dh_control *c, u32 state, u64 traps, u64 since, u64 now);

#endif
