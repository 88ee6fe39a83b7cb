/*
 * caper.c - what a link with `deadheat cc --dh-mode=caper` does to the merged module (caper.h).
 *
 * Functions that must not run our code are left alone: naked ones, and resolvers of indirect functions, which
 * run before relocation.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/caper/caper.h"

static bool has_attribute(LLVMValueRef fn, const char *name)
{
    const LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    return LLVMGetEnumAttributeAtIndex(fn, whole, LLVMGetEnumAttributeKindForName(name, strlen(name))) !=
           NULL;
}

static bool is_resolver(LLVMModuleRef m, LLVMValueRef fn)
{
    for (LLVMValueRef f = LLVMGetFirstGlobalIFunc(m); f; f = LLVMGetNextGlobalIFunc(f))
        if (LLVMGetGlobalIFuncResolver(f) == fn)
            return true;
    return false;
}

static bool is_ours(LLVMModuleRef m, LLVMValueRef fn)
{
    size_t len;
    return !LLVMIsDeclaration(fn) && strncmp(LLVMGetValueName2(fn, &len), "__dh_", 5) != 0 &&
           LLVMGetLinkage(fn) != LLVMAvailableExternallyLinkage && !has_attribute(fn, "naked") &&
           !is_resolver(m, fn);
}

static void plan_function(struct dh_caper *c, LLVMValueRef fn, bool asking)
{
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i)) {
            dh_caper_plan_access(c, i);
            if (LLVMIsACallInst(i) || LLVMIsAInvokeInst(i) || LLVMIsACallBrInst(i))
                dh_caper_plan_call(c, i);
            if (LLVMIsALandingPadInst(i) && !has_attribute(fn, "presplitcoroutine"))
                dh_caper_plan_catch(c, i);
        }
    dh_caper_number_plan_arguments(c, fn);
    dh_caper_plan_returns(c, fn);
    if (asking)
        dh_caper_questions_plan(c, fn);
}

static void plan(struct dh_caper *c, bool asking)
{
    LLVMModuleRef m = c->ir->module;
    c->escape = dh_ir_escape_new();
    dh_caper_number_look(c);
    for (LLVMValueRef fn = LLVMGetFirstFunction(m); fn; fn = LLVMGetNextFunction(fn))
        if (is_ours(m, fn))
            plan_function(c, fn, asking);
    dh_ir_escape_free(c->escape);
}

/* What earlier passes found out about effects on memory is no longer true. */
static void drop_stale(LLVMModuleRef m)
{
    for (LLVMValueRef fn = LLVMGetFirstFunction(m); fn; fn = LLVMGetNextFunction(fn))
        if (is_ours(m, fn))
            dh_ir_drop_stale_attributes(fn);
}

/* Barriers and questions. */
static void build_caper(struct dh_caper *c, bool asking, bool inlining)
{
    plan(c, asking);
    if (!dh_caper_emit_begin(c))
        return;
    dh_caper_emit(c);
    dh_caper_rules_embed(c);
    if (asking)
        dh_caper_questions_insert(c);
    drop_stale(c->ir->module);
    if (inlining)
        dh_ir_inline_fastpath(c->ir);
    dh_ir_built_mark(c->ir->module);
}

/* Each access tells of itself. */
static void build_alias(struct dh_caper *c, bool asking)
{
    LLVMModuleRef m = c->ir->module;
    struct dh_caper_alias *a = dh_caper_alias_new(c);
    c->escape = dh_ir_escape_new();
    for (LLVMValueRef fn = LLVMGetFirstFunction(m); fn && asking; fn = LLVMGetNextFunction(fn))
        if (is_ours(m, fn))
            dh_caper_alias_plan(a, fn);
    dh_ir_escape_free(c->escape);
    dh_caper_alias_insert(a);
    drop_stale(m);
    dh_ir_built_mark(m);
}

void dh_ir_caper_program(LLVMModuleRef m, bool inlining)
{
    struct dh_ir ir = dh_ir_of(m);
    struct dh_caper c = {.ir = &ir};
    const char *mode = getenv("DEADHEAT_CAPER");
    dh_caper_rules_read(&c);
    bool asking = dh_caper_sites_find(&c);
    ir.builder = LLVMCreateBuilderInContext(ir.ctx);
    ir.quiet = dh_ir_quiet_new(m);
    for (LLVMValueRef fn = LLVMGetFirstFunction(m); fn; fn = LLVMGetNextFunction(fn))
        if (is_ours(m, fn))
            dh_ir_frame_prepare(&ir, fn);
    if (mode && strcmp(mode, "alias") == 0)
        build_alias(&c, asking);
    else
        build_caper(&c, asking, inlining);
    dh_ir_quiet_free(ir.quiet);
    LLVMDisposeBuilder(ir.builder);
    free(c.acts);
    free(c.asks);
    free(c.groups);
}
