/*
 * call.c - the barriers around calls: what leaves the program with an argument or a result.
 *
 * Functions of the merged module are all instrumented, so their arguments are as good as registers; only what
 * is passed in memory, variable arguments and structures by value, is not covered by our analysis of
 * locals. All others are outside: library.c knows some of them; nothing is known about the rest, so
 * everything passed to them escapes.
 *
 * A call through a pointer leads into the program if the address is between two functions placed before and
 * after all others of the module; the barriers are then skipped.
 */
#include <string.h>

#include "ir/caper/walk.h"
#include "ir/whole/library.h"

static bool has_attribute(LLVMValueRef fn, const char *name)
{
    const LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    return LLVMGetEnumAttributeAtIndex(fn, whole, LLVMGetEnumAttributeKindForName(name, strlen(name))) !=
           NULL;
}

/* An alias of a function is that function. */
static LLVMValueRef callee_of(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    while (LLVMIsAGlobalAlias(callee))
        callee = LLVMAliasGetAliasee(callee);
    return LLVMIsAFunction(callee);
}

static bool is_inside(LLVMValueRef fn)
{
    return !LLVMIsDeclaration(fn) && !has_attribute(fn, "naked");
}

static bool is_byval(LLVMValueRef call, unsigned arg)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
    return LLVMGetCallSiteEnumAttribute(call, arg + 1, kind) != NULL;
}

static u64 byval_size(struct dh_caper *c, LLVMValueRef call, unsigned arg)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
    LLVMAttributeRef attribute = LLVMGetCallSiteEnumAttribute(call, arg + 1, kind);
    return LLVMABISizeOfType(c->ir->layout, LLVMGetTypeAttributeValue(attribute));
}

struct given {
    struct dh_caper *c;
    LLVMValueRef call;
};

static bool give_object(void *arg, LLVMValueRef object)
{
    const struct given *g = arg;
    if (LLVMIsAAllocaInst(object)) {
        u64 size = LLVMABISizeOfType(g->c->ir->layout, LLVMGetAllocatedType(object));
        size_t before = g->c->n_acts;
        dh_caper_contents(g->c, g->call, object, LLVMGetOperand(object, 0), 0);
        if (g->c->n_acts > before)
            g->c->acts[before].times = LLVMConstInt(g->c->ir->u64, size, false);
    } else if (LLVMIsAGlobalVariable(object)) {
        dh_caper_contents(g->c, g->call, object, NULL,
                          LLVMABISizeOfType(g->c->ir->layout, LLVMGlobalGetValueType(object)));
    }
    return true;
}

/* A local variable whose address a call is given without being kept is private; what is in it may be kept,
 * whichever part of it the address is of. */
static void give_contents(struct dh_caper *c, LLVMValueRef call, LLVMValueRef arg)
{
    struct given g = {c, call};
    if (dh_caper_place_of(c, arg) == DH_CAPER_PRIVATE)
        dh_shim_each_object(arg, give_object, &g);
}

static void set_unless(struct dh_caper *c, size_t first, LLVMValueRef callee)
{
    for (size_t i = first; i < c->n_acts; i++)
        c->acts[i].unless = callee;
}

static void wrap(struct dh_caper *c, LLVMValueRef call)
{
    const unsigned traits = dh_shim_call_traits(call);
    if (!dh_caper_has(c, DH_CAPER_RULE_RETURN) || (traits & DH_CALL_NEVER_BACK))
        return;
    dh_caper_act_add(c, DH_CAPER_LEAVE, call);
    dh_caper_act_add(c, DH_CAPER_ENTER, call)->after = true;
}

void dh_caper_plan_catch(struct dh_caper *c, LLVMValueRef pad)
{
    if (dh_caper_has(c, DH_CAPER_RULE_RETURN) && LLVMGetNumClauses(pad) > 0)
        dh_caper_act_add(c, DH_CAPER_CAUGHT, pad)->after = true;
}

/* Arguments may be pieces of a pointer, or have some: a small structure is passed as one integer. */
static void give_pieces(struct dh_caper *c, LLVMValueRef call)
{
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
        dh_caper_give_pieces(c, LLVMGetOperand(call, i), false);
}

/* All that is known is that it is given its arguments. */
static void give_all(struct dh_caper *c, LLVMValueRef call, enum dh_caper_rule rule)
{
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call) && dh_caper_has(c, rule); i++) {
        LLVMValueRef arg = LLVMGetOperand(call, i);
        if (is_byval(call, i)) {
            if (dh_caper_has(c, DH_CAPER_RULE_BYVAL))
                dh_caper_contents(c, call, arg, NULL, byval_size(c, call, i));
            continue;
        }
        dh_caper_publish(c, call, arg);
        if (LLVMGetTypeKind(LLVMTypeOf(arg)) == LLVMPointerTypeKind)
            give_contents(c, call, arg);
    }
}

