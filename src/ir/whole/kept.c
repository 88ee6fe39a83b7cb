/*
 * kept.c - accesses to an object after it was handed over.
 *
 * A HAND-OVER is a store of a pointer into shared memory, or a call of a function that does so with its
 * argument. From there on, locals that hold the pointer are followed through the function and its callees:
 * accesses through them are kept ones once a lock has been released that was held at the hand-over (before
 * that, no other thread can have taken the object). Copies of the pointer in memory are not followed.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/whole/owner.h"

enum { WITHIN = 1, AFTER = 2 }; /* the critical section */

struct hand_over {
    u32 inst, op;
    dh_w_value value; /* a local */
};

struct follow {
    struct dh_w_owner *o;
    u32 inst;
    const struct dh_w_fn *fn;
    u32 held; /* locks at the hand-over */
    u8 *in;   /* by block and local: WITHIN, AFTER: it holds the pointer */
    u8 *now;  /* by local */
    bool *queued;
    struct hand_over *found; /* more to follow, in callers */
    size_t n_found, cap_found;
    struct dh_w_table seen;
};

static void add_hand_over(struct follow *f, u32 inst, u32 op, dh_w_value v)
{
    const struct dh_w_fn *fn = &f->o->r->w->fns[f->o->r->w->insts[inst].fn];
    if (v >= DH_W_CONSTANT)
        return;
    dh_w_value base = dh_w_base_of(fn, v);
    v = base == DH_W_NONE ? v : base;
    struct dh_w_key key = DH_W_KEY(inst, op, v);
    if (dh_w_table_get(&f->seen, key) != DH_W_TABLE_NONE)
        return;
    dh_w_table_put(&f->seen, key, 0);
    f->found = dh_util_grow(f->found, f->n_found, &f->cap_found, sizeof *f->found);
    f->found[f->n_found++] = (struct hand_over){inst, op, v};
}

static bool may_be_held(struct follow *f, u32 released)
{
    size_t n;
    const u32 *at = dh_w_set(&f->o->r->flow->locks, f->held, &n);
    for (size_t i = 0; i < n; i++)
        if (dh_w_held_may_be(&f->o->r->flow->locks, at[i], released))
            return true;
    return false;
}

static bool call_releases(struct follow *f, u32 op)
{
    struct dh_w_flow *flow = f->o->r->flow;
    const struct dh_w_inst *inst = &flow->w->insts[f->inst];
    for (size_t e = 0; e < inst->n_edges; e++) {
        u32 callee = inst->edges[e].inst;
        if (inst->edges[e].op != op || !flow->matters[callee])
            continue;
        const struct dh_w_change *c = dh_w_change_get(flow, flow->summary[callee]);
        size_t n;
        u32 copy[64];
        const u32 *at = dh_w_set(&flow->locks, c->minus, &n);
        memcpy(copy, at, n * sizeof *at);
        if (c->releases_all)
            return true;
        for (size_t i = 0; i < n; i++)
            if (may_be_held(f, dh_w_held_to_caller(&flow->locks, copy[i], f->inst,
                                                   &f->fn->calls[f->fn->ops[op].call], callee)))
                return true;
    }
    return false;
}

static bool releases(struct follow *f, u32 n)
{
    const struct dh_w_op *op = &f->fn->ops[n];
    if (op->kind == DH_W_UNLOCK || op->kind == DH_W_WAIT)
        return may_be_held(f, dh_w_held_by(&f->o->r->flow->locks, f->inst, op));
    return op->kind == DH_W_CALL && call_releases(f, n);
}

static u8 held_by(const struct follow *f, dh_w_value v)
{
    if (v >= DH_W_CONSTANT)
        return 0;
    dh_w_value base = dh_w_base_of(f->fn, v);
    return f->now[v] | (base == DH_W_NONE ? 0 : f->now[base]);
}

