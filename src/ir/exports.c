/*
 * exports.c - what code outside the merged module can reach by name.
 *
 * A link may bring in objects without bitcode, and shared objects that refer to the program's symbols. The
 * linker has made everything internal that no other code names; the rest is reachable from outside. A
 * constructor that runs before all others passes all of it to an unknown function: so the analysis treats the
 * variables as shared with outside code, and the functions as called by it, at any time and in any thread.
 *
 * A program with threads that the analysis cannot see is refused.
 */
#include <string.h>

#include "ir/ir.h"

static bool is_exported(LLVMValueRef global)
{
    size_t len;
    const char *name = LLVMGetValueName2(global, &len);
    LLVMLinkage linkage = LLVMGetLinkage(global);
    return !LLVMIsDeclaration(global) && linkage != LLVMInternalLinkage && linkage != LLVMPrivateLinkage &&
           linkage != LLVMAvailableExternallyLinkage && linkage != LLVMAppendingLinkage &&
           strcmp(name, "main") != 0 && strncmp(name, "llvm.", 5) != 0;
}

struct giver {
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LLVMTypeRef type;
    LLVMValueRef outside, giver;
};

static void give(struct giver *g, LLVMValueRef global)
{
    LLVMContextRef ctx = LLVMGetModuleContext(g->module);
    if (!is_exported(global) || (LLVMIsAGlobalVariable(global) != NULL && LLVMIsThreadLocal(global)))
        return;
    if (g->giver == NULL) {
        LLVMTypeRef ptr = LLVMPointerTypeInContext(ctx, 0), none = LLVMVoidTypeInContext(ctx);
        g->type = LLVMFunctionType(none, &ptr, 1, false);
        g->outside = LLVMAddFunction(g->module, "__dh_outside", g->type);
        g->giver = LLVMAddFunction(g->module, "__dh_exports", LLVMFunctionType(none, NULL, 0, false));
        LLVMSetLinkage(g->giver, LLVMInternalLinkage);
        LLVMPositionBuilderAtEnd(g->builder, LLVMAppendBasicBlockInContext(ctx, g->giver, ""));
    }
    LLVMBuildCall2(g->builder, g->type, g->outside, &global, 1, "");
}

void dh_ir_exports_give(LLVMModuleRef m)
{
    struct giver g = {.module = m, .builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(m))};
    for (LLVMValueRef f = LLVMGetFirstFunction(m), next; f != NULL; f = next) {
        next = LLVMGetNextFunction(f);
        give(&g, f);
    }
    for (LLVMValueRef v = LLVMGetFirstGlobal(m); v != NULL; v = LLVMGetNextGlobal(v))
        give(&g, v);
    for (LLVMValueRef a = LLVMGetFirstGlobalAlias(m); a != NULL; a = LLVMGetNextGlobalAlias(a))
        give(&g, a);
    for (LLVMValueRef i = LLVMGetFirstGlobalIFunc(m); i != NULL; i = LLVMGetNextGlobalIFunc(i))
        give(&g, i);
    if (g.giver != NULL) {
        LLVMBuildRetVoid(g.builder);
        dh_shim_add_constructor(m, g.giver, 0);
    }
    LLVMDisposeBuilder(g.builder);
}

/* ---- what the analysis cannot see ---- */

static bool is_among(const char *name, const char *const *prefixes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* Intrinsics that have pointers as arguments, and either access nothing or are read (read_call.c). */
static bool is_understood(const char *name)
{
    static const char *const prefixes[] = {"llvm.assume",
                                           "llvm.dbg.",
                                           "llvm.eh.",
                                           "llvm.experimental.noalias",
                                           "llvm.frameaddress",
                                           "llvm.invariant.",
                                           "llvm.is.constant",
                                           "llvm.launder.",
                                           "llvm.lifetime.",
                                           "llvm.masked.gather.",
                                           "llvm.masked.load.",
                                           "llvm.masked.scatter.",
                                           "llvm.masked.store.",
                                           "llvm.memcpy.",
                                           "llvm.memmove.",
                                           "llvm.memset.",
                                           "llvm.objectsize.",
                                           "llvm.prefetch.",
                                           "llvm.ptr.annotation",
                                           "llvm.ptrmask.",
                                           "llvm.stackrestore",
                                           "llvm.strip.",
                                           "llvm.threadlocal.address",
                                           "llvm.va_",
                                           "llvm.var.annotation"};
    return is_among(name, prefixes, DH_ARRAY_LEN(prefixes));
}

static bool takes_pointers(LLVMValueRef fn)
{
    for (unsigned i = 0; i < LLVMCountParams(fn); i++) {
        LLVMTypeRef type = LLVMTypeOf(LLVMGetParam(fn, i));
        bool vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
        if (LLVMGetTypeKind(vector ? LLVMGetElementType(type) : type) == LLVMPointerTypeKind)
            return true;
    }
    return false;
}

const char *dh_ir_exports_refuse(LLVMModuleRef m)
{
    static const char *const threads[] = {"dh_lard_", "__tsan_create_fiber", "__tsan_switch_to_fiber"};
    static const char *const stacks[] = {"clone", "__clone", "clone3", "makecontext", "swapcontext"};
    size_t len;
    LLVMGetModuleInlineAsm(m, &len);
    if (len > 0)
        return "it has assembly outside of functions";
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f != NULL; f = LLVMGetNextFunction(f)) {
        const char *name = LLVMGetValueName2(f, &len);
        if (LLVMGetFirstUse(f) == NULL)
            continue;
        if (is_among(name, threads, DH_ARRAY_LEN(threads)))
            return "it tells the detector about threads of its own";
        for (size_t i = 0; i < DH_ARRAY_LEN(stacks); i++)
            if (LLVMIsDeclaration(f) && strcmp(name, stacks[i]) == 0)
                return "it makes threads or stacks of its own (clone, makecontext)";
        if (LLVMGetIntrinsicID(f) != 0 && takes_pointers(f) && !is_understood(name))
            return "it has vector instructions on memory unknown to the analysis";
    }
    return NULL;
}