static void plan_asm(struct dh_caper *c, LLVMValueRef call)
{
    if (dh_caper_is_empty_asm(call))
        return;
    give_all(c, call, DH_CAPER_RULE_ASM);
    give_pieces(c, call);
}

/* Of a function of the program. */
static void plan_inside(struct dh_caper *c, LLVMValueRef call, LLVMValueRef callee)
{
    unsigned fixed = LLVMCountParams(callee);
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
        LLVMValueRef arg = LLVMGetOperand(call, i);
        if (is_byval(call, i)) {
            if (dh_caper_has(c, DH_CAPER_RULE_BYVAL) &&
                (i >= fixed || dh_shim_may_be_captured(LLVMGetParam(callee, i))))
                dh_caper_contents(c, call, arg, NULL, byval_size(c, call, i));
        } else if (i >= fixed && dh_caper_has(c, DH_CAPER_RULE_VARARG)) {
            dh_caper_publish(c, call, arg);
        }
        if (i >= fixed || dh_caper_value_is_stored(LLVMGetParam(callee, i)))
            dh_caper_give_pieces(c, arg, false);
    }
}

static void plan_indirect(struct dh_caper *c, LLVMValueRef call)
{
    size_t first = c->n_acts;
    LLVMTypeRef type = LLVMGetCalledFunctionType(call);
    give_all(c, call, DH_CAPER_RULE_INDIRECT);
    wrap(c, call);
    set_unless(c, first, LLVMGetCalledValue(call));
    give_pieces(c, call);
    /* Of a function of the program, these are passed in memory. */
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
        if (is_byval(call, i) && dh_caper_has(c, DH_CAPER_RULE_BYVAL))
            dh_caper_contents(c, call, LLVMGetOperand(call, i), NULL, byval_size(c, call, i));
        else if (i >= LLVMCountParamTypes(type) && dh_caper_has(c, DH_CAPER_RULE_VARARG))
            dh_caper_publish(c, call, LLVMGetOperand(call, i));
}

static bool is_named(LLVMValueRef callee, const char *prefix)
{
    size_t len;
    return strncmp(LLVMGetValueName2(callee, &len), prefix, strlen(prefix)) == 0;
}

/* Of machine instructions, all that is known is whether they read or write memory. */
static bool has_memory_effect(LLVMValueRef callee, u64 effects)
{
    const LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    LLVMAttributeRef memory =
        LLVMGetEnumAttributeAtIndex(callee, whole, LLVMGetEnumAttributeKindForName("memory", 6));
    return !memory || (LLVMGetEnumAttributeValue(memory) & effects) != 0;
}

enum { READS = 0x5555, WRITES = 0xaaaa }; /* of two bits for each kind of memory */

bool dh_caper_reads_memory(LLVMValueRef callee)
{
    return has_memory_effect(callee, READS);
}

static LLVMTypeRef element_of(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

/* A machine instruction may do anything with the bits that it is given: after that they are no address any
 * more. */
static void plan_machine(struct dh_caper *c, LLVMValueRef call)
{
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
        LLVMValueRef arg = LLVMGetOperand(call, i);
        LLVMTypeKind kind = LLVMGetTypeKind(element_of(LLVMTypeOf(arg)));
        if (kind != LLVMIntegerTypeKind && kind != LLVMPointerTypeKind)
            continue;
        if (dh_caper_has(c, DH_CAPER_RULE_CAST))
            dh_caper_publish(c, call, arg);
        dh_caper_give_pieces(c, arg, false);
    }
}

/* Elements that are gathered one by one, and are smaller than a word, are pieces of words that stay unknown.
 */
static void plan_gather(struct dh_caper *c, LLVMValueRef call)
{
    LLVMTypeRef type = LLVMTypeOf(call);
    if (!dh_caper_has(c, DH_CAPER_RULE_PIECE) || LLVMGetTypeKind(type) != LLVMVectorTypeKind ||
        LLVMStoreSizeOfType(c->ir->layout, LLVMGetElementType(type)) >= 8)
        return;
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
        if (LLVMGetTypeKind(element_of(LLVMTypeOf(LLVMGetOperand(call, i)))) == LLVMPointerTypeKind)
            dh_caper_publish(c, call, LLVMGetOperand(call, i));
}

