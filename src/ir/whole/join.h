/*
 * join.h - loops that join threads.
 */
#ifndef DH_IR_WHOLE_JOIN_H
#define DH_IR_WHOLE_JOIN_H

#include "ir/whole/flow.h"

struct dh_w_counted;

bool dh_w_loop_has(const struct dh_w_fn *fn, u32 loop, u32 block);
/* Whether the i-th successor of the block skips the loop because it would have no iterations. */
bool dh_w_loop_guard(const struct dh_w_fn *fn, u32 block, u32 i, u32 loop);
/* count.c: whether a loop of `inst` joins in each iteration, by the join, what the iteration with the same
 * index of a loop of `by` has created, by the fork; and how the joining loop counts. Both instances run once.
 */
bool dh_w_join_matches(struct dh_w_flow *f, u32 by, u32 fork, u32 inst, u32 join, struct dh_w_counted *ret);
/* count.c: those of the roots that have ended, and their joined children with them, when the loop around this
 * join is left by the i-th successor of this block. For `sound`. */
u64 dh_w_join_counted(struct dh_w_flow *f, u32 inst, u32 join, u64 roots, u32 *ret_block, u32 *ret_i);

#endif
