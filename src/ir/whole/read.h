/*
 * read.h - what the files that read the LLVM module share: a function under construction.
 */
#ifndef DH_IR_WHOLE_READ_H
#define DH_IR_WHOLE_READ_H

#include "ir/whole/model.h"

struct dh_w_reader {
    struct dh_w *w;
    struct dh_w_fn *fn;
    struct dh_w_table locals;   /* by LLVMValueRef */
    struct dh_w_table blocks;   /* by LLVMBasicBlockRef */
    struct dh_w_table elements; /* of this block: base and offset, stride, index -> local */
    struct dh_w_table tries;    /* by LLVMValueRef: the op of a call of trylock */
    size_t cap_def;
    bool makes_pointers; /* the function turns integers into pointers: arithmetic on integers matters */
};

/* ---- read.c ---- */

bool dh_w_carries(LLVMTypeRef type);        /* its values may hold the bits of a pointer */
bool dh_w_holds_pointers(LLVMTypeRef type); /* there are pointers in it, not only integers that may be */
dh_w_value dh_w_operand(struct dh_w_reader *r, LLVMValueRef v);
/* The local that an instruction defines, or DH_W_NONE if it holds no pointer. */
dh_w_value dh_w_result(struct dh_w_reader *r, LLVMValueRef v);
dh_w_value dh_w_fresh(struct dh_w_reader *r);
/* An op with nothing set but kind and instruction. The pointer is valid until the next op. */
struct dh_w_op *dh_w_op_add(struct dh_w_reader *r, enum dh_w_kind kind, LLVMValueRef inst);
void dh_w_op_copy(struct dh_w_reader *r, LLVMValueRef inst, dh_w_value dst, dh_w_value a);
/* Makes the op's accesses sites. */
void dh_w_op_site(struct dh_w_reader *r, struct dh_w_op *op, u8 access, u32 length);
u32 dh_w_size(struct dh_w *w, LLVMTypeRef type); /* in bytes; DH_PTS_ANY: too large or unknown */

/* ---- read_inst.c ---- */

void dh_w_read_inst(struct dh_w_reader *r, LLVMValueRef inst);

/* The words of a value behind the first. */
void dh_w_read_words(struct dh_w_reader *r, LLVMValueRef inst, LLVMTypeRef type, dh_w_value at,
                     dh_w_value value, bool write);

/* ---- read_call.c ---- */

void dh_w_read_call(struct dh_w_reader *r, LLVMValueRef inst);

/* ---- read_sync.c ---- */

/* Behind the start of a std::thread, a load from the pointer to its state, or its destructor: the state is
 * the thread's own now, the pointer is null. */
bool dh_w_read_is_handed_over(LLVMValueRef inst);
/* An atomic load: of a guard of a static variable, it is a lock that is tried. */
void dh_w_read_guard(struct dh_w_reader *r, LLVMValueRef load);

/* ---- length.c ---- */

bool dh_w_may_hold_pointers(struct dh_w *w, LLVMValueRef length);

/* ---- gep.c: addresses computed from indices ---- */

/* One step: + off, or + off + i * stride with i unknown. */
struct dh_w_step {
    int64_t off;
    u32 stride; /* 0: no index */
    u32 length; /* as for dh_pts_element */
    LLVMValueRef index;
};
enum { DH_W_MAX_STEPS = 8 };
/* The steps of a getelementptr, instruction or constant; at least one. More indices than fit give 0:
 * anywhere. */
/* What a variable index is a multiple of: the stride has it as a factor. */
u64 dh_w_index_factor(LLVMValueRef index);
size_t dh_w_gep(struct dh_w *w, LLVMValueRef gep, struct dh_w_step ret_steps[DH_W_MAX_STEPS]);
enum { DH_W_MAX_CHOICES = 8 };
/* The offsets of a getelementptr that adds one of a few constants, as for `(hit ? &p->hits : &p->misses)`. 0:
 * it does not. */
size_t dh_w_gep_choices(struct dh_w *w, LLVMValueRef gep, int64_t ret_offsets[DH_W_MAX_CHOICES]);

#endif
