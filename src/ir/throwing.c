/*
 * throwing.c - checks that may throw, for `deadheat cc --dh-exceptions`.
 *
 * Two phases. Before the optimiser runs, each check of a plain access is inserted as a call that may unwind:
 * an invoke where a landing pad belongs to the statement (statements.cpp marks them), and no function
 * that contains one is inferred to be nounwind, so that its callers keep their landing pads too. The checks
 * stay calls of functions that touch no memory the optimiser knows of, until the usual pass, at the end,
 * inlines them; atomic operations, fences and the shadow call stack are inserted only there.
 *
 * The resulting code calls __dh_unwind_..., not the usual slow paths: the runtime then knows that this frame
 * can be unwound; and an invoke must not call a preserve_most function, because the unwinder does not restore
 * the registers that LLVM would count on at the landing pad.
 *
 * In functions that must not throw (nounwind) the checks are inserted at the same time, as calls that do not,
 * and become the usual slow paths; so they may be inlined into others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"

static const char early_mark[] = "deadheat-throwing";
static const LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

bool dh_ir_throwing_wanted(void)
{
    const char *value = getenv("DEADHEAT_EXCEPTIONS");
    return value && *value;
}

/* It is: its checks were inserted early. */
bool dh_ir_throwing_is(LLVMValueRef fn)
{
    return LLVMGetStringAttributeAtIndex(fn, whole, early_mark, sizeof(early_mark) - 1) != NULL;
}

static unsigned kind_of(const char *name)
{
    return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

/* ---- Before the optimiser ---- */

static bool is_plain(const struct dh_ir_site *site)
{
    return site->kind == DH_SITE_READ || site->kind == DH_SITE_WRITE || site->kind == DH_SITE_VPTR_WRITE ||
           site->kind == DH_SITE_COPY;
}

/* What stands between `before` (NULL: the start of the block) and inst was inserted for it. */
static void settle(struct dh_ir *ir, LLVMValueRef before, LLVMValueRef inst, bool throws,
                   LLVMBasicBlockRef pad)
{
    LLVMBasicBlockRef block = LLVMGetInstructionParent(inst);
    LLVMValueRef calls[64], at = before ? LLVMGetNextInstruction(before) : LLVMGetFirstInstruction(block);
    size_t n = 0;
    for (; at && at != inst && n < DH_ARRAY_LEN(calls); at = LLVMGetNextInstruction(at))
        if (LLVMIsACallInst(at))
            calls[n++] = at;
    for (size_t i = 0; i < n; i++) {
        if (!throws)
            LLVMAddCallSiteAttribute(calls[i], whole,
                                     LLVMCreateEnumAttribute(ir->ctx, kind_of("nounwind"), 0));
        else if (pad)
            dh_shim_make_invoke(calls[i], pad);
    }
}

void dh_ir_throwing_insert(struct dh_ir *ir, LLVMValueRef fn)
{
    struct dh_ir_sites sites;
    bool throws = !LLVMGetEnumAttributeAtIndex(fn, whole, kind_of("nounwind"));
    dh_ir_sites_collect(ir, fn, &sites);
    struct dh_shim_pads *pads = dh_shim_pads_new(fn);
    LLVMBasicBlockRef *pad = calloc(sites.count + 1, sizeof(*pad));
    for (size_t i = 0; i < sites.count; i++)
        pad[i] = dh_shim_pads_at(pads, sites.at[i].inst);
    dh_shim_pads_free(pads);
    for (size_t i = 0; i < sites.count; i++) {
        struct dh_ir_site *site = &sites.at[i];
        if (site->covered || !is_plain(site))
            continue;
        site->rare = false;
        LLVMValueRef before = LLVMGetPreviousInstruction(site->inst);
        dh_ir_emit_site(ir, site);
        settle(ir, before, site->inst, throws, pad[i]);
    }
    free(pad);
    dh_ir_sites_done(&sites);
    LLVMAddAttributeAtIndex(fn, whole,
                            LLVMCreateStringAttribute(ir->ctx, early_mark, sizeof(early_mark) - 1, "", 0));
}

/* The optimiser may move the program's accesses past a check as past nothing, but for what throwing means;
 * and addresses that only checks know stay private. */
void dh_ir_throwing_declare(struct dh_ir *ir)
{
    dh_ir_emit_declare_all(ir);
    for (int e = DH_IR_READ1; e < DH_IR_VPTR_WRITE; e++) {
        if (!LLVMIsDeclaration(ir->entry[e]))
            continue;
        dh_shim_set_inaccessible(ir->entry[e]);
        LLVMAddAttributeAtIndex(ir->entry[e], 1, LLVMCreateEnumAttribute(ir->ctx, kind_of("nocapture"), 0));
    }
}

/* ---- At the end ---- */

/* A check inserted early is not to be inserted again. */
void dh_ir_throwing_skip_done(struct dh_ir_sites *sites)
{
    for (size_t i = 0; i < sites->count; i++)
        if (is_plain(&sites->at[i]))
            sites->at[i].covered = true;
}

static void may_unwind(LLVMValueRef fn)
{
    LLVMRemoveEnumAttributeAtIndex(fn, whole, kind_of("nounwind"));
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(bb); inst; inst = LLVMGetNextInstruction(inst))
            if (LLVMIsACallInst(inst))
                LLVMRemoveCallSiteEnumAttribute(inst, whole, kind_of("nounwind"));
}

