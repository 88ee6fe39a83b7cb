/*
 * part.h - loops over a part of an array: for (k = first; k < end; k++) x[k]++.
 */
#ifndef DH_IR_WHOLE_PART_H
#define DH_IR_WHOLE_PART_H

#include "ir/whole/address.h"

/* Where the index begins, and what it is compared with. Neither need be a constant. */
struct dh_w_part {
    LLVMValueRef start, bound;
    LLVMValueRef step; /* what is added each time; NULL: 1 */
    bool closed;       /* the bound is in it */
    bool is_unsigned;  /* they are compared as numbers without a sign */
};

/* Whether in a block the value is never less than the start, and less than the bound, if both are not
 * negative and stay what they are; or, with a step, the start and a multiple of the step. */
bool dh_w_part_find(const struct dh_w_fn *fn, LLVMValueRef index, u32 block, struct dh_w_part *ret);
/* Whether the last index of an address, at which an operation accesses `length` bytes of one element, is that
 * of a loop over a part of the array. */
bool dh_w_part_of(const struct dh_w_pool *expressions, const struct dh_w_fn *fn, u32 op,
                  const struct dh_w_address *a, u32 length, struct dh_w_part *ret);
/* The arrays of an address that a loop between constants leaves, by an index computed from its own, get an
 * unknown size: the index is not to be left out for all of the array. */
void dh_w_part_unbind(const struct dh_w_pool *expressions, const struct dh_w_fn *fn, u32 op,
                      struct dh_w_address *a);
/* A part between constants is one place, without the index; *length becomes its length. false: it is another.
 */
bool dh_w_part_forget(struct dh_w_address *a, const struct dh_w_part *part, u32 *length);

#endif
