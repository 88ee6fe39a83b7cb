/*
 * length.c - whether a copy of so many bytes may move pointers.
 *
 * Copies of text are everywhere, and each would spread any pointers next to the text in the same object from
 * anywhere to everywhere. A length that is a constant, a multiple of the size of a pointer, or
 * the distance of two pointers may be that of something with pointers in it; one that is read from memory, or
 * comes from strlen, is taken for a number of bytes, and counted. A length that is a parameter is looked up
 * in the callers; for a function whose address is taken, in all calls through pointers that could call it.
 */
#include "ir/whole/read.h"

enum { POINTER = 8, MAX_DEPTH = 6, MAX_CALLERS = 200 };

static bool may(struct dh_w *w, LLVMValueRef n, int depth);

static bool is_call(LLVMValueRef v)
{
    return LLVMIsACallInst(v) != NULL || LLVMIsAInvokeInst(v) != NULL;
}

static void find_calls_of_block(struct dh_w *w, LLVMBasicBlockRef b)
{
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL; i = LLVMGetNextInstruction(i))
        if (is_call(i) && !LLVMIsConstant(LLVMGetCalledValue(i)) &&
            LLVMIsAInlineAsm(LLVMGetCalledValue(i)) == NULL) {
            w->indirect = dh_util_grow(w->indirect, w->n_indirect, &w->cap_indirect, sizeof *w->indirect);
            w->indirect[w->n_indirect++] = i;
        }
}

/* All calls through pointers, looked for when they are first asked for. */
static void find_calls(struct dh_w *w)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(w->module); f != NULL && !w->indirect_known;
         f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b != NULL; b = LLVMGetNextBasicBlock(b))
            find_calls_of_block(w, b);
    w->indirect_known = true;
}

/* A function whose address is kept somewhere in the program. */
static bool calls_through_pointers_may(struct dh_w *w, LLVMValueRef fn, unsigned index, int depth)
{
    int callers = 0;
    find_calls(w);
    for (size_t i = 0; i < w->n_indirect; i++)
        if (LLVMGetCalledFunctionType(w->indirect[i]) == LLVMGlobalGetValueType(fn) &&
            (++callers > MAX_CALLERS || may(w, LLVMGetOperand(w->indirect[i], index), depth - 1)))
            return true;
    return false;
}

/* Whether a use of a function's address lets code outside the program have it. */
static bool goes_outside(LLVMValueRef user)
{
    if (!is_call(user))
        return false;
    LLVMValueRef callee = LLVMGetCalledValue(user);
    return LLVMIsAFunction(callee) == NULL || LLVMIsDeclaration(callee);
}

static bool callers_may(struct dh_w *w, LLVMValueRef arg, int depth)
{
    LLVMValueRef fn = LLVMGetParamParent(arg);
    unsigned index = 0;
    int callers = 0;
    bool kept = false;
    while (LLVMGetParam(fn, index) != arg)
        index++;
    for (LLVMUseRef u = LLVMGetFirstUse(fn); u != NULL; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (!is_call(user) || LLVMGetCalledValue(user) != fn) {
            kept = true;
            if (goes_outside(user))
                return true; /* called in ways we do not see */
            continue;
        }
        if (index >= LLVMGetNumArgOperands(user) || ++callers > MAX_CALLERS ||
            may(w, LLVMGetOperand(user, index), depth - 1))
            return true;
    }
    return kept && calls_through_pointers_may(w, fn, index, depth);
}

static bool is_multiple(LLVMValueRef factor, bool shift)
{
    if (LLVMIsAConstantInt(factor) == NULL)
        return true;
    u64 by = LLVMConstIntGetZExtValue(factor);
    return shift ? by >= 3 : by % POINTER == 0;
}

/* A constant beside something else is a limit, or what is added; constants alone are the lengths themselves.
 */
static bool parts_may(struct dh_w *w, LLVMValueRef n, int depth)
{
    LLVMOpcode code = LLVMGetInstructionOpcode(n);
    bool constants = false, others = false;
    for (int i = code == LLVMSelect; i < LLVMGetNumOperands(n); i++) {
        LLVMValueRef part = LLVMGetOperand(n, (unsigned)i);
        if (LLVMIsAConstantInt(part) != NULL) {
            constants |= may(w, part, depth);
            continue;
        }
        others = true;
        if (may(w, part, depth - 1))
            return true;
    }
    return constants && !others;
}

static bool may(struct dh_w *w, LLVMValueRef n, int depth)
{
    if (LLVMIsAConstantInt(n) != NULL)
        return LLVMConstIntGetZExtValue(n) >= POINTER;
    if (depth == 0 || LLVMIsConstant(n))
        return true;
    if (LLVMIsAArgument(n) != NULL)
        return callers_may(w, n, depth);
    switch (LLVMGetInstructionOpcode(n)) {
    case LLVMMul:
        return is_multiple(LLVMGetOperand(n, 1), false);
    case LLVMShl:
        return is_multiple(LLVMGetOperand(n, 1), true);
    case LLVMAnd: /* aligned */
        return LLVMIsAConstantInt(LLVMGetOperand(n, 1)) == NULL ||
               LLVMConstIntGetZExtValue(LLVMGetOperand(n, 1)) % POINTER == 0;
    case LLVMPtrToInt:
        return true;
    case LLVMAdd:
        /* A header and a tail: the tail decides, unless it is nothing but constants. */
        return may(w, LLVMGetOperand(n, 0), depth - 1) ||
               (LLVMIsAConstantInt(LLVMGetOperand(n, 1)) != NULL &&
                LLVMConstIntGetSExtValue(LLVMGetOperand(n, 1)) >= POINTER) ||
               (LLVMIsAConstantInt(LLVMGetOperand(n, 1)) == NULL && may(w, LLVMGetOperand(n, 1), depth - 1));
    case LLVMSub:
    case LLVMSelect:
    case LLVMPHI:
    case LLVMSExt:
    case LLVMZExt:
    case LLVMTrunc:
        return parts_may(w, n, depth);
    default:
        return false;
    }
}

bool dh_w_may_hold_pointers(struct dh_w *w, LLVMValueRef length)
{
    return may(w, length, MAX_DEPTH);
}
