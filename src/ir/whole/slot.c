/*
 * slot.c - see slot.h.
 *
 * One store puts the block there, in each iteration that reaches the operation, and nothing else writes to
 * the array from the beginning of the loop on. Indices differ in each iteration, so no slot is stored to
 * twice.
 */
#include "ir/whole/slot.h"

#include "ir/whole/join.h"

static bool is_fixed(const struct dh_w_fn *fn, dh_w_value v)
{
    return v < DH_W_CONSTANT && fn->def[v] < fn->n_ops && fn->ops[fn->def[v]].kind == DH_W_LOAD &&
           (fn->ops[fn->def[v]].flags & DH_W_FIXED) != 0;
}

struct dh_w_address dh_w_settle(const struct dh_w *w, struct dh_w_pool *expressions, const struct dh_w_fn *fn,
                                const struct dh_w_address *a)
{
    struct dh_w_address to = *a;
    bool is_one = a->source != 0 && dh_w_is_one_value(fn, a->base);
    for (dh_w_value v = 0; is_one && v < a->base; v++)
        if (is_fixed(fn, v) && dh_w_address_of(w, expressions, fn, v).source == a->source) {
            to.base = v;
            break;
        }
    return to;
}

struct dh_w_address dh_w_settled_of(const struct dh_w *w, struct dh_w_pool *expressions,
                                    const struct dh_w_fn *fn, dh_w_value v)
{
    struct dh_w_address a = dh_w_address_of(w, expressions, fn, v);
    return dh_w_settle(w, expressions, fn, &a);
}

dh_w_value dh_w_settled_in(const struct dh_w *w, struct dh_w_pool *expressions, const struct dh_w_fn *fn,
                           const struct dh_w_address *a)
{
    struct dh_w_address from = *a;
    while (dh_w_address_source(expressions, &from, &from))
        if (from.terms > 0)
            return DH_W_NONE;
    if (a->source == 0 || from.base != DH_W_NONE || from.global == NULL)
        return DH_W_NONE;
    for (dh_w_value v = 0; v < fn->locals; v++)
        if (is_fixed(fn, v) && dh_w_address_of(w, expressions, fn, v).source == a->source)
            return v;
    return DH_W_NONE;
}

bool dh_w_is_one_value(const struct dh_w_fn *fn, dh_w_value v)
{
    for (; v < DH_W_CONSTANT; v = fn->ops[fn->def[v]].a) {
        u32 def = fn->def[v];
        if (v < fn->args || (def < fn->n_ops && !dh_w_repeats(fn, dh_w_block_of(fn, def))))
            return true;
        /* Read again each time, from what is one place: the address is a local at a constant distance. */
        if (!is_fixed(fn, v) && (def >= fn->n_ops || fn->ops[def].kind != DH_W_OFFSET))
            return false;
    }
    return v != DH_W_NONE;
}

bool dh_w_is_kept(const struct dh_w_fn *fn, dh_w_value v, const struct dh_w_counted *from,
                  const struct dh_w_counted *until)
{
    u32 def = fn->def[v];
    return dh_w_is_one_value(fn, v) ||
           (def < fn->n_ops && !dh_w_reaches(fn, from->header, dh_w_block_of(fn, def), DH_W_NONE, until));
}

bool dh_w_is_fresh(const struct dh_w *w, const struct dh_w_fn *fn, dh_w_value v)
{
    const struct dh_w_op *op = fn->def[v] < fn->n_ops ? &fn->ops[fn->def[v]] : NULL;
    if (op == NULL || op->kind == DH_W_ALLOC)
        return op != NULL;
    u32 callee = op->kind == DH_W_CALL ? fn->calls[op->call].fn : DH_W_NONE;
    return callee != DH_W_NONE && w->fns[callee].fresh;
}

bool dh_w_comes_first(const struct dh_w_fn *fn, const struct dh_w_counted *c, u32 op, u32 before)
{
    u32 b = dh_w_block_of(fn, op), to = dh_w_block_of(fn, before);
    if (!dh_w_loop_has(fn, c->loop, b) || !dh_w_loop_has(fn, c->loop, to))
        return false;
    return b == to ? op < before : b == c->header || !dh_w_reaches(fn, c->header, to, b, NULL);
}

bool dh_w_is_element_of(struct dh_w_flow *f, const struct dh_w_fn *fn, const struct dh_w_address *at,
                        const struct dh_w_counted *c, const struct dh_w_counted *from,
                        const struct dh_w_counted *until)
{
    u32 bits;
    return dh_w_address_known(at) && at->terms == 1 &&
           (at->base == DH_W_NONE || dh_w_is_kept(fn, at->base, from, until)) &&
           dh_w_expression_leaf(&f->locks.expressions, at->term[0].index, &bits) == c->index &&
           dh_w_counted_distinct(c, bits);
}

