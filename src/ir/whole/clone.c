/*
 * clone.c - chooses the functions that get an instance for each call.
 *
 * Contexts keep a helper from mixing up the objects of all its callers. Cloning pays off for
 *  - functions that return fresh memory (xmalloc, new_queue): their object is a different one for each call;
 *  - functions that take memory from a pool passed to them, or else return fresh memory: blocks of different
 * pools would be merged otherwise;
 *  - small functions that lock, unlock, start or join: which lock and which thread depends on the caller;
 *  - small functions that call nothing but such functions: accessors, list operations, copy loops.
 * RELAY achieves the same with summaries in terms of parameters; here the points-to sets benefit as well.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/whole/model.h"

enum { SMALL = 30, SMALL_SYNC = 80, SMALL_FRESH = 500, MAX_CHAIN = 16 };

static bool synchronises(const struct dh_w_fn *f)
{
    for (size_t i = 0; i < f->n_ops; i++)
        switch (f->ops[i].kind) {
        case DH_W_FORK:
        case DH_W_JOIN:
        case DH_W_LOCK:
        case DH_W_TRYLOCK:
        case DH_W_UNLOCK:
            return true;
        default:
            break;
        }
    return false;
}

/* What it allocates is mostly what it hands to the thread. */
static bool starts(const struct dh_w_fn *f)
{
    for (size_t i = 0; i < f->n_ops; i++)
        if (f->ops[i].kind == DH_W_FORK)
            return true;
    return false;
}

/* What it allocates and keeps is one object, however often it is called. */
static bool allocates(const struct dh_w_fn *f)
{
    for (size_t i = 0; i < f->n_ops; i++)
        if (f->ops[i].kind == DH_W_ALLOC || f->ops[i].kind == DH_W_ALLOC_AT)
            return true;
    return false;
}

/* Whether every call goes to a function that is cloned already, and no call through a pointer is made. */
static bool calls_only_clones(const struct dh_w *w, const struct dh_w_fn *f)
{
    for (size_t i = 0; i < f->n_calls; i++)
        if (f->calls[i].fn == DH_W_NONE || !w->fns[f->calls[i].fn].clone)
            return false;
    return true;
}

/* A call through a pointer that gives numbers, perhaps beside one pointer that names the allocator, and gets
 * a pointer: an allocator that can be exchanged. */
static bool asks_for_memory(LLVMValueRef call)
{
    unsigned numbers = 0, pointers = 0;
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
        if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, i))) == LLVMIntegerTypeKind)
            numbers++;
        else
            pointers++;
    return numbers > 0 && pointers <= 1;
}

/* Whether a value is computed from an argument, through memory too. */
static bool from_argument(const struct dh_w_fn *f, dh_w_value v)
{
    for (int depth = 0; depth < MAX_CHAIN && v < DH_W_CONSTANT; depth++) {
        if (v < f->args)
            return true;
        if (f->def[v] >= f->n_ops)
            return false;
        const struct dh_w_op *op = &f->ops[f->def[v]];
        if (op->kind != DH_W_COPY && op->kind != DH_W_OFFSET && op->kind != DH_W_ELEMENT &&
            op->kind != DH_W_LOAD)
            return false;
        v = op->a;
    }
    return false;
}

/* Whether all that f returns comes straight from allocations and from functions that return fresh memory:
 * what is read from memory, as the one instance that a function makes once and keeps, is not fresh. With
 * `pools`, it may also be read from what an argument leads to: from the pool that it is asked of. */
static bool returns_fresh(const struct dh_w_fn *f, const bool *fresh, bool pools)
{
    if (f->ret == DH_W_NONE || f->n_ops > SMALL_FRESH)
        return false;
    bool *flows = calloc(f->locals, 1), found = false, other = false, changed = true;
    if (flows == NULL)
        dh_util_no_memory();
    flows[f->ret] = true;
    while (changed && !other) {
        changed = false;
        for (size_t i = f->n_ops; i-- > 0;) {
            const struct dh_w_op *op = &f->ops[i];
            if (op->dst == DH_W_NONE || !flows[op->dst])
                continue;
            bool moves = op->kind == DH_W_COPY || op->kind == DH_W_OFFSET;
            u32 callee = op->kind == DH_W_CALL ? f->calls[op->call].fn : DH_W_NONE;
            if (op->kind == DH_W_ALLOC || (callee != DH_W_NONE && fresh[callee]) ||
                (op->kind == DH_W_CALL && callee == DH_W_NONE && asks_for_memory(op->inst)))
                found = true;
            else if (pools && op->kind == DH_W_LOAD && from_argument(f, op->a))
                continue;
            else if (!moves || op->a >= DH_W_CONSTANT || op->a < f->args)
                other = true;
            else if (!flows[op->a])
                flows[op->a] = changed = true;
        }
    }
    free(flows);
    return found && !other;
}

static void choose_fresh(struct dh_w *w)
{
    bool *fresh = calloc(w->n_fns + 1, 1), changed = true;
    if (fresh == NULL)
        dh_util_no_memory();
    while (changed) {
        changed = false;
        for (size_t i = 0; i < w->n_fns; i++)
            if (!fresh[i] && w->fns[i].defined && returns_fresh(&w->fns[i], fresh, false))
                fresh[i] = w->fns[i].fresh = w->fns[i].clone = changed = true;
    }
    for (changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < w->n_fns; i++)
            if (!fresh[i] && w->fns[i].defined && returns_fresh(&w->fns[i], fresh, true))
                fresh[i] = w->fns[i].clone = changed = true;
    }
    free(fresh);
}

void dh_w_clone_choose(struct dh_w *w)
{
    choose_fresh(w);
    for (size_t i = 0; i < w->n_fns; i++)
        if (w->fns[i].defined && w->fns[i].n_ops <= SMALL_SYNC && synchronises(&w->fns[i]) &&
            (!allocates(&w->fns[i]) || starts(&w->fns[i])))
            w->fns[i].clone = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < w->n_fns; i++) {
            struct dh_w_fn *f = &w->fns[i];
            if (!f->clone && f->defined && f->args > 0 && f->n_ops <= SMALL && !allocates(f) &&
                calls_only_clones(w, f))
                f->clone = changed = true;
        }
    }
}
