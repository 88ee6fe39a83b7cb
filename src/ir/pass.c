/*
 * pass.c - instruments one module.
 *
 * A module is instrumented once: one that already refers to __dh_hot comes from an earlier run over its
 * bitcode and is left alone. So are functions that must not run our code: naked ones, ifunc
 * resolvers (they run before relocation), those the user or the compiler exempts, and bodies
 * that only exist for inlining.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"

/* What DH_UNTRACKED annotates functions with. */
static const char untracked[] = "deadheat::untracked";

/* A set of functions, small: exempt ones. */
struct exempt {
    LLVMValueRef *at;
    size_t count;
};

static void exempt_add(struct exempt *x, LLVMValueRef fn)
{
    x->at = realloc(x->at, (x->count + 1) * sizeof(*x->at));
    x->at[x->count++] = fn;
}

static bool exempt_has(const struct exempt *x, LLVMValueRef fn)
{
    for (size_t i = 0; i < x->count; i++)
        if (x->at[i] == fn)
            return true;
    return false;
}

static bool is_string(LLVMValueRef global, const char *text)
{
    LLVMValueRef init = LLVMIsAGlobalVariable(global) ? LLVMGetInitializer(global) : NULL;
    if (!init || !LLVMIsAConstantDataSequential(init) || !LLVMIsConstantString(init))
        return false;
    size_t len;
    const char *s = LLVMGetAsString(init, &len);
    return len == strlen(text) + 1 && memcmp(s, text, len) == 0;
}

/* Entries {function, text, file, line, arguments} of the annotation table. */
static void exempt_annotated(struct exempt *x, LLVMModuleRef m, const char *text)
{
    LLVMValueRef table = LLVMGetNamedGlobal(m, "llvm.global.annotations");
    LLVMValueRef entries = table ? LLVMGetInitializer(table) : NULL;
    if (!entries || !LLVMIsAConstantArray(entries))
        return;
    for (int i = 0; i < LLVMGetNumOperands(entries); i++) {
        LLVMValueRef entry = LLVMGetOperand(entries, (unsigned)i);
        LLVMValueRef fn = LLVMIsAFunction(LLVMGetOperand(entry, 0));
        if (fn && is_string(LLVMGetOperand(entry, 1), text))
            exempt_add(x, fn);
    }
}

static void exempt_resolvers(struct exempt *x, LLVMModuleRef m)
{
    for (LLVMValueRef f = LLVMGetFirstGlobalIFunc(m); f; f = LLVMGetNextGlobalIFunc(f)) {
        LLVMValueRef resolver = LLVMIsAFunction(LLVMGetGlobalIFuncResolver(f));
        if (resolver)
            exempt_add(x, resolver);
    }
}

static unsigned attribute_kind(const char *name)
{
    return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

static bool has_attribute(LLVMValueRef fn, const char *name)
{
    const LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    return LLVMGetEnumAttributeAtIndex(fn, whole, attribute_kind(name)) != NULL;
}

static bool is_ours_to_check(const struct exempt *x, LLVMValueRef fn)
{
    size_t len;
    const char *name = LLVMGetValueName2(fn, &len);
    return !LLVMIsDeclaration(fn) && strncmp(name, "__dh_", 5) != 0 && !has_attribute(fn, "naked") &&
           !has_attribute(fn, "disable_sanitizer_instrumentation") && !exempt_has(x, fn);
}

/* At the end, a body that only exists for inlining has been. */
static bool is_instrumented(const struct exempt *x, LLVMValueRef fn)
{
    return LLVMGetLinkage(fn) != LLVMAvailableExternallyLinkage && is_ours_to_check(x, fn);
}

/* What earlier passes found out about effects on memory is no longer true: the function keeps the shadow
 * stack, its callees may too, and a check of a vtable pointer reads what the program only writes. It matters
 * where optimisation goes on after us, at link time. */
void dh_ir_drop_stale_attributes(LLVMValueRef fn)
{
    static const char *const stale[] = {"memory", "nosync", "nofree", "norecurse", "speculatable"};
    const LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    for (size_t i = 0; i < DH_ARRAY_LEN(stale); i++)
        LLVMRemoveEnumAttributeAtIndex(fn, whole, attribute_kind(stale[i]));
    for (unsigned i = 1; i <= LLVMCountParams(fn); i++)
        LLVMRemoveEnumAttributeAtIndex(fn, i, attribute_kind("writeonly"));
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(bb); inst; inst = LLVMGetNextInstruction(inst))
            if (LLVMIsACallInst(inst) || LLVMIsAInvokeInst(inst))
                LLVMRemoveCallSiteEnumAttribute(inst, whole, attribute_kind("memory"));
}

