/*
 * join.c - the shape of loops that join threads.
 *
 * The compiler turns `for (i = 0; i < n; i++) join(t[i])` into a loop that is left at its end, after a GUARD
 * that skips it if n is 0. Skipping it is then another way of having joined all.
 */
#include "ir/whole/join.h"

static LLVMValueRef comparison(LLVMBasicBlockRef bb)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(bb);
    if (LLVMIsABranchInst(end) == NULL || !LLVMIsConditional(end))
        return NULL;
    LLVMValueRef cond = LLVMGetCondition(end);
    return LLVMIsAICmpInst(cond) != NULL ? cond : NULL;
}

/* Without changes of width. */
static LLVMValueRef plain(LLVMValueRef v)
{
    while (LLVMIsASExtInst(v) != NULL || LLVMIsAZExtInst(v) != NULL || LLVMIsATruncInst(v) != NULL)
        v = LLVMGetOperand(v, 0);
    return v;
}

static bool is_same(LLVMValueRef a, LLVMValueRef b)
{
    a = plain(a);
    b = plain(b);
    if (LLVMIsConstant(a) || LLVMIsConstant(b))
        return false;
    /* Read twice: whether it changes in between is left to the assumption on loops that join. */
    return a == b || (LLVMIsALoadInst(a) != NULL && LLVMIsALoadInst(b) != NULL &&
                      LLVMGetOperand(a, 0) == LLVMGetOperand(b, 0));
}

static bool share_a_bound(LLVMValueRef a, LLVMValueRef b)
{
    for (unsigned i = 0; i < 2; i++)
        for (unsigned k = 0; k < 2; k++)
            if (is_same(LLVMGetOperand(a, i), LLVMGetOperand(b, k)))
                return true;
    return false;
}

static LLVMBasicBlockRef block_at(const struct dh_w_fn *fn, u32 n)
{
    LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn->value);
    while (n-- > 0)
        bb = LLVMGetNextBasicBlock(bb);
    return bb;
}

bool dh_w_loop_has(const struct dh_w_fn *fn, u32 loop, u32 block)
{
    for (u32 l = fn->blocks[block].loop; l != DH_W_NONE; l = fn->loops[l].parent)
        if (l == loop)
            return true;
    return false;
}

/* Whether block b leads into the loop and nowhere else. */
static bool only_enters(const struct dh_w_fn *fn, u32 b, u32 loop)
{
    for (u32 steps = 0; steps < 4 && !dh_w_loop_has(fn, loop, b); steps++) {
        if (fn->blocks[b].succs != 1)
            return false;
        b = fn->succ[fn->blocks[b].succ];
    }
    return dh_w_loop_has(fn, loop, b);
}

bool dh_w_loop_guard(const struct dh_w_fn *fn, u32 block, u32 i, u32 loop)
{
    const struct dh_w_block *b = &fn->blocks[block];
    /* The end of the loop before, which goes round again or on to this one, is no guard. */
    if (b->succs != 2 || b->loop != fn->loops[loop].parent ||
        !only_enters(fn, fn->succ[b->succ + 1 - i], loop) || only_enters(fn, fn->succ[b->succ + i], loop))
        return false;
    LLVMValueRef guard = comparison(block_at(fn, block));
    for (u32 e = 0; e < fn->n_blocks && guard != NULL; e++) {
        bool leaves = false;
        for (u32 s = 0; s < fn->blocks[e].succs; s++)
            leaves |= !dh_w_loop_has(fn, loop, fn->succ[fn->blocks[e].succ + s]);
        LLVMValueRef end = leaves && dh_w_loop_has(fn, loop, e) ? comparison(block_at(fn, e)) : NULL;
        if (end != NULL && share_a_bound(guard, end))
            return true;
    }
    return false;
}
