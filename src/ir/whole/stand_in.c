/*
 * stand_in.c - gives a body to functions that are called through pointers and have none in the module.
 *
 * The address of a library function may be kept in a variable (an allocator that can be exchanged, a table of
 * functions). A direct call of it is read with the help of library.def; for other uses a function is created
 * that only calls it, and whose address replaces the original one. So no later phase has to
 * know that calls through pointers may lead out of the program. The same for
 *  - indirect functions (ifunc): the stand-in calls whatever the resolver returns;
 *  - __once_proxy of libstdc++, which calls what std::call_once has left in a thread-local variable.
 * Functions with variable arguments get none, because their arguments cannot be passed on. They stay
 * "outside".
 */
#include <llvm-c/Core.h>
#include <stdlib.h>
#include <string.h>

#include "ir/whole/whole.h"

enum { MAX_ARGS = 64 };

static bool calls(LLVMValueRef user, LLVMValueRef fn)
{
    return (LLVMIsACallInst(user) != NULL || LLVMIsAInvokeInst(user) != NULL) &&
           LLVMGetCalledValue(user) == fn;
}

static bool has_address_taken(LLVMValueRef fn)
{
    for (LLVMUseRef u = LLVMGetFirstUse(fn); u != NULL; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (!calls(user, fn))
            return true;
        for (unsigned i = 0; i < LLVMGetNumArgOperands(user); i++)
            if (LLVMGetOperand(user, i) == fn)
                return true;
    }
    return false;
}

/* An empty function of this type; the builder is at its end. */
static LLVMValueRef begin(LLVMModuleRef m, LLVMBuilderRef at, const char *name, LLVMTypeRef type)
{
    LLVMValueRef fn = LLVMAddFunction(m, name, type);
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    LLVMPositionBuilderAtEnd(at, LLVMAppendBasicBlockInContext(LLVMGetModuleContext(m), fn, ""));
    return fn;
}

static void call_and_return(LLVMBuilderRef at, LLVMValueRef fn, LLVMTypeRef type, LLVMValueRef callee)
{
    LLVMValueRef args[MAX_ARGS];
    LLVMGetParams(fn, args);
    LLVMValueRef result = LLVMBuildCall2(at, type, callee, args, LLVMCountParams(fn), "");
    if (LLVMGetTypeKind(LLVMGetReturnType(type)) == LLVMVoidTypeKind)
        LLVMBuildRetVoid(at);
    else
        LLVMBuildRet(at, result);
}

/* Whatever called the original by its name still does. */
static void replace(LLVMValueRef fn, LLVMValueRef by)
{
    LLVMReplaceAllUsesWith(fn, by);
    for (LLVMUseRef u = LLVMGetFirstUse(by), next; u != NULL; u = next) {
        next = LLVMGetNextUse(u);
        LLVMValueRef user = LLVMGetUser(u);
        if (calls(user, by))
            LLVMSetOperand(user, (unsigned)LLVMGetNumOperands(user) - 1, fn);
    }
}

/* Calls what a thread-local pointer of libstdc++ points to. */
static void build_once_proxy(LLVMModuleRef m, LLVMBuilderRef at, LLVMTypeRef type, LLVMValueRef variable)
{
    static const char name[] = "llvm.threadlocal.address";
    LLVMTypeRef pointer = LLVMPointerTypeInContext(LLVMGetModuleContext(m), 0);
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef address = LLVMBuildCall2(at, LLVMIntrinsicGetType(LLVMGetModuleContext(m), id, &pointer, 1),
                                          LLVMGetIntrinsicDeclaration(m, id, &pointer, 1), &variable, 1, "");
    LLVMBuildCall2(at, type, LLVMBuildLoad2(at, pointer, address, ""), NULL, 0, "");
    LLVMBuildRetVoid(at);
}

static void stand_in_for(LLVMModuleRef m, LLVMBuilderRef at, LLVMValueRef fn)
{
    size_t len;
    const char *name = LLVMGetValueName2(fn, &len);
    LLVMTypeRef type = LLVMGlobalGetValueType(fn);
    if (LLVMIsFunctionVarArg(type) || LLVMCountParamTypes(type) > MAX_ARGS)
        return;
    LLVMValueRef by = begin(m, at, name, type);
    LLVMValueRef once = strcmp(name, "__once_proxy") == 0 ? LLVMGetNamedGlobal(m, "_ZSt11__once_call") : NULL;
    replace(fn, by);
    if (once != NULL)
        build_once_proxy(m, at, type, once);
    else
        call_and_return(at, by, type, fn);
}

static void stand_in_for_indirect(LLVMModuleRef m, LLVMBuilderRef at, LLVMValueRef ifunc)
{
    size_t len;
    LLVMValueRef resolver = LLVMGetGlobalIFuncResolver(ifunc);
    LLVMTypeRef type = LLVMGlobalGetValueType(ifunc);
    if (LLVMIsAFunction(resolver) == NULL || LLVMCountParams(resolver) != 0 || LLVMIsFunctionVarArg(type) ||
        LLVMCountParamTypes(type) > MAX_ARGS)
        return;
    LLVMValueRef by = begin(m, at, LLVMGetValueName2(ifunc, &len), type);
    LLVMValueRef target = LLVMBuildCall2(at, LLVMGlobalGetValueType(resolver), resolver, NULL, 0, "");
    LLVMReplaceAllUsesWith(ifunc, by);
    call_and_return(at, by, type, target);
}

void dh_whole_stand_in(LLVMModuleRef m)
{
    LLVMBuilderRef at = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));
    LLVMValueRef last = LLVMGetLastFunction(m); /* those that are made come behind it */
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f != NULL; f = f == last ? NULL : LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) && LLVMGetIntrinsicID(f) == 0 && has_address_taken(f))
            stand_in_for(m, at, f);
    }
    for (LLVMValueRef f = LLVMGetFirstGlobalIFunc(m); f != NULL; f = LLVMGetNextGlobalIFunc(f))
        stand_in_for_indirect(m, at, f);
    LLVMDisposeBuilder(at);
}
