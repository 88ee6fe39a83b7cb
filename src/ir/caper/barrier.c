/*
 * barrier.c - the barriers in front of stores, atomic operations and copies.
 *
 * What is stored where nobody else looks needs none: such memory is as good as a register. Into memory that
 * others can reach for certain, the value is published; else the shadow of the destination decides when the
 * program runs.
 */
#include <string.h>

#include "ir/caper/caper.h"

struct dh_caper_act *dh_caper_act_add(struct dh_caper *c, enum dh_caper_entry entry, LLVMValueRef at)
{
    c->acts = dh_util_grow(c->acts, c->n_acts, &c->cap_acts, sizeof(*c->acts));
    struct dh_caper_act *act = &c->acts[c->n_acts++];
    *act = (struct dh_caper_act){.entry = entry, .at = at};
    return act;
}

/* ---- where ---- */

/* A variable, or a local that is known elsewhere. (That a pointer is only to such is asked after it was found
 * not to be private.) */
static bool is_named(void *arg, LLVMValueRef object)
{
    (void)arg;
    return LLVMIsAGlobalVariable(object) || LLVMIsAAllocaInst(object) || dh_shim_is_byval_argument(object);
}

enum dh_caper_place dh_caper_place_of(struct dh_caper *c, LLVMValueRef ptr)
{
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(ptr)) != 0)
        return DH_CAPER_ESCAPED;
    if (dh_ir_escape_is_private(c->escape, ptr))
        return DH_CAPER_PRIVATE;
    return dh_shim_each_object(ptr, is_named, NULL) ? DH_CAPER_ESCAPED : DH_CAPER_SOMEWHERE;
}

/* ---- what ---- */

void dh_caper_publish(struct dh_caper *c, LLVMValueRef at, LLVMValueRef value)
{
    if (dh_caper_value_has_words(c, LLVMTypeOf(value)) && dh_caper_value_carries(c, value))
        dh_caper_act_add(c, DH_CAPER_PUBLISH, at)->a = value;
}

/* x += c: what was there before points to the same block, if to any. */
static bool is_step(LLVMValueRef store)
{
    LLVMValueRef value = LLVMGetOperand(store, 0);
    LLVMValueRef load = LLVMIsABinaryOperator(value) && LLVMIsAConstantInt(LLVMGetOperand(value, 1))
                            ? LLVMIsALoadInst(LLVMGetOperand(value, 0))
                            : NULL;
    return load && LLVMGetOperand(load, 0) == LLVMGetOperand(store, 1) &&
           (LLVMGetInstructionOpcode(value) == LLVMAdd || LLVMGetInstructionOpcode(value) == LLVMSub);
}

static bool is_float(LLVMTypeRef type)
{
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    if (kind == LLVMVectorTypeKind)
        return is_float(LLVMGetElementType(type));
    return kind == LLVMDoubleTypeKind || kind == LLVMFloatTypeKind || kind == LLVMHalfTypeKind ||
           kind == LLVMBFloatTypeKind || kind == LLVMX86_FP80TypeKind || kind == LLVMFP128TypeKind;
}