/* A callee's argument: whatever it does through it is kept. */
static void keep_in_callees(struct follow *f, u32 op)
{
    const struct dh_w_inst *inst = &f->o->r->w->insts[f->inst];
    const struct dh_w_call *c = &f->fn->calls[f->fn->ops[op].call];
    for (u32 i = 0; i < c->n; i++) {
        if (!(held_by(f, c->args[i]) & AFTER))
            continue;
        for (size_t e = 0; e < inst->n_edges; e++) {
            u32 callee = inst->edges[e].inst;
            if (inst->edges[e].op == op && i < f->o->r->w->fns[f->o->r->w->insts[callee].fn].args)
                f->o->borrows[callee][i] = true;
        }
    }
}

/* Whether a callee returns the argument: then the result is one more name of it. */
static u8 returned(const struct follow *f, u32 op)
{
    const struct dh_w *w = f->o->r->w;
    const struct dh_w_inst *inst = &w->insts[f->inst];
    const struct dh_w_call *c = &f->fn->calls[f->fn->ops[op].call];
    u8 held = 0;
    for (size_t e = 0; e < inst->n_edges; e++) {
        if (inst->edges[e].op != op)
            continue;
        const struct dh_w_fn *to = &w->fns[w->insts[inst->edges[e].inst].fn];
        for (size_t i = 0; i < to->n_ops && to->ret != DH_W_NONE; i++)
            if (to->ops[i].dst == to->ret && to->ops[i].kind == DH_W_COPY) {
                dh_w_value from = to->ops[i].a < DH_W_CONSTANT ? dh_w_base_of(to, to->ops[i].a) : DH_W_NONE;
                u32 def = from == DH_W_NONE ? DH_W_NONE : to->def[from];
                /* Through one phi: an error is returned as NULL. */
                for (u32 k = 0; k < c->n && k < to->args; k++)
                    if (from == k)
                        held |= held_by(f, c->args[k]);
                for (size_t p = 0; def == DH_W_MANY && p < to->n_ops; p++)
                    if (to->ops[p].dst == from && to->ops[p].kind == DH_W_COPY && to->ops[p].a < c->n &&
                        to->ops[p].a < to->args)
                        held |= held_by(f, c->args[to->ops[p].a]);
            }
    }
    return held;
}

static void note_access(struct follow *f, u32 n)
{
    const struct dh_w_op *op = &f->fn->ops[n];
    bool a = op->access != DH_W_NO_ACCESS && (held_by(f, op->a) & AFTER);
    bool b = op->access_b != DH_W_NO_ACCESS && (held_by(f, op->b) & AFTER);
    if (a || b)
        dh_w_table_put(&f->o->kept, DH_W_KEY(f->inst, n), 1);
}

static void step(struct follow *f, u32 n)
{
    const struct dh_w_op *op = &f->fn->ops[n];
    u8 result = 0;
    note_access(f, n);
    if (op->kind == DH_W_CALL) {
        keep_in_callees(f, n);
        result = returned(f, n);
    }
    if (releases(f, n)) {
        for (u32 v = 0; v < f->fn->locals; v++)
            f->now[v] |= f->now[v] & WITHIN ? AFTER : 0;
        result |= result & WITHIN ? AFTER : 0;
    }
    if (op->dst == DH_W_NONE || (op->kind == DH_W_COPY && op->stride != 0))
        return; /* phis were done on the way in */
    if (op->kind == DH_W_COPY && op->a < DH_W_CONSTANT)
        result = f->now[op->a];
    f->now[op->dst] = result;
}

/* What locals hold when block `to` begins, from block `from`. true: more than known. */
static bool enter(struct follow *f, u32 from, u32 to)
{
    u8 *in = f->in + (size_t)to * f->fn->locals;
    const struct dh_w_block *b = &f->fn->blocks[to];
    u8 *next = calloc(f->fn->locals + 1, 1);
    bool changed = false;
    if (next == NULL)
        dh_util_no_memory();
    memcpy(next, f->now, f->fn->locals);
    for (u32 o = b->first; o < b->end; o++)
        if (f->fn->ops[o].kind == DH_W_COPY && f->fn->ops[o].stride != 0)
            next[f->fn->ops[o].dst] = 0;
    for (u32 o = b->first; o < b->end; o++) {
        const struct dh_w_op *op = &f->fn->ops[o];
        if (op->kind == DH_W_COPY && op->stride == from + 1)
            next[op->dst] |= op->a < DH_W_CONSTANT ? f->now[op->a] : 0;
    }
    for (u32 v = 0; v < f->fn->locals; v++) {
        changed |= (next[v] & ~in[v]) != 0;
        in[v] |= next[v];
    }
    free(next);
    return changed;
}

