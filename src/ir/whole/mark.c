/*
 * mark.c - marks accesses that do not race under an additional assumption.
 *
 * Own index: the address is the thread's own argument, or an element of an array whose index is computed from
 * it. Two threads of one kind then access different elements, if each gets its own argument. Fresh:
 * the memory was allocated by this call of this function, or by its caller, and neither has yet stored its
 * address nor passed it on. Other threads come later, if the address is published properly; and two fresh
 * blocks are different.
 */
#include <stdlib.h>

#include "ir/whole/counted.h"
#include "ir/whole/race.h"

enum { MAX_DEPTH = 12 };

struct origin {
    LLVMValueRef arg;
    bool from_arg, other;
};

/* Looks for what an integer is computed from. */
static void trace(struct origin *o, LLVMValueRef v, int depth)
{
    if (v == o->arg) {
        o->from_arg = true;
        return;
    }
    if (LLVMIsConstant(v))
        return;
    if (LLVMIsAInstruction(v) == NULL) {
        o->other = true;
        return;
    }
    if (depth == 0)
        return; /* round a loop, or so deep that it does not matter */
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMOr:
    case LLVMSExt:
    case LLVMZExt:
    case LLVMTrunc:
    case LLVMPtrToInt:
    case LLVMPHI:
    case LLVMFreeze:
    case LLVMGetElementPtr:
        for (int i = 0; i < LLVMGetNumOperands(v); i++)
            trace(o, LLVMGetOperand(v, (unsigned)i), depth - 1);
        break;
    case LLVMLoad:
        trace(o, LLVMGetOperand(v, 0), depth - 1);
        break;
    default:
        o->other = true;
        break;
    }
}

u32 dh_w_own(const struct dh_w *w, u32 inst, dh_w_value v)
{
    const struct dh_w_inst *in = &w->insts[inst];
    const struct dh_w_fn *fn = &w->fns[in->fn];
    const struct dh_w_root *root = &w->roots[in->root];
    if (root->inst != inst || in->root == 0 || fn->args == 0 || root->often)
        return 0;
    struct origin o = {.arg = LLVMGetParam(fn->value, 0)};
    int64_t off = 0;
    for (size_t steps = 0; v < DH_W_CONSTANT; steps++) {
        if (v == 0)
            return 1; /* the argument itself: all of what it points to is this thread's own */
        u32 def = fn->def[v];
        const struct dh_w_op *op = def < fn->n_ops ? &fn->ops[def] : NULL;
        if (op == NULL || steps > fn->n_ops || /* it goes in a circle */
            (op->kind != DH_W_OFFSET && op->kind != DH_W_ELEMENT && op->kind != DH_W_COPY))
            return 0;
        off += op->kind == DH_W_COPY ? 0 : op->off;
        if (op->kind == DH_W_ELEMENT) {
            LLVMValueRef index = LLVMGetOperand(op->inst, (unsigned)LLVMGetNumOperands(op->inst) - 1);
            for (int i = 1; i < LLVMGetNumOperands(op->inst); i++)
                trace(&o, LLVMGetOperand(op->inst, (unsigned)i), MAX_DEPTH);
            if (!o.from_arg || o.other)
                return 0;
            /* a[i] and a[i + 1] are neighbours: only the same index at the same offset is the thread's own.
             */
            return (u32)dh_hash64((u64)(uptr)index ^ dh_hash64((u64)off)) | 2;
        }
        v = op->a;
    }
    return 0;
}

/* As dh_w_only_call says it of each: it is asked for every access. */
void dh_w_only_calls_find(struct dh_w_races *r)
{
    const struct dh_w *w = r->w;
    u8 *calls = calloc(w->n_insts + 1, 1);
    if (calls == NULL)
        dh_util_no_memory();
    r->only = dh_arena_array(&r->w->arena, w->n_insts + 1, sizeof *r->only);
    for (u32 i = 0; i < w->n_insts; i++)
        for (size_t e = 0; e < w->insts[i].n_edges; e++) {
            const struct dh_w_edge *edge = &w->insts[i].edges[e];
            bool often = calls[edge->inst] > 0 || w->fns[w->insts[i].fn].ops[edge->op].kind != DH_W_CALL;
            calls[edge->inst] = often ? 2 : 1;
            r->only[edge->inst] = (struct dh_w_only){i, edge->op};
        }
    for (u32 i = 0; i < w->n_insts; i++)
        if (calls[i] != 1 || dh_w_starts_itself(w, i))
            r->only[i].caller = DH_W_NONE;
    free(calls);
}

