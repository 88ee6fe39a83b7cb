/*
 * given.c - see given.h.
 */
#include "ir/whole/given.h"

#include "ir/whole/slot.h"

const struct dh_w_counted *dh_w_until_joined(const struct dh_w_team *team)
{
    return team->joined ? &team->joined_by : NULL;
}

/* Whether a place is another one in each round of the loop that creates: in a new block, or in an element. */
static bool is_of_round(const struct dh_w_teams *t, const struct dh_w_team *team,
                        const struct dh_w_address *at)
{
    const struct dh_w *w = t->flow->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[team->inst].fn];
    if (at->terms == 0 && at->base != DH_W_NONE)
        return dh_w_is_fresh(w, fn, at->base) &&
               dh_w_comes_first(fn, &team->created_by, fn->def[at->base], team->fork);
    return dh_w_is_element_of(t->flow, fn, at, &team->created_by, &team->created_by, dh_w_until_joined(team));
}

/* The operation by which the creator has stored a value of that type, in the round of the creation and before
 * it, to a place of that round that nothing else writes. DH_W_NONE: there is none. */
static u32 stored(const struct dh_w_teams *t, const struct dh_w_team *team, const struct dh_w_address *at,
                  LLVMTypeRef type)
{
    struct dh_w *w = t->flow->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[team->inst].fn];
    if (!team->counts || !dh_w_address_known(at) || !is_of_round(t, team, at) ||
        (!dh_w_runs_once(t->flow, team->inst) && !dh_w_is_made_here(fn, at)))
        return DH_W_NONE;
    for (u32 o = 0; o < fn->n_ops; o++) {
        const struct dh_w_op *op = &fn->ops[o];
        if (op->inst == NULL || LLVMIsAStoreInst(op->inst) == NULL || LLVMGetVolatile(op->inst) ||
            LLVMTypeOf(LLVMGetOperand(op->inst, 0)) != type || op->access != DH_PAIRS_WRITE)
            continue;
        struct dh_w_address to = dh_w_address_of(w, &t->flow->locks.expressions, fn, op->a);
        if (dh_w_address_known(&to) && dh_w_address_equal(&to, at) &&
            (at->terms == 0 || at->term[0].stride >= op->length) &&
            dh_w_comes_first(fn, &team->created_by, o, team->fork) &&
            !dh_w_written_from(t->flow, team->inst, team->created_by.header, dh_w_until_joined(team),
                               dh_w_node(w, team->inst, op->a), op->length, o))
            return o;
    }
    return DH_W_NONE;
}

/* Where a thread reads something from what it was given, as the creator sees it. The function that reads may
 * be one that was given it in turn. */
static struct dh_w_address given_place(const struct dh_w_teams *t, const struct dh_w_team *team, u32 inst,
                                       const struct dh_w_op *read)
{
    struct dh_w *w = t->flow->w;
    struct dh_w_pool *expressions = &t->flow->locks.expressions;
    const struct dh_w_fn *creator = &w->fns[w->insts[team->inst].fn];
    const struct dh_w_address unknown = {.base = DH_W_NONE};
    struct dh_w_address from = dh_w_address_of(w, expressions, &w->fns[w->insts[inst].fn], read->a);
    for (u32 steps = 0; w->roots[w->insts[inst].root].inst != inst; steps++) {
        struct dh_w_caller by = t->callers[inst];
        if (steps == DH_W_MAX_CALLS || by.inst == DH_W_NONE || from.base >= w->fns[w->insts[inst].fn].args)
            return unknown;
        const struct dh_w_fn *fn = &w->fns[w->insts[by.inst].fn];
        from = dh_w_address_in_caller(w, expressions, &from, fn, &fn->calls[fn->ops[by.op].call]);
        inst = by.inst;
    }
    if (from.base != 0 || from.terms != 0)
        return unknown;
    return dh_w_address_in_creator(w, expressions, &from, creator, &creator->ops[team->fork], NULL);
}

LLVMValueRef dh_w_given_value(const struct dh_w_teams *t, const struct dh_w_team *team, u32 inst, u32 read)
{
    const struct dh_w *w = t->flow->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn], *creator = &w->fns[w->insts[team->inst].fn];
    bool is_own = inst == team->inst;
    struct dh_w_address from = is_own ? dh_w_address_of(w, &t->flow->locks.expressions, fn, fn->ops[read].a)
                                      : given_place(t, team, inst, &fn->ops[read]);
    u32 store = stored(t, team, &from, LLVMTypeOf(fn->ops[read].inst));
    if (is_own && store != DH_W_NONE && !dh_w_comes_first(fn, &team->created_by, store, read))
        return NULL;
    return store != DH_W_NONE ? LLVMGetOperand(creator->ops[store].inst, 0) : NULL;
}

/* A thread may read its index from what it was given: work[i].id = i; create(worker, &work[i]). */
struct dh_w_known dh_w_given_number(const struct dh_w_teams *t, const struct dh_w_team *team, u32 inst,
                                    const struct dh_w_address *a)
{
    struct dh_w *w = t->flow->w;
    struct dh_w_pool *expressions = &t->flow->locks.expressions;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn];
    for (u32 i = 0; i < a->terms; i++) {
        LLVMValueRef read = dh_w_expression_first(expressions, a->term[i].index);
        for (u32 o = 0; LLVMIsALoadInst(read) != NULL && o < fn->n_ops; o++) {
            if (fn->ops[o].inst != read || fn->ops[o].access != DH_PAIRS_READ)
                continue;
            LLVMValueRef given = dh_w_given_value(t, team, inst, o);
            if (given != NULL)
                return (struct dh_w_known){read, dh_w_expression(expressions, given)};
        }
    }
    return (struct dh_w_known){.value = NULL};
}

/* The same for a pointer, to a block that is made in the round, or to what is one place all the while:
 * work[i].text = malloc(n), work[i].table = table. */
struct dh_w_address dh_w_given_pointer(const struct dh_w_teams *t, const struct dh_w_team *team, u32 inst,
                                       const struct dh_w_address *a, const struct dh_w_known *number)
{
    struct dh_w *w = t->flow->w;
    struct dh_w_pool *expressions = &t->flow->locks.expressions;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn], *creator = &w->fns[w->insts[team->inst].fn];
    const struct dh_w_address unknown = {.base = DH_W_NONE};
    u32 load = a->base < DH_W_CONSTANT ? fn->def[a->base] : DH_W_NONE;
    if (load >= fn->n_ops || fn->ops[load].kind != DH_W_LOAD || LLVMIsALoadInst(fn->ops[load].inst) == NULL)
        return unknown;
    struct dh_w_address from = given_place(t, team, inst, &fn->ops[load]);
    u32 store = stored(t, team, &from, LLVMTypeOf(fn->ops[load].inst));
    dh_w_value b = store != DH_W_NONE ? creator->ops[store].b : DH_W_NONE;
    if (b < DH_W_CONSTANT && dh_w_is_fresh(w, creator, b) &&
        dh_w_comes_first(creator, &team->created_by, creator->def[b], store))
        return (struct dh_w_address){.base = b};
    from = dh_w_address_of(w, expressions, creator, b);
    if (from.base != DH_W_NONE &&
        !dh_w_is_kept(creator, from.base, &team->created_by, dh_w_until_joined(team)))
        return unknown;
    return dh_w_address_behind(expressions, &from, a, &creator->ops[team->fork], number);
}
