/*
 * part.h - loops over a part of an array: for (k = first; k < end; k++) x[k]++.
 */
#ifndef DH_IR_WHOLE_PART_H
#define DH_IR_WHOLE_PART_H

#include "ir/whole/model.h"

/* Where the index begins, and what it is compared with. Neither need be a constant. */
struct dh_w_part {
    LLVMValueRef start, bound;
    bool closed; /* the bound is in it */
};

/* Whether in a block the value is never less than the start, and less than the bound, if both are not
 * negative and stay what they are. */
bool dh_w_part_find(const struct dh_w_fn *fn, LLVMValueRef index, u32 block, struct dh_w_part *ret);

#endif
