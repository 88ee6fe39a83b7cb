/*
 * length.c - whether a copy of so many bytes may move pointers.
 *
 * Copies of text are everywhere, and each would carry whatever pointers lie beside the text in the same
 * object from anywhere to everywhere. A length that is a constant, a multiple of the size of a pointer, or
 * the distance of two pointers may be that of something with pointers in it; one that is read from memory, or
 * comes from strlen, is taken for a number of bytes, and counted. The length of a function's caller is looked
 * for there.
 */
#include "ir/whole/read.h"

enum { POINTER = 8, MAX_DEPTH = 6, MAX_CALLERS = 200 };

static bool may(LLVMValueRef n, int depth);

static bool callers_may(LLVMValueRef arg, int depth)
{
    LLVMValueRef fn = LLVMGetParamParent(arg);
    unsigned index = 0;
    int callers = 0;
    while (LLVMGetParam(fn, index) != arg)
        index++;
    for (LLVMUseRef u = LLVMGetFirstUse(fn); u != NULL; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        bool is_call = LLVMIsACallInst(user) != NULL || LLVMIsAInvokeInst(user) != NULL;
        if (!is_call || LLVMGetCalledValue(user) != fn || index >= LLVMGetNumArgOperands(user))
            return true; /* called in ways we do not see */
        if (++callers > MAX_CALLERS || may(LLVMGetOperand(user, index), depth - 1))
            return true;
    }
    return false;
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
static bool parts_may(LLVMValueRef n, int depth)
{
    LLVMOpcode code = LLVMGetInstructionOpcode(n);
    bool constants = false, others = false;
    for (int i = code == LLVMSelect; i < LLVMGetNumOperands(n); i++) {
        LLVMValueRef part = LLVMGetOperand(n, (unsigned)i);
        if (LLVMIsAConstantInt(part) != NULL) {
            constants |= may(part, depth);
            continue;
        }
        others = true;
        if (may(part, depth - 1))
            return true;
    }
    return constants && !others;
}

static bool may(LLVMValueRef n, int depth)
{
    if (LLVMIsAConstantInt(n) != NULL)
        return LLVMConstIntGetZExtValue(n) >= POINTER;
    if (depth == 0 || LLVMIsConstant(n))
        return true;
    if (LLVMIsAArgument(n) != NULL)
        return callers_may(n, depth);
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
        return may(LLVMGetOperand(n, 0), depth - 1) ||
               (LLVMIsAConstantInt(LLVMGetOperand(n, 1)) != NULL &&
                LLVMConstIntGetSExtValue(LLVMGetOperand(n, 1)) >= POINTER) ||
               (LLVMIsAConstantInt(LLVMGetOperand(n, 1)) == NULL && may(LLVMGetOperand(n, 1), depth - 1));
    case LLVMSub:
    case LLVMSelect:
    case LLVMPHI:
    case LLVMSExt:
    case LLVMZExt:
    case LLVMTrunc:
        return parts_may(n, depth);
    default:
        return false;
    }
}

bool dh_w_may_hold_pointers(LLVMValueRef length)
{
    return may(length, MAX_DEPTH);
}
