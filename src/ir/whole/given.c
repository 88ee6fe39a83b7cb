/*
 * given.c - see given.h.
 */
#include "ir/whole/given.h"

#include "ir/whole/join.h"
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

/* What the creator has stored where a thread reads. */
struct stored {
    LLVMValueRef value; /* NULL: it is not known */
    dh_w_value local;   /* if it is a pointer */
    u32 op;             /* by which */
    struct dh_w_counted
        by; /* the loop, if it is an earlier one than that which creates: by.index is not NULL */
};

/* What an operation reads: by the creator's address, and as far as the points-to sets tell. */
struct read {
    struct dh_w_address at;
    dh_pts_node node;
    u32 length;
    LLVMTypeRef type;
};

/* Whether the operation is done for the element, or block, of a thread before the thread is created. */
static bool is_for_round(const struct dh_w_teams *t, const struct dh_w_team *team, u32 op,
                         const struct dh_w_address *to, const struct dh_w_address *at, struct stored *s)
{
    struct dh_w *w = t->flow->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[team->inst].fn];
    const struct dh_w_counted *until = dh_w_until_joined(team);
    s->by.index = NULL;
    if (dh_w_address_equal(to, at))
        return dh_w_comes_first(fn, &team->created_by, op, team->fork);
    return dh_w_is_same_array(to, at) &&
           dh_w_is_done_before(t->flow, team->inst, op, &team->created_by, until, &s->by) &&
           dh_w_is_element_of(t->flow, fn, to, &s->by, &s->by, until);
}

/* A structure that is filled in and then copied: what was stored last, in the same block, where the copy of
 * it comes from. DH_W_NONE: it is not known. */
static u32 copied(const struct dh_w_teams *t, u32 inst, u32 copy, int64_t off, const struct read *r)
{
    struct dh_w *w = t->flow->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn];
    struct dh_w_address from = dh_w_settled_of(w, &t->flow->locks.expressions, fn, fn->ops[copy].b);
    struct dh_w_write to[DH_W_MAX_WRITES];
    from.off += off;
    for (u32 o = copy; dh_w_is_made_here(fn, &from) && o-- > fn->blocks[dh_w_block_of(fn, copy)].first;) {
        const struct dh_w_op *op = &fn->ops[o];
        struct dh_w_address at = dh_w_settled_of(w, &t->flow->locks.expressions, fn, op->a);
        if (op->inst != NULL && LLVMIsAStoreInst(op->inst) != NULL && dh_w_address_equal(&at, &from))
            return LLVMTypeOf(LLVMGetOperand(op->inst, 0)) == r->type &&
                           !dh_w_written_from(t->flow, inst, 0, NULL, dh_w_node(w, inst, op->a), r->length, o)
                       ? o
                       : DH_W_NONE;
        if (op->kind == DH_W_CALL || op->kind == DH_W_BACK ||
            (dh_w_writes(op, to) > 0 && op->kind != DH_W_STORE))
            break;
    }
    return DH_W_NONE;
}

/* What the creator has stored, before it creates the thread, at a place of that thread that nothing else
 * writes. */
