/*
 * gep.c - getelementptr as offsets and strides in bytes.
 *
 * Constant indices add up; each variable index ends a step. An index that is a product with a constant lends
 * its factor to the stride: optimised code indexes bytes with `i * 24` where the source indexed structures.
 */
#include <llvm-c/Target.h>

#include "ir/whole/read.h"

enum { MAX_DEPTH = 6 };

/* A number that is computed from constants alone: (unsigned)&((struct s *)0)->member, and what it is taken
 * from. Unoptimised code computes it each time. */
static bool constant_of(struct dh_w *w, LLVMValueRef v, int depth, int64_t *ret)
{
    bool is_computed = LLVMIsAInstruction(v) != NULL || LLVMIsAConstantExpr(v) != NULL;
    int64_t a = 0, b = 0;
    if (LLVMIsAConstantInt(v) != NULL && LLVMGetIntTypeWidth(LLVMTypeOf(v)) <= 64)
        *ret = LLVMConstIntGetSExtValue(v);
    else if (LLVMIsAConstantPointerNull(v) != NULL)
        *ret = 0;
    else if (!is_computed || depth == MAX_DEPTH || LLVMGetNumOperands(v) == 0 ||
             !constant_of(w, LLVMGetOperand(v, 0), depth + 1, &a))
        return false;
    else {
        struct dh_w_step steps[DH_W_MAX_STEPS];
        LLVMOpcode op = LLVMIsAInstruction(v) != NULL ? LLVMGetInstructionOpcode(v) : LLVMGetConstOpcode(v);
        LLVMTypeRef from = LLVMTypeOf(LLVMGetOperand(v, 0));
        bool wide =
            LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(LLVMTypeOf(v)) == 64;
        switch (op) {
        case LLVMPtrToInt:
        case LLVMTrunc: /* no offset has so many bits that one is lost */
            *ret = a;
            return a >= 0 && a <= INT32_MAX && LLVMGetIntTypeWidth(LLVMTypeOf(v)) >= 32;
        case LLVMZExt:
        case LLVMSExt:
            *ret = a;
            return a >= 0 && LLVMGetIntTypeWidth(from) >= 32;
        case LLVMGetElementPtr:
            if (dh_w_gep(w, v, steps) != 1 || steps[0].stride != 0)
                return false;
            *ret = a + steps[0].off;
            return true;
        case LLVMAdd:
        case LLVMSub:
            if (!wide || !constant_of(w, LLVMGetOperand(v, 1), depth + 1, &b))
                return false;
            return op == LLVMAdd ? !__builtin_add_overflow(a, b, ret) : !__builtin_sub_overflow(a, b, ret);
        default:
            return false;
        }
    }
    return true;
}

u64 dh_w_index_factor(LLVMValueRef index)
{
    u64 f = 1;
    for (int depth = 0; depth < 4 && LLVMIsAInstruction(index) != NULL; depth++) {
        LLVMOpcode op = LLVMGetInstructionOpcode(index);
        if (op == LLVMSExt || op == LLVMZExt) {
            index = LLVMGetOperand(index, 0);
            continue;
        }
        LLVMValueRef by = op == LLVMMul || op == LLVMShl ? LLVMGetOperand(index, 1) : NULL;
        if (by == NULL || LLVMIsAConstantInt(by) == NULL)
            break;
        u64 n = LLVMConstIntGetZExtValue(by);
        if (op == LLVMShl)
            n = n < 32 ? 1ull << n : 0;
        if (n == 0 || n > UINT32_MAX || f * n > UINT32_MAX)
            break;
        f *= n;
        index = LLVMGetOperand(index, 0);
    }
    return f;
}

/* The values of an index that is one of a few constants, by a select or by where it comes from; 0: it is not.
 */
