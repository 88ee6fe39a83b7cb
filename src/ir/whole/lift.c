/*
 * lift.c - prepares unoptimised code for the analysis.
 *
 * At -O0 every local variable lives in memory, and functions are marked so that no pass touches them. The
 * analysis needs values in registers; lifting them changes no access to shared memory. Small functions were
 * not inlined either. Those that return a constant are called everywhere: libstdc++ locks a mutex only if
 * __gthread_active_p says that there may be threads. Branches on their results are resolved here. Functions
 * that create or join threads become part of their callers (shim_inline.cpp), and loops over an array by a
 * pointer get an index (shim_walk.cpp).
 */
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

#include "ir/whole/shim_whole.h"
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

static bool run(LLVMModuleRef m, const char *passes)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(m, passes, NULL, options);
    LLVMDisposePassBuilderOptions(options);
    if (error)
        LLVMConsumeError(error);
    return !error;
}

/* What a function returns that does nothing else; NULL: it is none, or may be another one when the program
 * runs. */
static LLVMValueRef constant_result(LLVMValueRef f)
{
    LLVMLinkage linkage = LLVMGetLinkage(f);
    if (linkage != LLVMInternalLinkage && linkage != LLVMPrivateLinkage && linkage != LLVMLinkOnceODRLinkage)
        return NULL;
    LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f);
    LLVMValueRef end = block ? LLVMGetFirstInstruction(block) : NULL;
    if (!end || LLVMGetInstructionOpcode(end) != LLVMRet || LLVMGetNumOperands(end) != 1)
        return NULL;
    return LLVMIsAConstantInt(LLVMGetOperand(end, 0));
}

static bool replace_constant_results(LLVMModuleRef m)
{
    bool any = false;
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        LLVMValueRef result = constant_result(f);
        for (LLVMUseRef u = result ? LLVMGetFirstUse(f) : NULL; u; u = LLVMGetNextUse(u)) {
            LLVMValueRef call = LLVMGetUser(u);
            bool is_call = LLVMIsACallInst(call) || LLVMIsAInvokeInst(call);
            if (!is_call || LLVMGetCalledValue(call) != f || LLVMTypeOf(call) != LLVMTypeOf(result))
                continue;
            LLVMReplaceAllUsesWith(call, result);
            any = true;
        }
    }
    return any;
}

bool dh_whole_lift(LLVMModuleRef m)
{
    bool plain = dh_whole_needs_lift(m);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        LLVMRemoveEnumAttributeAtIndex(f, whole, optnone());
    if (!run(m, "function(mem2reg)") || (plain && replace_constant_results(m) && !run(m, "function(sccp)")))
        return false;
    if (plain && dh_shim_inline_threads(m) && !run(m, "function(mem2reg)"))
        return false;
    if (plain)
        dh_shim_index_walks(m);
    return true;
}