static void run_from(struct follow *f, u32 b, u32 first)
{
    const struct dh_w_block *block = &f->fn->blocks[b];
    for (u32 o = first; o < block->end; o++)
        step(f, o);
    for (u32 i = 0; i < block->succs; i++) {
        u32 to = f->fn->succ[block->succ + i];
        if (enter(f, b, to))
            f->queued[to] = true;
    }
}

static void follow(struct follow *f, struct hand_over h)
{
    struct dh_w *w = f->o->r->w;
    f->inst = h.inst;
    f->fn = &w->fns[w->insts[h.inst].fn];
    f->held = dh_w_held_at(f->o->r, h.inst, h.op, DH_W_RELAY);
    f->in = calloc(f->fn->n_blocks * (size_t)f->fn->locals + 1, 1);
    f->now = calloc(f->fn->locals + 1, 1);
    f->queued = calloc(f->fn->n_blocks + 1, 1);
    if (f->in == NULL || f->now == NULL || f->queued == NULL)
        dh_util_no_memory();
    u32 at = 0;
    while (h.op >= f->fn->blocks[at].end || h.op < f->fn->blocks[at].first)
        at++;
    f->now[h.value] = f->held == 0 ? AFTER : WITHIN;
    if (f->fn->ops[h.op].kind == DH_W_CALL && f->fn->ops[h.op].dst != DH_W_NONE)
        f->now[f->fn->ops[h.op].dst] = returned(f, h.op);
    run_from(f, at, h.op + 1);
    for (bool again = true; again;) {
        again = false;
        for (u32 b = 0; b < f->fn->n_blocks; b++) {
            if (!f->queued[b])
                continue;
            f->queued[b] = false;
            again = true;
            memcpy(f->now, f->in + (size_t)b * f->fn->locals, f->fn->locals);
            run_from(f, b, f->fn->blocks[b].first);
        }
    }
    /* An argument that was handed over: the caller has it too. */
    for (u32 i = f->o->first_caller[h.inst]; h.value < f->fn->args && i < f->o->first_caller[h.inst + 1];
         i++) {
        const struct dh_w_fn *fn = &w->fns[w->insts[f->o->callers[i].inst].fn];
        const struct dh_w_call *c = &fn->calls[fn->ops[f->o->callers[i].op].call];
        if (h.value < c->n && c->args[h.value] != DH_W_NONE)
            add_hand_over(f, f->o->callers[i].inst, f->o->callers[i].op, c->args[h.value]);
    }
    free(f->in);
    free(f->now);
    free(f->queued);
}

/* Stores of pointers to what may be handed over, into memory that others reach. */
static void find_stores(struct follow *f, u32 i)
{
    struct dh_w *w = f->o->r->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[i].fn];
    for (u32 n = 0; n < fn->n_ops; n++) {
        const struct dh_w_op *op = &fn->ops[n];
        if ((op->kind != DH_W_STORE && op->kind != DH_W_UPDATE) || op->b >= DH_W_CONSTANT ||
            op->access == DH_W_NO_ACCESS || !dh_w_owner_holds(f->o, dh_w_node(w, i, op->b)))
            continue;
        dh_pts_location l;
        bool shared = false;
        for (struct dh_pts_iter it = dh_pts_iter(w->pts, dh_w_node(w, i, op->a));
             dh_pts_next(&it, &l) && !shared;)
            shared = dh_w_owner_shared(w, dh_pts_place(w->pts, l).object);
        if (shared)
            add_hand_over(f, i, n, op->b);
    }
}

void dh_w_kept_find(struct dh_w_owner *o)
{
    struct follow f = {.o = o};
    for (u32 i = 0; i < o->r->w->n_insts; i++)
        if (o->r->flow->states[i].n > 0)
            find_stores(&f, i);
    for (size_t i = 0; i < f.n_found; i++)
        follow(&f, f.found[i]);
    free(f.found);
    dh_w_table_done(&f.seen);
}
