/*
 * nest.h - threads of a team that create and join further threads.
 *
 *     void *worker(void *w) { create(&t, helper, w); ... join(t); }
 *
 * The helper's accesses are seen in two ways: from where workers are created, in terms of its worker's
 * argument, which distinguishes the helpers of two workers; and from the worker, which distinguishes what one
 * worker and its helpers do.
 */
#ifndef DH_IR_WHOLE_NEST_H
#define DH_IR_WHOLE_NEST_H

#include "ir/whole/team.h"

/* The root whose threads create those of this one, if each joins all it has created before it ends; or 0. */
u32 dh_w_nest_under(const struct dh_w_teams *t, u32 root);
/* The instance that creates threads of this instance's root, or, if it belongs to a thread that does, other
 * threads. DH_W_NONE: there is none. */
u32 dh_w_nest_creator(const struct dh_w_teams *t, u32 inst);
/* The roots of which threads may run that were created by the thread that does the operation. */
u64 dh_w_nest_beside(const struct dh_w_teams *t, u32 inst, u32 op);

#endif
