/*
 * barrier.c - the barriers before stores, atomic operations and copies.
 *
 * A store to memory that no other code can access needs none: such memory is as good as a register. A value
 * stored to memory that others can certainly reach is published; otherwise the shadow of the destination
 * decides at run time.
 */
#include <string.h>

#include "ir/caper/caper.h"

enum { WORD = 8 };

struct dh_caper_act *dh_caper_act_add(struct dh_caper *c, unsigned entry, LLVMValueRef at)
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

static bool is_constant(void *arg, LLVMValueRef object)
{
    (void)arg;
    return LLVMIsAGlobalVariable(object) && LLVMIsGlobalConstant(object);
}

bool dh_caper_is_constant(LLVMValueRef ptr)
{
    return dh_shim_each_object(ptr, is_constant, NULL);
}

/* ---- what ---- */

void dh_caper_publish(struct dh_caper *c, LLVMValueRef at, LLVMValueRef value)
{
    if (dh_caper_value_has_words(c, LLVMTypeOf(value)) && dh_caper_value_carries(c, value))
        dh_caper_act_add(c, DH_CAPER_PUBLISH, at)->a = value;
}

static bool writes(LLVMValueRef i)
{
    return LLVMIsAStoreInst(i) || LLVMIsACallInst(i) || LLVMIsAInvokeInst(i) || LLVMIsACallBrInst(i) ||
           LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i) || LLVMIsAFenceInst(i);
}

/* The first instruction from here on, up to a store, that may change memory; NULL: none in this block. Stores
 * into an object do not count, if there is one given. */
static LLVMValueRef first_write(LLVMValueRef from, LLVMValueRef store, LLVMValueRef object)
{
    while (from && from != store &&
           (!writes(from) || dh_shim_is_debug(from) ||
            (object && LLVMIsAStoreInst(from) && dh_shim_object(LLVMGetOperand(from, 1)) == object)))
        from = LLVMGetNextInstruction(from);
    return from;
}

/* The last place on the way from a load to a store, which it dominates, at which memory is what it was when
 * it was loaded, but for the object; NULL: there is none, or it takes too long to see. Whichever way back is
 * taken from the store's block, the load's block must come before any other that may change memory, and
 * before the store's own once more. */
static LLVMValueRef last_unchanged(LLVMValueRef load, LLVMValueRef store, LLVMValueRef object)
{
    enum { MAX_BLOCKS = 32 };
    LLVMBasicBlockRef from = LLVMGetInstructionParent(load), to = LLVMGetInstructionParent(store);
    LLVMBasicBlockRef seen[MAX_BLOCKS], all[MAX_BLOCKS];
    unsigned n = 1;
    if (from == to) {
        for (LLVMValueRef i = load; i; i = LLVMGetNextInstruction(i))
            if (i == store)
                return first_write(LLVMGetNextInstruction(load), store, object);
        return NULL; /* by the loop around them */
    }
    if (first_write(LLVMGetNextInstruction(load), store, object))
        return NULL;
    seen[0] = to;
    for (unsigned k = 0; k < n; k++) {
        unsigned before = dh_shim_predecessors(seen[k], all, MAX_BLOCKS);
        if (before == 0 || before > MAX_BLOCKS)
            return NULL; /* the function begins here */
        for (unsigned i = 0; i < before; i++) {
            bool known = all[i] == from;
            for (unsigned j = 1; j < n && !known; j++)
                known = seen[j] == all[i];
            if (known)
                continue;
            if (all[i] == to || n == MAX_BLOCKS ||
                first_write(LLVMGetFirstInstruction(all[i]), store, object))
                return NULL;
            seen[n++] = all[i];
        }
    }
    return first_write(LLVMGetFirstInstruction(to), store, object);
}

/*
 * A word that is moved within one object. If the object has escaped, so has what the word points to; if it is
 * private, it is stored where nobody looks. It must not become known to others in between: there may only be
 * plain stores into the same object, which do not make it known, whatever they store.
 */
static bool stays_inside(LLVMValueRef store)
{
    LLVMValueRef load = LLVMIsALoadInst(LLVMGetOperand(store, 0)),
                 object = dh_shim_object(LLVMGetOperand(store, 1));
    return load && LLVMGetAlignment(store) >= WORD && LLVMGetAlignment(load) >= WORD &&
           dh_shim_object(LLVMGetOperand(load, 0)) == object && last_unchanged(load, store, object) == store;
}

