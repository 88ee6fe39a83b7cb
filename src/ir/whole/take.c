/*
 * take.c - reads of a pointer that take what it points to out of a container.
 *
 * `p = q->data[q->head++]`, `p = q->first; q->first = p->next`, `p = *--top`: under a lock, and the
 * same function moves on from the place where the pointer was found. A read that changes nothing does not
 * take anything; neither does one after which only something else is put in (`p = find(q); if (!p) q->first =
 * p = new_one()`).
 */
#include "ir/whole/owner.h"

enum { MAX_DEPTH = 8, MAX_FEEDERS = 8 };

u32 dh_w_held_at(struct dh_w_races *r, u32 inst, u32 op, int style)
{
    struct dh_w_flow *f = r->flow;
    const struct dh_w_change *c = dh_w_flow_change(f, inst, op);
    u32 held = 0;
    bool any = false;
    for (size_t s = 0; s < f->states[inst].n && c->reached; s++) {
        struct dh_w_state at = dh_w_flow_apply(f, &f->states[inst].at[s], c);
        if (r->w->insts[inst].root == 0 && at.alive[style] == 0)
            continue; /* nobody else runs */
        held = any ? dh_w_set_meet(&f->locks, held, at.locks) : at.locks;
        any = true;
    }
    return held;
}

static bool computes(LLVMValueRef v)
{
    switch (LLVMIsAInstruction(v) == NULL ? 0 : (int)LLVMGetInstructionOpcode(v)) {
    case LLVMGetElementPtr:
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMAnd:
    case LLVMOr:
    case LLVMURem:
    case LLVMSRem:
    case LLVMUDiv:
    case LLVMLShr:
    case LLVMSExt:
    case LLVMZExt:
    case LLVMTrunc:
    case LLVMFreeze:
    case LLVMPHI:
    case LLVMSelect:
        return true;
    default:
        return false;
    }
}

struct feeders {
    LLVMValueRef at[MAX_FEEDERS];
    size_t n;
};

/* The loads that an address is computed from. */
static void find_feeders(struct feeders *all, LLVMValueRef v, int depth)
{
    if (LLVMIsALoadInst(v) != NULL) {
        for (size_t i = 0; i < all->n; i++)
            if (all->at[i] == v)
                return;
        if (all->n < MAX_FEEDERS)
            all->at[all->n++] = v;
        return;
    }
    for (int i = 0; depth > 0 && computes(v) && i < LLVMGetNumOperands(v); i++)
        find_feeders(all, LLVMGetOperand(v, (unsigned)i), depth - 1);
}

/* Whether v is computed from one of the loads, or read through one. */
static bool follows(const struct feeders *all, LLVMValueRef v, int depth)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->at[i] == v)
            return true;
    if (depth == 0 || (LLVMIsALoadInst(v) == NULL && !computes(v)))
        return false;
    for (int i = 0; i < LLVMGetNumOperands(v); i++)
        if (follows(all, LLVMGetOperand(v, (unsigned)i), depth - 1))
            return true;
    return false;
}

/* What a store to the place means. */
enum { NOT_KNOWN, MOVES_ON, EMPTIES, PUTS_IN };

static int meaning(const struct dh_w_op *store, const struct feeders *all)
{
    if (store->kind == DH_W_UPDATE)
        return MOVES_ON;
    if (store->kind != DH_W_STORE || LLVMIsAStoreInst(store->inst) == NULL)
        return NOT_KNOWN;
    LLVMValueRef v = LLVMGetOperand(store->inst, 0);
    if (LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMPointerTypeKind)
        return MOVES_ON; /* an index, a count */
    return LLVMIsNull(v) ? EMPTIES : follows(all, v, MAX_DEPTH) ? MOVES_ON : PUTS_IN;
}

static const struct dh_w_op *op_of(const struct dh_w_fn *fn, LLVMValueRef load)
{
    for (size_t i = 0; i < fn->n_ops; i++)
        if (fn->ops[i].inst == load && fn->ops[i].kind == DH_W_LOAD)
            return &fn->ops[i];
    return NULL;
}

/* Whether the function writes where `place` points, under one of these locks, and so leaves it behind. NULL
 * where something else is put in as well is no sign: that is how something is made when it is first asked
 * for.
 */
static bool leaves(struct dh_w_races *r, u32 inst, dh_w_value place, u32 held, const struct feeders *all)
{
    struct dh_w *w = r->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn];
    dh_pts_node at = dh_w_node(w, inst, place);
    bool seen[PUTS_IN + 1] = {false};
    for (u32 o = 0; o < fn->n_ops && at != DH_PTS_NONE; o++) {
        const struct dh_w_op *op = &fn->ops[o];
        dh_pts_node to = dh_w_node(w, inst, op->a);
        if (op->access == DH_W_NO_ACCESS || !dh_pairs_access_writes(op->access) || to == DH_PTS_NONE ||
            !dh_pts_may_alias(w->pts, at, to))
            continue;
        if (dh_w_set_meet(&r->flow->locks, held, dh_w_held_at(r, inst, o, DH_W_RELAY)) != 0)
            seen[meaning(op, all)] = true;
    }
    return seen[MOVES_ON] || (seen[EMPTIES] && !seen[PUTS_IN]);
}

bool dh_w_takes(struct dh_w_races *r, u32 inst, u32 n)
{
    const struct dh_w_fn *fn = &r->w->fns[r->w->insts[inst].fn];
    const struct dh_w_op *op = &fn->ops[n];
    if (op->kind == DH_W_UPDATE)
        return true; /* an atomic exchange: nobody else gets it from there */
    u32 held = dh_w_held_at(r, inst, n, DH_W_RELAY);
    if (held == 0 || LLVMIsALoadInst(op->inst) == NULL)
        return false;
    struct feeders all = {.n = 0};
    find_feeders(&all, LLVMGetOperand(op->inst, 0), MAX_DEPTH);
    size_t n_feeders = all.n;
    if (all.n < MAX_FEEDERS)
        all.at[all.n++] = op->inst;
    if (leaves(r, inst, op->a, held, &all))
        return true;
    for (size_t i = 0; i < n_feeders; i++) {
        const struct dh_w_op *feeder = op_of(fn, all.at[i]);
        if (feeder != NULL && leaves(r, inst, feeder->a, held, &all))
            return true;
    }
    return false;
}