/* The name behind __dh_slow_ or, of a range, behind __dh_; NULL: not a check. */
static const char *checks(LLVMValueRef fn)
{
    size_t len;
    const char *name = LLVMGetValueName2(fn, &len);
    if (strncmp(name, "__dh_slow_", 10) == 0)
        return name + 10;
    if (strcmp(name, "__dh_read_range") == 0 || strcmp(name, "__dh_write_range") == 0)
        return name + 5;
    return NULL;
}

static bool is_fast_check(LLVMValueRef fn)
{
    size_t len;
    const char *name = LLVMGetValueName2(fn, &len);
    return strncmp(name, "__dh_read", 9) == 0 || strncmp(name, "__dh_write", 10) == 0 ||
           strcmp(name, "__dh_vptr_write") == 0;
}

/* The fast paths were compiled as C, in which nothing throws. */
void dh_ir_throwing_link(struct dh_ir *ir)
{
    for (LLVMValueRef fn = LLVMGetFirstFunction(ir->module); fn; fn = LLVMGetNextFunction(fn))
        if (checks(fn) || is_fast_check(fn))
            may_unwind(fn);
}

static LLVMValueRef unwinding(struct dh_ir *ir, LLVMValueRef slow)
{
    char name[64];
    snprintf(name, sizeof(name), "__dh_unwind_%s", checks(slow));
    LLVMValueRef fn = LLVMGetNamedFunction(ir->module, name);
    if (fn)
        return fn;
    fn = LLVMAddFunction(ir->module, name, LLVMGlobalGetValueType(slow));
    dh_shim_set_dso_local(fn, !dh_shim_is_shared_code(ir->module));
    LLVMAddAttributeAtIndex(fn, whole, LLVMCreateEnumAttribute(ir->ctx, kind_of("nomerge"), 0));
    return fn;
}

static void redirect(struct dh_ir *ir, LLVMValueRef call)
{
    LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(call));
    if (!callee || !checks(callee) || LLVMGetCallSiteEnumAttribute(call, whole, kind_of("nounwind")))
        return;
    LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, unwinding(ir, callee));
    LLVMSetInstructionCallConv(call, LLVMCCallConv);
}

void dh_ir_throwing_redirect(struct dh_ir *ir)
{
    for (LLVMValueRef fn = LLVMGetFirstFunction(ir->module); fn; fn = LLVMGetNextFunction(fn))
        for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
            for (LLVMValueRef inst = LLVMGetFirstInstruction(bb); inst; inst = LLVMGetNextInstruction(inst))
                if (dh_ir_throwing_is(fn) && (LLVMIsACallInst(inst) || LLVMIsAInvokeInst(inst)))
                    redirect(ir, inst);
}