static struct stored find_stored(const struct dh_w_teams *t, const struct dh_w_team *team,
                                 const struct read *r)
{
    struct dh_w *w = t->flow->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[team->inst].fn];
    const struct stored none = {.value = NULL};
    if (!team->counts || !dh_w_address_known(&r->at) || !is_of_round(t, team, &r->at) ||
        (!dh_w_runs_once(t->flow, team->inst) && !dh_w_is_made_here(fn, &r->at)))
        return none;
    for (u32 o = 0; o < fn->n_ops; o++) {
        const struct dh_w_op *op = &fn->ops[o];
        bool stores = op->inst != NULL && LLVMIsAStoreInst(op->inst) != NULL && !LLVMGetVolatile(op->inst) &&
                      LLVMTypeOf(LLVMGetOperand(op->inst, 0)) == r->type && op->access == DH_PAIRS_WRITE;
        bool copies = op->kind == DH_W_MEMCPY && op->length != DH_PTS_ANY && op->a != DH_W_NONE;
        if (!stores && !copies)
            continue;
        struct dh_w_address to = dh_w_settled_of(w, &t->flow->locks.expressions, fn, op->a);
        struct stored s = {.op = o};
        int64_t off = copies ? r->at.off - to.off : 0;
        if (!dh_w_address_known(&to) || off < 0 || off + r->length > op->length)
            continue;
        to.off += off;
        u32 store = o;
        if (!is_for_round(t, team, o, &to, &r->at, &s) || (to.terms > 0 && to.term[0].stride < op->length) ||
            (copies && (store = copied(t, team->inst, o, off, r)) == DH_W_NONE) ||
            dh_w_written_from(t->flow, team->inst, s.by.index != NULL ? s.by.header : team->created_by.header,
                              s.by.index != NULL ? NULL : dh_w_until_joined(team), r->node, r->length, o))
            continue;
        s.value = LLVMGetOperand(fn->ops[store].inst, 0);
        s.local = fn->ops[store].b;
        s.op = store;
        return s;
    }
    return none;
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
    struct dh_w_address from = dh_w_settled_of(w, expressions, &w->fns[w->insts[inst].fn], read->a);
    for (u32 steps = 0; w->roots[w->insts[inst].root].inst != inst; steps++) {
        struct dh_w_caller by = t->callers[inst];
        if (steps == DH_W_MAX_CALLS || by.inst == DH_W_NONE ||
            (from.global == NULL && from.base >= w->fns[w->insts[inst].fn].args))
            return unknown;
        const struct dh_w_fn *fn = &w->fns[w->insts[by.inst].fn];
        from = dh_w_address_in_caller(w, expressions, &from, fn, &fn->calls[fn->ops[by.op].call]);
        inst = by.inst;
    }
    if (from.global == NULL && from.base != 0)
        return unknown;
    return dh_w_address_in_creator(w, expressions, &from, creator, &creator->ops[team->fork], NULL);
}

static struct stored read_by(const struct dh_w_teams *t, const struct dh_w_team *team, u32 inst, u32 op)
{
    struct dh_w *w = t->flow->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn];
    bool is_own = inst == team->inst;
    struct read r = {.at = is_own ? dh_w_settled_of(w, &t->flow->locks.expressions, fn, fn->ops[op].a)
                                  : given_place(t, team, inst, &fn->ops[op]),
                     .node = dh_w_node(w, inst, fn->ops[op].a),
                     .length = fn->ops[op].length,
                     .type = LLVMTypeOf(fn->ops[op].inst)};
    struct stored s = find_stored(t, team, &r);
    if (is_own && s.value != NULL &&
        (s.by.index != NULL || !dh_w_comes_first(fn, &team->created_by, s.op, op)))
        s.value = NULL;
    return s;
}

LLVMValueRef dh_w_given_value(const struct dh_w_teams *t, const struct dh_w_team *team, u32 inst, u32 read)
{
    struct stored s = read_by(t, team, inst, read);
    return s.by.index == NULL ? s.value : NULL;
}

/* A number that was stored, with the index of the loop that creates. */
static bool number_of(const struct dh_w_teams *t, const struct dh_w_team *team, const struct stored *s,
                      u32 *ret)
{
    struct dh_w_pool *expressions = &t->flow->locks.expressions;
    if (s->value == NULL)
        return false;
    *ret = dh_w_expression(expressions, s->value);
    return s->by.index == NULL ||
           dh_w_expression_with(expressions, *ret, s->by.index,
                                dh_w_expression(expressions, team->created_by.index), ret);
}

u32 dh_w_reader_of(const struct dh_w_fn *fn, LLVMValueRef value)
{
    for (u32 o = 0; LLVMIsALoadInst(value) != NULL && o < fn->n_ops; o++)
        if (fn->ops[o].inst == value && fn->ops[o].access == DH_PAIRS_READ)
            return o;
    return DH_W_NONE;
}