static size_t values_of(LLVMValueRef index, int64_t ret[DH_W_MAX_CHOICES])
{
    if (LLVMIsAConstantInt(index) != NULL) {
        ret[0] = LLVMConstIntGetSExtValue(index);
        return 1;
    }
    size_t n = 0;
    if (LLVMIsAPHINode(index) != NULL) {
        for (unsigned i = 0; i < LLVMCountIncoming(index); i++, n++) {
            LLVMValueRef value = LLVMGetIncomingValue(index, i);
            if (LLVMIsAConstantInt(value) == NULL || n == DH_W_MAX_CHOICES)
                return 0;
            ret[n] = LLVMConstIntGetSExtValue(value);
        }
        return n;
    }
    if (LLVMIsASelectInst(index) == NULL)
        return 0;
    for (unsigned i = 1; i < 3; i++) {
        int64_t some[DH_W_MAX_CHOICES];
        size_t k = values_of(LLVMGetOperand(index, i), some);
        if (k == 0 || n + k > DH_W_MAX_CHOICES)
            return 0;
        for (size_t j = 0; j < k; j++)
            ret[n++] = some[j];
    }
    return n;
}

size_t dh_w_gep_choices(struct dh_w *w, LLVMValueRef gep, int64_t ret_offsets[DH_W_MAX_CHOICES])
{
    if (LLVMGetNumOperands(gep) != 2 || LLVMIsAConstantInt(LLVMGetOperand(gep, 1)) != NULL)
        return 0;
    size_t n = values_of(LLVMGetOperand(gep, 1), ret_offsets);
    int64_t size = (int64_t)LLVMABISizeOfType(w->layout, LLVMGetGEPSourceElementType(gep));
    for (size_t i = 0; i < n; i++)
        if (__builtin_mul_overflow(ret_offsets[i], size, &ret_offsets[i]))
            return 0;
    return n;
}

/* Adds one index over elements of `size` bytes, of an array of `bytes` (0: not known) bytes. */
static bool add_index(struct dh_w *w, struct dh_w_step *steps, size_t *n, LLVMValueRef index, u64 size,
                      u64 bytes)
{
    struct dh_w_step *s = &steps[*n - 1];
    int64_t constant;
    if (constant_of(w, index, 0, &constant)) {
        s->off += (int64_t)size * constant;
        return true;
    }
    if (*n == DH_W_MAX_STEPS)
        return false;
    u64 stride = size * dh_w_index_factor(index);
    s->stride = stride == 0 || stride > UINT32_MAX ? 1 : (u32)stride;
    s->length = bytes > UINT32_MAX ? 0 : (u32)bytes;
    s->index = index;
    steps[(*n)++] = (struct dh_w_step){0};
    return true;
}

size_t dh_w_gep(struct dh_w *w, LLVMValueRef gep, struct dh_w_step ret_steps[DH_W_MAX_STEPS])
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    size_t n = 1;
    ret_steps[0] = (struct dh_w_step){0};
    if (!add_index(w, ret_steps, &n, LLVMGetOperand(gep, 1), LLVMABISizeOfType(w->layout, type), 0))
        return 0;
    int operands = LLVMGetNumOperands(gep);
    for (int i = 2; i < operands; i++) {
        LLVMValueRef index = LLVMGetOperand(gep, (unsigned)i);
        if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);
            ret_steps[n - 1].off += (int64_t)LLVMOffsetOfElement(w->layout, type, field);
            type = LLVMStructGetTypeAtIndex(type, field);
            continue;
        }
        LLVMTypeRef element = LLVMGetElementType(type);
        u64 size = LLVMABISizeOfType(w->layout, element);
        u64 count =
            LLVMGetTypeKind(type) == LLVMArrayTypeKind ? LLVMGetArrayLength2(type) : LLVMGetVectorSize(type);
        if (!add_index(w, ret_steps, &n, index, size, size * count))
            return 0;
        type = element;
    }
    /* The last step is empty if an index came last. */
    if (n > 1 && ret_steps[n - 1].off == 0)
        n--;
    return n;
}
