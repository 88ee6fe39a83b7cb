/*
 * ticket.c - elements indexed by numbers that a counter hands out, each once.
 *
 *     lock(&m); mine = next; next++; unlock(&m); data[mine] = ...
 *
 * A thread that reads the counter in this way has a number that no other thread has, if all writes to the
 * counter, according to the points-to sets, are such steps: each reads, adds 1 and stores, while holding,
 * from the read on, a lock that all of them hold. The counter must be of a type that may not overflow.
 */
#include <string.h>

#include "ir/whole/race.h"

struct counter {
    LLVMValueRef global;
    int64_t off;
};

static bool is_counter(const struct dh_w *w, dh_w_value at, const struct counter *c)
{
    LLVMValueRef global;
    int64_t off;
    return dh_w_constant_place(w, at, &global, &off) && global == c->global && off == c->off;
}

static bool is_read_of(const struct dh_w *w, const struct dh_w_op *op, const struct counter *c)
{
    return op->kind == DH_W_LOAD && op->access == DH_PAIRS_READ && LLVMIsALoadInst(op->inst) != NULL &&
           is_counter(w, op->a, c);
}

/* The first op of those that come right before this one, in its block, and do nothing but read and compute.
 */
static u32 quiet_from(const struct dh_w_fn *fn, u32 op)
{
    u32 first = fn->blocks[dh_w_block_of(fn, op)].first;
    while (op > first) {
        u8 kind = fn->ops[op - 1].kind;
        if (kind != DH_W_COPY && kind != DH_W_OFFSET && kind != DH_W_ELEMENT && kind != DH_W_LOAD)
            break;
        op--;
    }
    return op;
}

/* Whether an op stores the number that was read before it, and 1. */
static bool is_step(const struct dh_w *w, const struct dh_w_fn *fn, u32 op, const struct counter *c)
{
    LLVMValueRef store = fn->ops[op].inst;
    if (fn->ops[op].kind != DH_W_STORE || fn->ops[op].access != DH_PAIRS_WRITE ||
        LLVMIsAStoreInst(store) == NULL || !is_counter(w, fn->ops[op].a, c))
        return false;
    LLVMValueRef sum = LLVMGetOperand(store, 0);
    if (LLVMIsAInstruction(sum) == NULL || LLVMGetInstructionOpcode(sum) != LLVMAdd || !LLVMGetNSW(sum) ||
        LLVMIsAConstantInt(LLVMGetOperand(sum, 1)) == NULL ||
        LLVMConstIntGetSExtValue(LLVMGetOperand(sum, 1)) != 1)
        return false;
    for (u32 o = quiet_from(fn, op); o < op; o++)
        if (fn->ops[o].inst == LLVMGetOperand(sum, 0) && is_read_of(w, &fn->ops[o], c))
            return true;
    return false;
}

/* Whether a lock that is one at run time is held whenever the op runs, and not for reading. */
static bool is_held(const struct dh_w_races *r, u32 inst, u32 op, u64 spot)
{
    struct dh_w_flow *f = r->flow;
    const struct dh_w_change *c = dh_w_flow_change(f, inst, op);
    for (size_t s = 0; s < f->states[inst].n && c->reached; s++) {
        struct dh_w_state at = dh_w_flow_apply(f, &f->states[inst].at[s], c);
        size_t n;
        const u32 *held = dh_w_set(&f->locks, at.locks, &n);
        bool found = false;
        for (size_t i = 0; i < n && !found; i++) {
            u64 of;
            found = dh_w_held_spot(&f->locks, held[i], &of) && of == spot &&
                    !dh_w_held(&f->locks, held[i])->shared;
        }
        if (!found)
            return false;
    }
    return dh_w_single(r->w, (u32)(spot >> 32)) && !dh_pts_folded(r->w->pts, (u32)(spot >> 32), (u32)spot) &&
           dh_w_table_get(&r->renewed, DH_W_KEY(spot)) == DH_W_TABLE_NONE;
}

/* Whether all that may write the counter are steps under the lock. */
static bool all_step(const struct dh_w_races *r, const struct counter *c, dh_pts_node counter, u32 length,
                     u64 spot)
{
    const struct dh_w *w = r->w;
    for (u32 i = 0; i < w->n_insts; i++) {
        const struct dh_w_fn *fn = &w->fns[w->insts[i].fn];
        for (u32 o = 0; o < fn->n_ops; o++) {
            struct dh_w_write to[DH_W_MAX_WRITES];
            for (size_t n = dh_w_writes(&fn->ops[o], to); n-- > 0;) {
                dh_pts_node node = dh_w_node(w, i, to[n].at);
                if (node != DH_PTS_NONE &&
                    dh_pts_may_overlap(w->pts, counter, length, node, to[n].length, NULL) &&
                    (!is_step(w, fn, o, c) || !is_held(r, i, o, spot)))
                    return false;
            }
        }
    }
    return true;
}

/* Whether the value that an op reads is one that it takes: a step follows at once. */
static bool is_taken(const struct dh_w_races *r, u32 inst, u32 read)
{
    struct dh_w *w = r->w;
    struct dh_w_flow *f = r->flow;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn];
    struct counter c;
    if (!dh_w_constant_place(w, fn->ops[read].a, &c.global, &c.off) || !is_read_of(w, &fn->ops[read], &c))
        return false;
    u32 step = read, end = fn->blocks[dh_w_block_of(fn, read)].end;
    while (step < end && !is_step(w, fn, step, &c))
        step++;
    if (step == end || quiet_from(fn, step) > read || f->states[inst].n == 0)
        return false;
    struct dh_w_state at = dh_w_flow_apply(f, &f->states[inst].at[0], dh_w_flow_change(f, inst, step));
    size_t n;
    const u32 *held = dh_w_set(&f->locks, at.locks, &n);
    for (size_t i = 0; i < n; i++) {
        u64 spot;
        if (dh_w_held_spot(&f->locks, held[i], &spot) &&
            all_step(r, &c, dh_w_node(w, inst, fn->ops[read].a), fn->ops[read].length, spot))
            return true;
    }
    return false;
}

u32 dh_w_ticket(struct dh_w_races *r, u32 inst, u32 op, dh_w_value pointer)
{
    struct dh_w *w = r->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn];
    struct dh_w_pool *expressions = &r->flow->locks.expressions;
    struct dh_w_address a = dh_w_address_of(w, expressions, fn, pointer);
    struct dh_w_element e;
    u32 bits;
    if (a.global == NULL || a.terms != 1 || a.term[0].size != a.term[0].stride ||
        fn->ops[op].length == DH_PTS_ANY || fn->ops[op].access == DH_PAIRS_FREE)
        return 0;
    LLVMValueRef leaf = dh_w_expression_leaf(expressions, a.term[0].index, &bits);
    if (leaf == NULL || LLVMIsALoadInst(leaf) == NULL || bits < LLVMGetIntTypeWidth(LLVMTypeOf(leaf)))
        return 0;
    for (u32 o = 0; o < fn->n_ops; o++) {
        if (fn->ops[o].inst != leaf || !is_taken(r, inst, o))
            continue;
        memset(&e, 0, sizeof e);
        e.base = DH_W_NONE;
        e.global = a.global;
        e.content = a.content;
        e.ticket = true;
        e.index = LLVMGetOperand(leaf, 0); /* the counter */
        e.off = a.off;
        e.stride = a.term[0].stride;
        e.length = fn->ops[op].length;
        return dh_w_pool_add(&r->teams->elements, &e, sizeof e);
    }
    return 0;
}
