/*
 * gep.c - getelementptr as offsets and strides in bytes.
 *
 * Constant indices add up; each variable index ends a step. An index that is a product with a constant lends
 * its factor to the stride: optimised code indexes bytes with `i * 24` where the source indexed structures.
 */
#include <llvm-c/Target.h>

#include "ir/whole/read.h"

/* What a variable index is a multiple of. */
static u64 factor(LLVMValueRef index)
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
static bool add_index(struct dh_w_step *steps, size_t *n, LLVMValueRef index, u64 size, u64 bytes)
{
    struct dh_w_step *s = &steps[*n - 1];
    if (LLVMIsAConstantInt(index) != NULL) {
        s->off += (int64_t)size * LLVMConstIntGetSExtValue(index);
        return true;
    }
    if (*n == DH_W_MAX_STEPS)
        return false;
    u64 stride = size * factor(index);
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
    if (!add_index(ret_steps, &n, LLVMGetOperand(gep, 1), LLVMABISizeOfType(w->layout, type), 0))
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
        if (!add_index(ret_steps, &n, index, size, size * count))
            return 0;
        type = element;
    }
    /* The last step is empty if an index came last. */
    if (n > 1 && ret_steps[n - 1].off == 0)
        n--;
    return n;
}