static enum dh_caper_rule rule_of(LLVMValueRef inst, LLVMTypeRef type)
{
    bool plain = LLVMIsAStoreInst(inst) && LLVMGetOrdering(inst) == LLVMAtomicOrderingNotAtomic;
    if ((LLVMIsAStoreInst(inst) || LLVMIsAAtomicRMWInst(inst) || LLVMIsAAtomicCmpXchgInst(inst)) && !plain)
        return DH_CAPER_RULE_ATOMIC;
    if (is_float(type) && LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return DH_CAPER_RULE_FLOAT;
    return dh_caper_value_is_scalar(type) ? DH_CAPER_RULE_STORE : DH_CAPER_RULE_VECTOR;
}

static void store_words(struct dh_caper *c, LLVMValueRef inst, LLVMValueRef dst, LLVMValueRef value)
{
    if (!dh_caper_has(c, rule_of(inst, LLVMTypeOf(value))) || !dh_caper_value_has_words(c, LLVMTypeOf(value)))
        return;
    enum dh_caper_place place = dh_caper_place_of(c, dst);
    if (place == DH_CAPER_PRIVATE || (LLVMIsAStoreInst(inst) && is_step(inst)) ||
        !dh_caper_value_carries(c, value))
        return;
    struct dh_caper_act *act =
        dh_caper_act_add(c, place == DH_CAPER_ESCAPED ? DH_CAPER_PUBLISH : DH_CAPER_STORE, inst);
    act->a = place == DH_CAPER_ESCAPED ? value : dst;
    act->b = place == DH_CAPER_ESCAPED ? NULL : value;
}

/* ---- pieces ---- */

struct pieces {
    struct dh_caper *c;
    LLVMValueRef store, dst;
};

/* Whether the memory that was loaded is still what it was when the store is made. */
static bool is_unchanged(LLVMValueRef load, LLVMValueRef store)
{
    if (LLVMGetInstructionParent(load) != LLVMGetInstructionParent(store))
        return false;
    for (LLVMValueRef i = LLVMGetNextInstruction(load); i && i != store; i = LLVMGetNextInstruction(i))
        if (LLVMIsAStoreInst(i) || LLVMIsACallInst(i) || LLVMIsAAtomicRMWInst(i) ||
            LLVMIsAAtomicCmpXchgInst(i) || LLVMIsAFenceInst(i))
            return false;
    return LLVMGetInstructionParent(load) == LLVMGetInstructionParent(store);
}

static bool is_constant(void *arg, LLVMValueRef object)
{
    (void)arg;
    return LLVMIsAGlobalVariable(object) && LLVMIsGlobalConstant(object);
}

/* Where the memory may have been changed since, the word that the piece is of is looked at when it is loaded,
 * as if it went where all can see it. */
static void move_piece(void *arg, LLVMValueRef load)
{
    const struct pieces *p = arg;
    struct dh_caper *c = p->c;
    LLVMValueRef src = LLVMGetOperand(load, 0);
    if (dh_shim_each_object(src, is_constant, NULL) || LLVMGetPointerAddressSpace(LLVMTypeOf(src)) != 0)
        return;
    bool here = is_unchanged(load, p->store);
    struct dh_caper_act *act = dh_caper_act_add(c, DH_CAPER_PIECE, here ? p->store : load);
    act->a = here && dh_caper_place_of(c, p->dst) == DH_CAPER_SOMEWHERE ? p->dst : NULL;
    act->b = src;
}

static void store_pieces(struct dh_caper *c, LLVMValueRef inst, LLVMValueRef dst, LLVMValueRef value)
{
    struct pieces p = {c, inst, dst};
    if (!dh_caper_has(c, DH_CAPER_RULE_PIECE) || LLVMIsConstant(value) ||
        dh_caper_place_of(c, dst) == DH_CAPER_PRIVATE)
        return;
    dh_caper_value_pieces(c, value, move_piece, &p);
}

/* ---- copies ---- */

static bool is_too_short(LLVMValueRef n)
{
    return LLVMIsAConstantInt(n) && LLVMConstIntGetZExtValue(n) == 0;
}

void dh_caper_contents(struct dh_caper *c, LLVMValueRef at, LLVMValueRef src, LLVMValueRef n, u64 constant)
{
    if (dh_shim_each_object(src, is_constant, NULL) || (n && is_too_short(n)) || (!n && constant == 0))
        return;
    struct dh_caper_act *act = dh_caper_act_add(c, DH_CAPER_CONTENTS, at);
    act->a = src;
    act->n = n;
    act->constant = constant;
}

void dh_caper_copy(struct dh_caper *c, LLVMValueRef at, LLVMValueRef dst, LLVMValueRef src, LLVMValueRef n)
{
    enum dh_caper_place place = dh_caper_place_of(c, dst);
    if (!dh_caper_has(c, DH_CAPER_RULE_COPY) || place == DH_CAPER_PRIVATE)
        return;
    if (place == DH_CAPER_ESCAPED) {
        dh_caper_contents(c, at, src, n, 0);
        return;
    }
    if (dh_shim_each_object(src, is_constant, NULL) || is_too_short(n))
        return;
    struct dh_caper_act *act = dh_caper_act_add(c, DH_CAPER_COPY, at);
    act->a = dst;
    act->b = src;
    act->n = n;
}

void dh_caper_plan_access(struct dh_caper *c, LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMStore:
        store_words(c, inst, LLVMGetOperand(inst, 1), LLVMGetOperand(inst, 0));
        store_pieces(c, inst, LLVMGetOperand(inst, 1), LLVMGetOperand(inst, 0));
        break;
    case LLVMAtomicRMW:
        store_words(c, inst, LLVMGetOperand(inst, 0), LLVMGetOperand(inst, 1));
        store_pieces(c, inst, LLVMGetOperand(inst, 0), LLVMGetOperand(inst, 1));
        break;
    case LLVMAtomicCmpXchg:
        store_words(c, inst, LLVMGetOperand(inst, 0), LLVMGetOperand(inst, 2));
        store_pieces(c, inst, LLVMGetOperand(inst, 0), LLVMGetOperand(inst, 2));
        break;
    default:
        dh_caper_value_plan_casts(c, inst);
        break;
    }
}
