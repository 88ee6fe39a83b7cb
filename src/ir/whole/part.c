/*
 * part.c - see part.h.
 *
 * The index is a phi that begins at the start, and to which all other incoming paths add one, or another
 * fixed step. Its block compares it with the bound; the access, and what adds one, are reached from there
 * only if it was less, except through that block again. So it grows by one from the start on, and no further
 * than to the bound: nothing overflows.
 */
#include "ir/whole/part.h"

#include "ir/whole/counted.h"

/* What is added to the index; NULL: it is something else. Only 1 cannot overflow. */
static LLVMValueRef step_of(LLVMValueRef v, LLVMValueRef index)
{
    if (LLVMIsAInstruction(v) == NULL || LLVMGetInstructionOpcode(v) != LLVMAdd ||
        LLVMGetOperand(v, 0) != index)
        return NULL;
    LLVMValueRef step = LLVMGetOperand(v, 1);
    bool is_one = LLVMIsAConstantInt(step) != NULL && LLVMConstIntGetSExtValue(step) == 1;
    return is_one || LLVMGetNSW(v) ? step : NULL;
}

/* The comparison at the end of the index's block; *ret_out: where it goes when the bound is reached. */
static bool find_bound(const struct dh_w_fn *fn, LLVMValueRef index, u32 header, struct dh_w_part *ret,
                       u32 *ret_out)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(fn->blocks[header].value);
    if (LLVMIsABranchInst(end) == NULL || !LLVMIsConditional(end) ||
        LLVMIsAICmpInst(LLVMGetCondition(end)) == NULL)
        return false;
    LLVMValueRef compare = LLVMGetCondition(end), side = LLVMGetOperand(compare, 0);
    LLVMIntPredicate p = LLVMGetICmpPredicate(compare);
    ret->is_unsigned = p == LLVMIntULT || p == LLVMIntULE || LLVMIsAZExtInst(side) != NULL;
    if (LLVMIsASExtInst(side) != NULL || LLVMIsAZExtInst(side) != NULL)
        side = LLVMGetOperand(side, 0);
    ret->bound = LLVMGetOperand(compare, 1);
    ret->closed = p == LLVMIntSLE || p == LLVMIntULE;
    *ret_out = fn->succ[fn->blocks[header].succ + 1]; /* a branch goes there if the condition does not hold */
    return side == index && LLVMGetInstructionParent(compare) == fn->blocks[header].value &&
           (ret->closed || p == LLVMIntSLT || p == LLVMIntULT) &&
           *ret_out != fn->succ[fn->blocks[header].succ];
}

bool dh_w_part_find(const struct dh_w_fn *fn, LLVMValueRef index, u32 block, struct dh_w_part *ret)
{
    u32 out, header;
    if (LLVMIsAPHINode(index) == NULL || LLVMGetTypeKind(LLVMTypeOf(index)) != LLVMIntegerTypeKind ||
        LLVMGetIntTypeWidth(LLVMTypeOf(index)) < 32)
        return false;
    header = dh_w_block_number(fn, LLVMGetInstructionParent(index));
    if (!find_bound(fn, index, header, ret, &out) || block == header ||
        dh_w_reaches(fn, out, block, header, NULL))
        return false;
    ret->start = ret->step = NULL;
    for (unsigned i = 0; i < LLVMCountIncoming(index); i++) {
        LLVMValueRef v = LLVMGetIncomingValue(index, i);
        u32 from = dh_w_block_number(fn, LLVMGetIncomingBlock(index, i));
        LLVMValueRef step = step_of(v, index);
        if (step != NULL
                ? dh_w_reaches(fn, out, from, header, NULL) || (ret->step != NULL && ret->step != step)
                : ret->start != NULL && ret->start != v)
            return false;
        ret->start = step != NULL ? ret->start : v;
        ret->step = step != NULL ? step : ret->step;
    }
    if (ret->start == NULL || ret->step == NULL)
        return false;
    if (LLVMIsAConstantInt(ret->step) != NULL && LLVMConstIntGetSExtValue(ret->step) == 1)
        ret->step = NULL;
    return true;
}

bool dh_w_part_of(const struct dh_w_pool *expressions, const struct dh_w_fn *fn, u32 op,
                  const struct dh_w_address *a, u32 length, struct dh_w_part *ret)
{
    u32 bits;
    if (a->terms == 0 || length == 0 || length > a->term[a->terms - 1].size)
        return false;
    LLVMValueRef index = dh_w_expression_leaf(expressions, a->term[a->terms - 1].index, &bits);
    return index != NULL && dh_w_part_find(fn, index, dh_w_block_of(fn, op), ret) &&
           bits >= LLVMGetIntTypeWidth(LLVMTypeOf(index));
}

/* The first index of a part between constants, and the one behind its last. */
static bool is_constant(const struct dh_w_part *part, int64_t *ret_first, int64_t *ret_end)
{
    if (part->step != NULL || LLVMIsAConstantInt(part->start) == NULL ||
        LLVMIsAConstantInt(part->bound) == NULL)
        return false;
    *ret_first = LLVMConstIntGetSExtValue(part->start);
    *ret_end = LLVMConstIntGetSExtValue(part->bound) + part->closed;
    return *ret_first >= 0 && *ret_end > *ret_first && *ret_end <= INT32_MAX;
}

/* Whether the index is computed from that of a loop between constants, and leaves its array. */
static bool leaves(const struct dh_w_pool *expressions, const struct dh_w_fn *fn, u32 op,
                   const struct dh_w_term *term)
{
    LLVMValueRef index = dh_w_expression_first(expressions, term->index);
    struct dh_w_part part;
    struct dh_w_linear l;
    int64_t first, end;
    if (term->bytes == 0 || term->size == 0 || index == NULL ||
        !dh_w_part_find(fn, index, dh_w_block_of(fn, op), &part) || !is_constant(&part, &first, &end) ||
        !dh_w_expression_linear(expressions, term->index, first, end - 1, &l))
        return false;
    int64_t a = l.factor * first + l.term, b = l.factor * (end - 1) + l.term, n = term->bytes / term->size;
    return a < 0 || a >= n || b < 0 || b >= n;
}

void dh_w_part_unbind(const struct dh_w_pool *expressions, const struct dh_w_fn *fn, u32 op,
                      struct dh_w_address *a)
{
    for (u32 i = 0; i < a->terms; i++)
        if (leaves(expressions, fn, op, &a->term[i]))
            a->term[i].bytes = 0;
}

bool dh_w_part_forget(struct dh_w_address *a, const struct dh_w_part *part, u32 *length)
{
    int64_t first, end, size = a->term[a->terms - 1].size;
    if (!is_constant(part, &first, &end) || end > INT32_MAX / size)
        return false;
    a->off += first * size;
    a->terms--;
    *length = (u32)((end - first) * size);
    return true;
}