bool dh_w_is_done_before(struct dh_w_flow *f, u32 inst, u32 op, const struct dh_w_counted *later,
                         const struct dh_w_counted *until, struct dh_w_counted *ret)
{
    const struct dh_w_fn *fn = &f->w->fns[f->w->insts[inst].fn];
    u32 b = dh_w_block_of(fn, op), loop = fn->blocks[b].loop;
    return loop != DH_W_NONE && loop != later->loop && dh_w_counted_find(f, inst, loop, ret) &&
           dh_w_counted_in_body(ret, b) && dh_w_counted_alike(ret, later) && dh_w_each_round(fn, ret, b) &&
           !dh_w_reaches(fn, 0, later->header, DH_W_NONE, ret) && !dh_w_begins_again(fn, ret, until);
}

bool dh_w_is_same_array(const struct dh_w_address *a, const struct dh_w_address *b)
{
    return a->base == b->base && a->global == b->global && a->content == b->content && a->off == b->off &&
           a->terms == 1 && b->terms == 1 && a->term[0].stride == b->term[0].stride;
}

dh_w_value dh_w_slot_block(struct dh_w_flow *f, u32 inst, const struct dh_w_counted *made, u32 behind,
                           const struct dh_w_counted *until, const struct dh_w_address *slot)
{
    struct dh_w *w = f->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn];
    for (u32 o = 0; o < fn->n_ops; o++) {
        const struct dh_w_op *op = &fn->ops[o];
        if (op->kind != DH_W_STORE || LLVMIsAStoreInst(op->inst) == NULL || op->b >= DH_W_CONSTANT)
            continue;
        struct dh_w_address to = dh_w_settled_of(w, &f->locks.expressions, fn, op->a);
        struct dh_w_address block = dh_w_settled_of(w, &f->locks.expressions, fn, op->b);
        if (!dh_w_is_element_of(f, fn, &to, made, made, until) || !dh_w_is_same_array(&to, slot) ||
            to.term[0].stride < op->length || !dh_w_comes_first(fn, made, o, behind))
            continue;
        bool is_new = block.base != DH_W_NONE && block.terms == 0 && block.off == 0 &&
                      dh_w_is_fresh(w, fn, block.base) && dh_w_comes_first(fn, made, fn->def[block.base], o);
        if (is_new &&
            !dh_w_written_from(f, inst, made->header, until, dh_w_node(w, inst, op->a), op->length, o))
            return block.base;
    }
    return DH_W_NONE;
}

/* Where a local is read from, in a round of a loop and by its index. */
static bool is_read_by(struct dh_w_flow *f, u32 inst, const struct dh_w_counted *by,
                       const struct dh_w_counted *from, const struct dh_w_counted *until, dh_w_value v,
                       u32 *ret_load, struct dh_w_address *ret_slot)
{
    const struct dh_w_fn *fn = &f->w->fns[f->w->insts[inst].fn];
    u32 load = v < DH_W_CONSTANT ? fn->def[v] : DH_W_NONE;
    if (load >= fn->n_ops || fn->ops[load].kind != DH_W_LOAD || LLVMIsALoadInst(fn->ops[load].inst) == NULL)
        return false;
    u32 b = dh_w_block_of(fn, load);
    *ret_load = load;
    *ret_slot = dh_w_settled_of(f->w, &f->locks.expressions, fn, fn->ops[load].a);
    return dh_w_loop_has(fn, by->loop, b) && dh_w_counted_in_body(by, b) &&
           dh_w_is_element_of(f, fn, ret_slot, by, from, until);
}

dh_w_value dh_w_slot_filled_before(struct dh_w_flow *f, u32 inst, const struct dh_w_counted *created,
                                   const struct dh_w_counted *until, const struct dh_w_counted *by,
                                   dh_w_value v)
{
    struct dh_w *w = f->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn];
    struct dh_w_address slot;
    struct dh_w_counted made;
    u32 load;
    if (!is_read_by(f, inst, by, created, until, v, &load, &slot))
        return DH_W_NONE;
    for (u32 o = 0; o < fn->n_ops; o++) {
        const struct dh_w_op *op = &fn->ops[o];
        if (op->kind != DH_W_STORE || LLVMIsAStoreInst(op->inst) == NULL || op->b >= DH_W_CONSTANT)
            continue;
        struct dh_w_address to = dh_w_settled_of(w, &f->locks.expressions, fn, op->a);
        if (dh_w_is_same_array(&to, &slot) && to.term[0].stride >= op->length &&
            dh_w_is_done_before(f, inst, o, created, until, &made) &&
            dh_w_is_element_of(f, fn, &to, &made, &made, until) && dh_w_is_fresh(w, fn, op->b) &&
            dh_w_comes_first(fn, &made, fn->def[op->b], o) &&
            !dh_w_written_from(f, inst, made.header, NULL, dh_w_node(w, inst, op->a), op->length, o))
            return op->b;
    }
    return DH_W_NONE;
}

dh_w_value dh_w_slot_read(struct dh_w_flow *f, u32 inst, const struct dh_w_counted *made, u32 behind,
                          const struct dh_w_counted *until, const struct dh_w_counted *by, dh_w_value v)
{
    struct dh_w_address slot;
    u32 load;
    if (!is_read_by(f, inst, by, made, until, v, &load, &slot))
        return DH_W_NONE;
    return dh_w_slot_block(f, inst, made, by == made ? load : behind, until, &slot);
}