/* The value that another one is computed from, in whatever way: it leads to the same object. DH_W_NONE: a
 * constant. What is computed from nothing but itself, as a phi may be whose other values are null, is its own
 * origin: that takes more steps than there are ops. */
static dh_w_value origin(const struct dh_w_fn *fn, dh_w_value v)
{
    for (size_t steps = 0; v < DH_W_CONSTANT; steps++) {
        const struct dh_w_op *op = fn->def[v] < fn->n_ops ? &fn->ops[fn->def[v]] : NULL;
        if (op == NULL || steps > fn->n_ops ||
            (op->kind != DH_W_COPY && op->kind != DH_W_OFFSET && op->kind != DH_W_ELEMENT &&
             op->kind != DH_W_ANY))
            return v;
        v = op->a;
    }
    return DH_W_NONE;
}

/* Whether a function reads pointers from the object at base. */
static bool reads_from(const struct dh_w_fn *fn, dh_w_value base)
{
    for (u32 o = 0; o < fn->n_ops; o++) {
        const struct dh_w_op *op = &fn->ops[o];
        dh_w_value from = op->kind == DH_W_LOAD || op->kind == DH_W_UPDATE ? op->a
                          : op->kind == DH_W_MEMCPY                        ? op->b
                                                                           : DH_W_NONE;
        if (origin(fn, from) == base)
            return true;
    }
    return false;
}

/* Whether an op lets go of a value that lies in the object at base, or gives it one more name. What is stored
 * in the object itself goes nowhere, if nobody reads it from there. */
static bool lets_go(const struct dh_w_fn *fn, const struct dh_w_op *op, dh_w_value base)
{
    dh_w_value goes = DH_W_NONE;
    if (op->kind == DH_W_STORE || op->kind == DH_W_UPDATE)
        goes = op->b;
    else if (op->kind == DH_W_THROW || op->kind == DH_W_SET || op->kind == DH_W_EXIT ||
             (op->dst != DH_W_NONE && op->dst != fn->ret && fn->def[op->dst] == DH_W_MANY))
        goes = op->a;
    if (origin(fn, goes) == base)
        return op->kind != DH_W_STORE || origin(fn, op->a) != base || reads_from(fn, base);
    if (op->call == DH_W_NONE)
        return false;
    const struct dh_w_call *c = &fn->calls[op->call];
    for (u32 i = 0; i < c->n; i++)
        if (origin(fn, c->args[i]) == base)
            return true;
    return false;
}

/* Marks the ops that come before `at`, by any way that does not pass `not_by`. */
static void find_before(const struct dh_w_fn *fn, u32 at, u32 not_by, bool *before, bool *blocks)
{
    bool changed = true;
    for (u32 b = 0; b < fn->n_blocks; b++)
        for (u32 o = at; o-- > fn->blocks[b].first && at < fn->blocks[b].end;) {
            if (o == not_by)
                return;
            before[o] = true;
            blocks[b] |= o == fn->blocks[b].first;
        }
    for (u32 b = 0; b < fn->n_blocks; b++)
        blocks[b] |= fn->blocks[b].first == at && at < fn->blocks[b].end; /* its first op */
    while (changed) {
        changed = false;
        for (u32 b = 0; b < fn->n_blocks; b++) {
            bool leads = false;
            for (u32 i = 0; i < fn->blocks[b].succs; i++)
                leads |= blocks[fn->succ[fn->blocks[b].succ + i]];
            bool stopped = false;
            for (u32 o = fn->blocks[b].end; leads && !stopped && o-- > fn->blocks[b].first;) {
                stopped = o == not_by;
                before[o] |= !stopped;
            }
            if (leads && !stopped && !blocks[b])
                blocks[b] = changed = true;
        }
    }
}