/* Checks in the program. */
struct checks {
    u64 all, kept; /* without marks, and with them */
};

static u64 count_checks(const struct dh_ir_sites *sites)
{
    u64 n = 0;
    for (size_t i = 0; i < sites->count; i++)
        n += dh_ir_sites_checks(&sites->at[i]);
    return n;
}

/* What would be checked if nothing were marked as safe. */
static void collect_all(struct dh_ir *ir, LLVMValueRef fn, struct dh_ir_sites *ret_sites)
{
    ir->heeds_marks = false;
    dh_ir_sites_collect(ir, fn, ret_sites);
    if (!has_attribute(fn, "optnone"))
        dh_ir_avail_prune(ret_sites);
    ir->heeds_marks = true;
}

static void instrument_function(struct dh_ir *ir, LLVMValueRef fn, struct checks *counted)
{
    struct dh_ir_sites sites, all = {0};
    if (counted)
        collect_all(ir, fn, &all);
    dh_ir_sites_collect(ir, fn, &sites);
    bool needed = sites.count > 0 || sites.has_calls;
    if (needed) {
        struct dh_ir_ranges ranges = {0};
        if (dh_ir_throwing_is(fn)) {
            dh_ir_throwing_skip_done(&sites);
        } else if (!has_attribute(fn, "optnone")) { /* nothing to find, and analyses cost */
            if (!ir->filter) /* it does not say what the checks that are kept stand for */
                dh_ir_avail_prune(&sites);
            dh_ir_loops_plan(ir, fn, &sites, &ranges);
            dh_ir_groups_plan(ir, &sites);
        }
        dh_ir_frame_prepare(ir, fn);
        dh_ir_loops_emit(ir, &ranges);
        dh_ir_emit_sites(ir, &sites);
        dh_ir_loops_done(&ranges);
        if (!(dh_ir_ignore_get(fn) & DH_IR_LEAVE_FRAME))
            dh_ir_frame_insert(ir, fn, sites.rare_frame);
        dh_ir_drop_stale_attributes(fn);
    }
    if (counted) {
        counted->all += count_checks(&all);
        counted->kept += count_checks(&sites);
    }
    if (ir->tally) {
        dh_ir_tally_sites(ir, &all, false);
        dh_ir_tally_sites(ir, &sites, true);
    }
    dh_ir_sites_done(&all);
    dh_ir_sites_done(&sites);
}

/* The runtime learns of the image that holds the marker before any of its other code runs. From a shared
 * object it also learns where deadheat is: the program, which the runtime is part of, may be all plain. */
static void add_module_constructor(struct dh_ir *ir, LLVMValueRef home)
{
    LLVMValueRef marker = LLVMAddGlobal(ir->module, ir->u8, "__dh_module_marker");
    LLVMSetInitializer(marker, LLVMConstNull(ir->u8));
    LLVMSetLinkage(marker, LLVMInternalLinkage);

    LLVMTypeRef type = LLVMFunctionType(ir->none, NULL, 0, false);
    LLVMValueRef fn = LLVMAddFunction(ir->module, "__dh_module_ctor", type);
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    LLVMPositionBuilderAtEnd(ir->builder, LLVMAppendBasicBlockInContext(ir->ctx, fn, ""));
    LLVMSetCurrentDebugLocation2(ir->builder, NULL);
    dh_ir_emit_call(ir, DH_IR_MODULE_INIT, &marker);
    if (home && dh_shim_is_shared_code(ir->module))
        dh_ir_emit_call(ir, DH_IR_MODULE_HOME, &home);
    LLVMBuildRetVoid(ir->builder);
    dh_shim_add_constructor(ir->module, fn, 0);
}

static bool is_done(LLVMModuleRef m)
{
    return LLVMGetNamedGlobal(m, "__dh_hot") || LLVMGetNamedFunction(m, "__dh_module_ctor");
}

struct dh_ir dh_ir_of(LLVMModuleRef m)
{
    LLVMContextRef ctx = LLVMGetModuleContext(m);
    return (struct dh_ir){
        .module = m,
        .ctx = ctx,
        .layout = LLVMGetModuleDataLayout(m),
        .ptr = LLVMPointerTypeInContext(ctx, 0),
        .u8 = LLVMInt8TypeInContext(ctx),
        .u32 = LLVMInt32TypeInContext(ctx),
        .u64 = LLVMInt64TypeInContext(ctx),
        .none = LLVMVoidTypeInContext(ctx),
        .safe_kind = dh_ir_prune_kind(m),
        .heeds_marks = true,
    };
}

/* The optimiser specialises functions for arguments that are constant, in copies that have the attributes of
 * the function and are in no annotation. */