static void plan_intrinsic(struct dh_caper *c, LLVMValueRef call, LLVMValueRef callee)
{
    if (is_named(callee, "llvm.memcpy.") || is_named(callee, "llvm.memmove.")) {
        dh_caper_copy(c, call, LLVMGetOperand(call, 0), LLVMGetOperand(call, 1), LLVMGetOperand(call, 2));
    } else if (is_named(callee, "llvm.memset.")) {
        dh_caper_give_pieces(c, LLVMGetOperand(call, 1), false);
    } else if (is_named(callee, "llvm.masked.s") || is_named(callee, "llvm.masked.compressstore.") ||
               is_named(callee, "llvm.vp.s")) {
        if (dh_caper_has(c, DH_CAPER_RULE_VECTOR))
            dh_caper_publish(c, call, LLVMGetOperand(call, 0));
        dh_caper_give_pieces(c, LLVMGetOperand(call, 0), !is_named(callee, "llvm.masked.store."));
    } else if (is_named(callee, "llvm.masked.gather.") || is_named(callee, "llvm.masked.expandload.")) {
        plan_gather(c, call);
    } else if (is_named(callee, "llvm.x86.")) {
        if (has_memory_effect(callee, WRITES)) {
            for (unsigned i = 0; i < LLVMGetNumArgOperands(call) && dh_caper_has(c, DH_CAPER_RULE_VECTOR);
                 i++)
                dh_caper_publish(c, call, LLVMGetOperand(call, i));
        } else if (has_memory_effect(callee, READS)) {
            plan_gather(c, call);
        } else {
            plan_machine(c, call);
        }
    }
}

/* A coroutine may go on in another thread, with whatever is in its registers and on its stack: no block that
 * it knows is its thread's alone. (The other is Boost's.) */
static bool makes_coroutine(const char *name)
{
    return strcmp(name, "makecontext") == 0 || strcmp(name, "make_fcontext") == 0;
}

void dh_caper_plan_call(struct dh_caper *c, LLVMValueRef call)
{
    LLVMValueRef callee = callee_of(call);
    size_t len;
    if (LLVMIsAInlineAsm(LLVMGetCalledValue(call))) {
        plan_asm(c, call);
        return;
    }
    if (!callee) {
        plan_indirect(c, call);
        return;
    }
    const char *name = LLVMGetValueName2(callee, &len);
    if (strncmp(name, "__dh_", 5) == 0)
        return;
    if (LLVMGetIntrinsicID(callee) != 0) {
        plan_intrinsic(c, call, callee);
        return;
    }
    dh_caper_plan_allocation(c, call, name);
    if (is_inside(callee)) {
        plan_inside(c, call, callee);
    } else if (!dh_caper_plan_library(c, call, name)) {
        if (makes_coroutine(name) && dh_caper_has(c, DH_CAPER_RULE_CALL))
            dh_caper_act_add(c, DH_CAPER_GIVE_UP, call);
        give_all(c, call, DH_CAPER_RULE_CALL);
        give_pieces(c, call);
        wrap(c, call);
    }
}

/* ---- what functions return ---- */

/* Whether something other than calls in the program knows its address. */
static bool is_known_elsewhere(LLVMValueRef fn)
{
    LLVMLinkage linkage = LLVMGetLinkage(fn);
    if (linkage != LLVMInternalLinkage && linkage != LLVMPrivateLinkage)
        return true;
    for (LLVMUseRef use = LLVMGetFirstUse(fn); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool call = LLVMIsACallInst(user) || LLVMIsAInvokeInst(user) || LLVMIsACallBrInst(user);
        if (!call || LLVMGetCalledValue(user) != fn)
            return true;
        for (unsigned i = 0; i < LLVMGetNumArgOperands(user); i++)
            if (LLVMGetOperand(user, i) == fn)
                return true;
    }
    return false;
}

/* Whether a caller may store what it is returned. */
static bool is_result_stored(LLVMValueRef fn)
{
    if (is_known_elsewhere(fn))
        return true;
    for (LLVMUseRef use = LLVMGetFirstUse(fn); use; use = LLVMGetNextUse(use))
        if (dh_caper_value_is_stored(LLVMGetUser(use)))
            return true;
    return false;
}

static void plan_returned_pieces(struct dh_caper *c, LLVMValueRef fn)
{
    LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(fn));
    if (LLVMGetTypeKind(type) == LLVMVoidTypeKind || !is_result_stored(fn))
        return;
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
        if (LLVMIsAReturnInst(LLVMGetBasicBlockTerminator(bb)))
            dh_caper_give_pieces(c, LLVMGetOperand(LLVMGetBasicBlockTerminator(bb), 0), false);
}

void dh_caper_plan_returns(struct dh_caper *c, LLVMValueRef fn)
{
    size_t len;
    LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(fn));
    plan_returned_pieces(c, fn);
    if (!dh_caper_has(c, DH_CAPER_RULE_RETURN) || LLVMGetTypeKind(type) == LLVMVoidTypeKind ||
        !dh_caper_value_has_words(c, type) || strcmp(LLVMGetValueName2(fn, &len), "main") == 0 ||
        !is_known_elsewhere(fn))
        return;
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(bb);
        if (LLVMIsAReturnInst(end) && dh_caper_value_carries(c, LLVMGetOperand(end, 0)))
            dh_caper_act_add(c, DH_CAPER_RETURN, end)->a = LLVMGetOperand(end, 0);
    }
}