/* By an atomic access that orders nothing, or by assembly: then what the address leads to is not published,
 * and nothing says so. If it is stored as it is, that is a race of its own. */
static bool lets_go_loosely(const struct dh_w_fn *fn, const struct dh_w_op *op, dh_w_value base)
{
    if (op->inst == NULL || !lets_go(fn, op, base))
        return false;
    if (LLVMIsACallInst(op->inst) != NULL && LLVMIsAInlineAsm(LLVMGetCalledValue(op->inst)) != NULL)
        return true;
    if (op->access != DH_PAIRS_ATOMIC_WRITE && op->access != DH_PAIRS_ATOMIC_UPDATE)
        return false;
    LLVMAtomicOrdering order = LLVMAtomicOrderingSequentiallyConsistent;
    if (LLVMIsAAtomicCmpXchgInst(op->inst) != NULL)
        order = LLVMGetCmpXchgSuccessOrdering(op->inst);
    else if (LLVMIsAStoreInst(op->inst) != NULL || LLVMIsAAtomicRMWInst(op->inst) != NULL)
        order = LLVMGetOrdering(op->inst);
    return order == LLVMAtomicOrderingUnordered || order == LLVMAtomicOrderingMonotonic ||
           order == LLVMAtomicOrderingAcquire;
}

/* Whether a function has not let go of a value where this op begins, since it has it from `from`, or, if
 * that is DH_W_NONE, from its caller. */
static bool is_kept(const struct dh_w_fn *fn, u32 at, dh_w_value base, u32 from)
{
    bool *before = calloc(fn->n_ops + fn->n_blocks + 1, 1), kept = true;
    if (before == NULL)
        dh_util_no_memory();
    find_before(fn, at, from, before, before + fn->n_ops);
    for (u32 o = 0; o < fn->n_ops && kept; o++)
        kept = fn->ops[o].kind != DH_W_AGAIN; /* behind a setjmp anything may have come before */
    for (u32 o = 0; o < fn->n_ops && kept; o++)
        kept = before[o] ? !lets_go(fn, &fn->ops[o], base) : !lets_go_loosely(fn, &fn->ops[o], base);
    free(before);
    return kept;
}

/* What a function is given, if it is given it once. */
static dh_w_value given(const struct dh_w_fn *caller, const struct dh_w_call *call, dh_w_value parameter)
{
    dh_w_value base = parameter < call->n ? origin(caller, call->args[parameter]) : DH_W_NONE;
    for (u32 i = 0; i < call->n; i++)
        if (i != parameter && origin(caller, call->args[i]) == base)
            return DH_W_NONE;
    return base;
}

/* Allocated in the function, or given by the only one that calls it. */
static bool is_fresh(struct dh_w_races *r, u32 inst, u32 at, dh_w_value pointer)
{
    const struct dh_w *w = r->w;
    dh_w_value base = dh_w_base_of(&w->fns[w->insts[inst].fn], pointer);
    for (u32 steps = 0; steps < MAX_DEPTH && base != DH_W_NONE; steps++) {
        const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn];
        bool made = fn->def[base] < fn->n_ops && fn->ops[fn->def[base]].kind == DH_W_ALLOC;
        if ((!made && (base >= fn->args || r->only[inst].caller == DH_W_NONE)) ||
            !is_kept(fn, at, base, made ? fn->def[base] : DH_W_NONE))
            return false;
        if (made)
            return true;
        at = r->only[inst].op;
        inst = r->only[inst].caller;
        const struct dh_w_fn *caller = &w->fns[w->insts[inst].fn];
        base = given(caller, &caller->calls[caller->ops[at].call], base);
    }
    return false;
}

u8 dh_w_marks(struct dh_w_races *r, u32 inst, u32 op, dh_w_value pointer)
{
    const struct dh_w_fn *fn = &r->w->fns[r->w->insts[inst].fn];
    u8 marks = fn->ops[op].flags & DH_W_SPINS ? DH_W_MARK_SPINS : 0;
    if (is_fresh(r, inst, op, pointer))
        marks |= DH_W_MARK_FRESH;
    return marks;
}