static void mark_annotated(LLVMModuleRef m)
{
    const LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    const unsigned kind = attribute_kind("disable_sanitizer_instrumentation");
    struct exempt annotated = {0};
    exempt_annotated(&annotated, m, untracked);
    for (size_t i = 0; i < annotated.count; i++)
        LLVMAddAttributeAtIndex(annotated.at[i], whole,
                                LLVMCreateEnumAttribute(LLVMGetModuleContext(m), kind, 0));
    free(annotated.at);
}

/* What an ignorelist names by its source file. */
static void mark_ignored(LLVMModuleRef m)
{
    struct exempt ignored = {0};
    exempt_annotated(&ignored, m, "deadheat::ignored");
    for (size_t i = 0; i < ignored.count; i++)
        dh_ir_ignore_add(ignored.at[i], DH_IR_LEAVE_PLAIN);
    free(ignored.at);
    dh_ir_ignore_mark(m);
}

bool dh_ir_instrument_early(LLVMModuleRef m)
{
    mark_annotated(m);
    mark_ignored(m);
    if (!dh_ir_throwing_wanted() || is_done(m))
        return false;
    struct dh_ir ir = dh_ir_of(m);
    struct exempt exempt = {0};
    exempt_annotated(&exempt, m, untracked);
    exempt_resolvers(&exempt, m);
    ir.builder = LLVMCreateBuilderInContext(ir.ctx);
    ir.throwing = true;
    dh_ir_throwing_declare(&ir);
    for (LLVMValueRef fn = LLVMGetFirstFunction(m); fn; fn = LLVMGetNextFunction(fn))
        if (is_ours_to_check(&exempt, fn))
            dh_ir_throwing_insert(&ir, fn);
    dh_shim_drop_marks(m);
    LLVMDisposeBuilder(ir.builder);
    free(exempt.at);
    return true;
}

/* counted: NULL if nobody asks how many checks are left out. filter: NULL if checks cannot be switched. */
static bool instrument(LLVMModuleRef m, bool inlining, struct checks *counted, struct dh_ir_filter *filter)
{
    if (is_done(m))
        return false;
    struct dh_ir ir = dh_ir_of(m);
    ir.filter = filter;
    ir.heeds_marks = !filter || counted;
    struct exempt exempt = {0};
    exempt_annotated(&exempt, m, untracked);
    exempt_resolvers(&exempt, m);

    bool any = false;
    for (LLVMValueRef fn = LLVMGetFirstFunction(m); fn && !any; fn = LLVMGetNextFunction(fn))
        any = is_instrumented(&exempt, fn);
    if (any) {
        ir.builder = LLVMCreateBuilderInContext(ir.ctx);
        /* A check that throws is a way out of a function that no attribute tells of. */
        ir.quiet = dh_ir_throwing_wanted() ? NULL : dh_ir_quiet_new(m);
        any = dh_ir_link_fastpath(&ir);
        ir.tally = any && counted ? dh_ir_tally_new(&ir) : NULL;
    }
    if (any) {
        /* The end of the pipeline has folded away the blocks in front of loops, which loops.c needs. */
        dh_ir_run_passes(&ir, "function(loop-simplify)");
        for (LLVMValueRef fn = LLVMGetFirstFunction(m); fn; fn = LLVMGetNextFunction(fn))
            if (is_instrumented(&exempt, fn))
                instrument_function(&ir, fn, counted);
        if (ir.tally)
            dh_ir_tally_end(&ir);
        add_module_constructor(&ir, dh_ir_link_home(&ir));
        if (inlining)
            dh_ir_inline_fastpath(&ir);
        if (inlining && dh_ir_throwing_wanted())
            dh_ir_throwing_redirect(&ir);
    }
    if (ir.builder)
        LLVMDisposeBuilder(ir.builder);
    dh_ir_quiet_free(ir.quiet);
    dh_ir_tally_free(ir.tally);
    free(exempt.at);
    return any;
}

bool dh_ir_instrument_module(LLVMModuleRef m, bool inlining)
{
    return instrument(m, inlining, NULL, NULL);
}

bool dh_ir_instrument_program(LLVMModuleRef m)
{
    struct checks counted = {0};
    bool pruning = dh_ir_prune_wanted();
    struct dh_ir_filter *filter = dh_ir_filter_wanted() ? dh_ir_filter_new(m) : NULL;
    bool known = dh_ir_prune_mark(m, filter), switched = dh_ir_filter_knows(filter);
    bool changed = instrument(m, true, pruning ? &counted : NULL, switched ? filter : NULL);
    if (known && pruning)
        dh_ir_prune_say(counted.all, counted.kept);
    if (changed)
        dh_ir_filter_embed(filter);
    dh_ir_filter_free(filter);
    return changed;
}
