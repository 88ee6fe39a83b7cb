/*
 * result.h - what a thread returns to the code that joins it.
 *
 *     for (i = 0; i < n; i++) { join(t[i], &result); sum += *(int *)result; }
 */
#ifndef DH_IR_WHOLE_RESULT_H
#define DH_IR_WHOLE_RESULT_H

#include "ir/whole/team.h"

/* Whether a local of the thread's first function is a block that it has made and returns. */
bool dh_w_result_is_block(const struct dh_w_teams *t, const struct dh_w_team *team, dh_w_value v);
/* An address of the creator that begins at the result of the thread that a loop joins: as an address from
 * what that thread was given, by the index of that loop, or, *ret_block, in the block that it has made, a
 * local of its first function. Not known: it is another one. */
struct dh_w_address dh_w_result_read(const struct dh_w_teams *t, const struct dh_w_team *team,
                                     const struct dh_w_address *a, bool *ret_block);

#endif