/* A thread may read its index from what it was given: work[i].id = i; create(worker, &work[i]). */
struct dh_w_known dh_w_given_number(const struct dh_w_teams *t, const struct dh_w_team *team, u32 inst,
                                    const struct dh_w_address *a)
{
    struct dh_w *w = t->flow->w;
    struct dh_w_pool *expressions = &t->flow->locks.expressions;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn];
    for (u32 i = 0; i < a->terms; i++) {
        struct dh_w_known number = {.value = dh_w_expression_first(expressions, a->term[i].index)};
        u32 op = dh_w_reader_of(fn, number.value);
        struct stored s = {.value = NULL};
        if (op != DH_W_NONE)
            s = read_by(t, team, inst, op);
        if (number_of(t, team, &s, &number.expression))
            return number;
    }
    return (struct dh_w_known){.value = NULL};
}

/* The same for a pointer, to a block that is made in the round, or to what is one place all the while:
 * work[i].text = malloc(n), work[i].table = table. */
struct dh_w_address dh_w_given_pointer(const struct dh_w_teams *t, const struct dh_w_team *team, u32 inst,
                                       const struct dh_w_address *a, const struct dh_w_known *number,
                                       bool *ret_slot)
{
    struct dh_w *w = t->flow->w;
    struct dh_w_pool *expressions = &t->flow->locks.expressions;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn], *creator = &w->fns[w->insts[team->inst].fn];
    const struct dh_w_address unknown = {.base = DH_W_NONE};
    u32 load = a->base < DH_W_CONSTANT ? fn->def[a->base] : DH_W_NONE;
    if (load >= fn->n_ops || fn->ops[load].kind != DH_W_LOAD || LLVMIsALoadInst(fn->ops[load].inst) == NULL)
        return unknown;
    struct stored s = read_by(t, team, inst, load);
    if (s.value == NULL || s.local == DH_W_NONE)
        return unknown;
    const struct dh_w_counted *by = s.by.index != NULL ? &s.by : &team->created_by;
    if (s.local < DH_W_CONSTANT && dh_w_is_fresh(w, creator, s.local) &&
        dh_w_comes_first(creator, by, creator->def[s.local], s.op)) {
        *ret_slot = s.by.index != NULL;
        return (struct dh_w_address){.base = s.local};
    }
    struct dh_w_address from = dh_w_settled_of(w, expressions, creator, s.local);
    if ((from.base != DH_W_NONE && !dh_w_is_kept(creator, from.base, by, dh_w_until_joined(team))) ||
        (s.by.index != NULL && from.terms > 0))
        return unknown;
    return dh_w_address_behind(expressions, &from, a, &creator->ops[team->fork], number);
}

void dh_w_given_again(const struct dh_w_teams *t, const struct dh_w_team *team, struct dh_w_address *a)
{
    struct dh_w *w = t->flow->w;
    struct dh_w_pool *expressions = &t->flow->locks.expressions;
    const struct dh_w_fn *fn = &w->fns[w->insts[team->inst].fn];
    const struct dh_w_counted *first = &team->created_by, *second = &team->joined_by;
    for (u32 i = 0; i < a->terms && team->joined; i++) {
        LLVMValueRef value = dh_w_expression_first(expressions, a->term[i].index);
        u32 op = dh_w_reader_of(fn, value), b = op != DH_W_NONE ? dh_w_block_of(fn, op) : 0, number;
        if (op == DH_W_NONE || !dh_w_loop_has(fn, second->loop, b) || !dh_w_counted_in_body(second, b))
            continue;
        struct read r = {.at = dh_w_settled_of(w, expressions, fn, fn->ops[op].a),
                         .node = dh_w_node(w, team->inst, fn->ops[op].a),
                         .length = fn->ops[op].length,
                         .type = LLVMTypeOf(value)};
        if (!dh_w_is_element_of(t->flow, fn, &r.at, second, first, second) ||
            !dh_w_expression_with(expressions, r.at.term[0].index, second->index,
                                  dh_w_expression(expressions, first->index), &r.at.term[0].index))
            continue;
        struct stored s = find_stored(t, team, &r);
        if (number_of(t, team, &s, &number) &&
            dh_w_expression_with(expressions, number, first->index,
                                 dh_w_expression(expressions, second->index), &number))
            dh_w_expression_with(expressions, a->term[i].index, value, number, &a->term[i].index);
    }
}
