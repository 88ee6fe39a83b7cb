/*
 * walk.h - from a value to others: those that it is made of (value.c), or that are made of it (number.c).
 */
#ifndef DH_IR_CAPER_WALK_H
#define DH_IR_CAPER_WALK_H

#include <string.h>

#include "ir/caper/caper.h"

enum {
    DH_CAPER_MAX_STEPS = 128, /* values looked at for one question; beyond, the answer is the careful one */
    DH_CAPER_MAX_MOVED = 8,
    DH_CAPER_ADDRESS_BITS = 48,
    DH_CAPER_SMALL_MASK = 1 << 12,
};

struct dh_caper_walk {
    LLVMValueRef seen[DH_CAPER_MAX_STEPS];
    size_t n, done;
    bool overflow;
    /* number.c */
    bool far[DH_CAPER_MAX_STEPS]; /* of each value: something was added or masked on the way there, which may
                                     lead out of the block */
    bool index;                   /* it is added to another address */
    LLVMValueRef
        moved[DH_CAPER_MAX_MOVED]; /* pointers again that may lead out of the block, and go somewhere */
    size_t n_moved;
};

DH_INLINE void dh_caper_walk_push(struct dh_caper_walk *w, LLVMValueRef v)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->seen[i] == v)
            return;
    if (w->n == DH_CAPER_MAX_STEPS)
        w->overflow = true;
    else
        w->seen[w->n++] = v;
}

DH_INLINE LLVMValueRef dh_caper_walk_next(struct dh_caper_walk *w)
{
    return w->done < w->n ? w->seen[w->done++] : NULL;
}

DH_INLINE LLVMTypeRef dh_caper_scalar_of(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

DH_INLINE unsigned dh_caper_integer_bits(LLVMTypeRef type)
{
    type = dh_caper_scalar_of(type);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 0;
}

DH_INLINE bool dh_caper_is_small_constant(LLVMValueRef v)
{
    return LLVMIsAConstantInt(v) && LLVMGetIntTypeWidth(LLVMTypeOf(v)) <= 64 &&
           LLVMConstIntGetZExtValue(v) < DH_CAPER_SMALL_MASK;
}

/* The pointer that a number was made of, by an instruction or a constant expression; or NULL. */
DH_INLINE LLVMValueRef dh_caper_pointer_of(LLVMValueRef number)
{
    bool cast = LLVMIsAPtrToIntInst(number) ||
                (LLVMIsAConstantExpr(number) && LLVMGetConstOpcode(number) == LLVMPtrToInt);
    return cast ? LLVMGetOperand(number, 0) : NULL;
}

DH_INLINE LLVMValueRef dh_caper_called(LLVMValueRef call)
{
    return LLVMIsAFunction(LLVMGetCalledValue(call));
}

/* An assembly statement without instructions, which only keeps the compiler from knowing a value. */
DH_INLINE bool dh_caper_is_empty_asm(LLVMValueRef call)
{
    size_t len = 1;
    if (LLVMIsAInlineAsm(LLVMGetCalledValue(call)))
        LLVMGetInlineAsmAsmString(LLVMGetCalledValue(call), &len);
    return len == 0;
}

DH_INLINE bool dh_caper_starts_with(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

DH_INLINE bool dh_caper_is_one_of(const char *name, const char *const *prefixes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (dh_caper_starts_with(name, prefixes[i]))
            return true;
    return false;
}

#endif
