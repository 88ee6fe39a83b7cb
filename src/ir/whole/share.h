/*
 * share.h - the share of an array that a thread of a team processes: from f(i) to f(i + 1), or every n-th
 * element from the i-th on.
 */
#ifndef DH_IR_WHOLE_SHARE_H
#define DH_IR_WHOLE_SHARE_H

#include "ir/whole/part.h"
#include "ir/whole/team.h"

/* A number for the way in which a team shares: no index that a thread's loop over a part takes is taken by a
 * loop of another thread with the same number. 0: it is not known. The index may have something added to it,
 * `plus`, and the array may be a part that begins at the index `begin` for the creator; NULL: neither is so.
 */
u32 dh_w_share(struct dh_w_teams *t, u32 inst, const struct dh_w_part *part, LLVMValueRef plus,
               LLVMValueRef begin);

#endif
