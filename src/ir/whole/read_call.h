/*
 * read_call.h - what the files that read calls share (read_call.c, read_effect.c, read_sync.c).
 */
#ifndef DH_IR_WHOLE_READ_CALL_H
#define DH_IR_WHOLE_READ_CALL_H

#include "ir/whole/library.h"
#include "ir/whole/read.h"

/* ---- read_call.c ---- */

/* The value of an argument; DH_W_NONE: there is none, or it holds no pointer. */
dh_w_value dh_w_argument(struct dh_w_reader *r, LLVMValueRef inst, int n);
bool dh_w_is_pointer(LLVMValueRef inst, unsigned n); /* argument n of the call */
/* One more call of the function: of fn, or, if that is DH_W_NONE, through callee. Its arguments are to be
 * set. */
u32 dh_w_call_add(struct dh_w_reader *r, u32 fn, dh_w_value callee, u32 n);
/* dst = a, in the way of this kind. The pointer is valid until the next op. */
struct dh_w_op *dh_w_op_unary(struct dh_w_reader *r, LLVMValueRef inst, enum dh_w_kind kind, dh_w_value dst,
                              dh_w_value a);
/* *a = b, which is no access of the program. */
void dh_w_op_keep(struct dh_w_reader *r, LLVMValueRef inst, dh_w_value a, dh_w_value b);
/* What the pointer at an offset of a's memory points to, DH_W_ANYWHERE: any pointer there. DH_W_NONE of
 * DH_W_NONE. */
dh_w_value dh_w_op_loaded(struct dh_w_reader *r, LLVMValueRef inst, dh_w_value a, int offset);

/* ---- read_effect.c ---- */

/* Does what library.def says of a function. */
void dh_w_read_effects(struct dh_w_reader *r, LLVMValueRef inst, const char *effects);
/* What is on its way between threads, in pipes and with signals. */
dh_w_value dh_w_read_channel(struct dh_w_reader *r, LLVMValueRef inst);
void dh_w_read_post(struct dh_w_reader *r, LLVMValueRef inst, dh_w_value value);

/* ---- read_sync.c: threads, locks, and functions that are called back ---- */

/* An op of this kind that is given a function, and an argument for it. */
struct dh_w_op *dh_w_read_fork(struct dh_w_reader *r, LLVMValueRef inst, enum dh_w_kind kind,
                               dh_w_value handle, dh_w_value callee, dh_w_value arg);
/* An effect of threads, locks or callbacks. false: it is none. */
bool dh_w_read_sync(struct dh_w_reader *r, LLVMValueRef inst, const struct dh_w_effect *e);

#endif
