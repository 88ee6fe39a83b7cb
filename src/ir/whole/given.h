/*
 * given.h - what a thread reads from its argument, from the creator's point of view.
 *
 *     work[i].id = i; work[i].table = table; create(worker, &work[i]);
 */
#ifndef DH_IR_WHOLE_GIVEN_H
#define DH_IR_WHOLE_GIVEN_H

#include "ir/whole/team.h"

enum { DH_W_MAX_CALLS = 16 }; /* between a thread's first function and one that accesses */

/* The loop with the end of which the team has been joined, or NULL. */
const struct dh_w_counted *dh_w_until_joined(const struct dh_w_team *team);
/* The operation that reads a value; DH_W_NONE: it is not read plainly from memory. */
u32 dh_w_reader_of(const struct dh_w_fn *fn, LLVMValueRef value);
/* What a thread reads by an operation of this instance, or the creator, as a value of the round of the
 * creation; or NULL. */
LLVMValueRef dh_w_given_value(const struct dh_w_teams *t, const struct dh_w_team *team, u32 inst, u32 read);
/* The index, if an address has one that the thread reads from what it was given. */
struct dh_w_known dh_w_given_number(const struct dh_w_teams *t, const struct dh_w_team *team, u32 inst,
                                    const struct dh_w_address *a);
/* An address whose base the thread reads from what it was given, as the creator has it. *ret_slot: it is in
 * the block that an earlier loop has made in the round of that index. */
struct dh_w_address dh_w_given_pointer(const struct dh_w_teams *t, const struct dh_w_team *team, u32 inst,
                                       const struct dh_w_address *a, const struct dh_w_known *number,
                                       bool *ret_slot);
/* An index that the creator reads again, in the loop that joins, from what it has given to the thread that is
 * joined: as what it was, with the index of that loop. */
void dh_w_given_again(const struct dh_w_teams *t, const struct dh_w_team *team, struct dh_w_address *a);

#endif