/* x += c: what was there before points to the same block, if to any. It must have been there until now. */
static bool is_step(LLVMValueRef store)
{
    LLVMValueRef value = LLVMGetOperand(store, 0), place = LLVMGetOperand(store, 1);
    LLVMValueRef load = LLVMIsABinaryOperator(value) && LLVMIsAConstantInt(LLVMGetOperand(value, 1))
                            ? LLVMIsALoadInst(LLVMGetOperand(value, 0))
                            : NULL;
    LLVMOpcode op = load ? LLVMGetInstructionOpcode(value) : LLVMLoad;
    return (op == LLVMAdd || op == LLVMSub) && LLVMGetOperand(load, 0) == place &&
           last_unchanged(load, store, dh_shim_object(place)) == store;
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
    /* Where blocks are scanned, and what is copied is, a pointer that is not at a multiple of 8 is not found.
     */
    if (place == DH_CAPER_PRIVATE && LLVMIsAStoreInst(inst) && LLVMGetAlignment(inst) < WORD)
        place = DH_CAPER_ESCAPED;
    if (place == DH_CAPER_PRIVATE || (LLVMIsAStoreInst(inst) && (is_step(inst) || stays_inside(inst))) ||
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
    LLVMValueRef store; /* NULL: it goes on in a register */
};

/* The word that a piece is of escapes, wherever the piece goes: that is one test, where to ask about the
 * destination first would be three, and words that are moved so are hardly ever pointers. What is in memory
 * that has escaped has escaped. */
static void move_piece(void *arg, LLVMValueRef load)
{
    const struct pieces *p = arg;
    const bool plain = LLVMIsALoadInst(load);
    LLVMValueRef src = LLVMGetOperand(load, 0);
    if (dh_caper_is_constant(src) || LLVMGetPointerAddressSpace(LLVMTypeOf(src)) != 0 ||
        dh_caper_holds_escaped(p->c, src))
        return;
    if (LLVMIsACallInst(load)) { /* not all of it can be read */
        dh_caper_publish(p->c, load, src);
        return;
    }
    /* Atomic operations leave something else there. */
    LLVMValueRef place = p->store && plain ? last_unchanged(load, p->store, NULL) : NULL;
    u64 size = LLVMStoreSizeOfType(p->c->ir->layout, LLVMTypeOf(plain ? load : LLVMGetOperand(load, 1)));
    if (size >= WORD)
        dh_caper_contents(p->c, place ? place : load, src, NULL, size);
    else
        dh_caper_act_add(p->c, DH_CAPER_WORD, place ? place : load)->a = src;
}

static void store_pieces(struct dh_caper *c, LLVMValueRef inst, LLVMValueRef value)
{
    struct pieces p = {c, inst};
    if (!dh_caper_has(c, DH_CAPER_RULE_PIECE) || LLVMIsConstant(value))
        return;
    dh_caper_value_pieces(c, value, false, move_piece, &p);
}

/* Pieces that are handed on: who gets them stores them, perhaps. */
void dh_caper_give_pieces(struct dh_caper *c, LLVMValueRef value, bool moved)
{
    struct pieces p = {c, NULL};
    if (dh_caper_has(c, DH_CAPER_RULE_PIECE) && !LLVMIsConstant(value))
        dh_caper_value_pieces(c, value, moved, move_piece, &p);
}

/* ---- copies ---- */

static bool is_too_short(LLVMValueRef n)
{
    return LLVMIsAConstantInt(n) && LLVMConstIntGetZExtValue(n) == 0;
}

void dh_caper_contents(struct dh_caper *c, LLVMValueRef at, LLVMValueRef src, LLVMValueRef n, u64 constant)
{
    if (dh_caper_is_constant(src) || (n && is_too_short(n)) || (!n && constant == 0))
        return;
    struct dh_caper_act *act = dh_caper_act_add(c, DH_CAPER_CONTENTS, at);
    act->a = src;
    act->n = n;
    act->constant = constant;
}

/* Whether pointers stay at multiples of 8. Of a call of memcpy nothing is known. */
static bool keeps_words(LLVMValueRef at)
{
    LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(at));
    return callee && LLVMGetIntrinsicID(callee) != 0 && dh_shim_argument_align(at, 0) >= WORD &&
           dh_shim_argument_align(at, 1) >= WORD;
}

void dh_caper_copy(struct dh_caper *c, LLVMValueRef at, LLVMValueRef dst, LLVMValueRef src, LLVMValueRef n)
{
    enum dh_caper_place place = dh_caper_place_of(c, dst);
    if (place == DH_CAPER_PRIVATE && !keeps_words(at))
        place = DH_CAPER_ESCAPED;
    if (!dh_caper_has(c, DH_CAPER_RULE_COPY) || place == DH_CAPER_PRIVATE)
        return;
    if (place == DH_CAPER_ESCAPED) {
        dh_caper_contents(c, at, src, n, 0);
        return;
    }
    if (dh_caper_is_constant(src) || is_too_short(n))
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
        store_pieces(c, inst, LLVMGetOperand(inst, 0));
        break;
    case LLVMAtomicRMW:
        store_words(c, inst, LLVMGetOperand(inst, 0), LLVMGetOperand(inst, 1));
        store_pieces(c, inst, LLVMGetOperand(inst, 1));
        break;
    case LLVMAtomicCmpXchg:
        store_words(c, inst, LLVMGetOperand(inst, 0), LLVMGetOperand(inst, 2));
        store_pieces(c, inst, LLVMGetOperand(inst, 2));
        break;
    default:
        dh_caper_number_plan(c, inst);
        break;
    }
}
