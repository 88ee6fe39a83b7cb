/*
 * lift.c - code that was not optimised, made ready for the analysis.
 *
 * At -O0 every local variable lives in memory, and functions are marked so that no pass touches them. The
 * analysis wants values in registers; lifting them changes no access to anything that is shared.
 */
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

#include "ir/whole/whole.h"

static const LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

static unsigned optnone(void)
{
    return LLVMGetEnumAttributeKindForName("optnone", strlen("optnone"));
}

bool dh_whole_needs_lift(LLVMModuleRef m)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        if (LLVMGetEnumAttributeAtIndex(f, whole, optnone()))
            return true;
    return false;
}

bool dh_whole_lift(LLVMModuleRef m)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        LLVMRemoveEnumAttributeAtIndex(f, whole, optnone());
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(m, "function(mem2reg)", NULL, options);
    LLVMDisposePassBuilderOptions(options);
    if (error)
        LLVMConsumeError(error);
    return !error;
}
