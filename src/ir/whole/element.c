/*
 * element.c - see team.h: the element that an access is to.
 *
 * An address is followed from where it is accessed to where the thread was created: through calls, what the
 * thread was given (given.c), the blocks that it was given (slot.c), and what it returns (result.c). There it
 * is an element of an array indexed by a loop that creates or joins, or by an index in the thread's share
 * (share.c), or it is in a block.
 */
#include <string.h>

#include "ir/whole/given.h"
#include "ir/whole/join.h"
#include "ir/whole/nest.h"
#include "ir/whole/part.h"
#include "ir/whole/result.h"
#include "ir/whole/share.h"
#include "ir/whole/slot.h"

enum { MAX_STEPS = DH_W_MAX_CALLS };

static bool creates_a_team(const struct dh_w_teams *t, u32 inst)
{
    for (u32 r = 1; r < t->flow->w->n_roots; r++)
        if (t->of[r].known && t->of[r].inst == inst)
            return true;
    return false;
}

/* ---- blocks ---- */

/* A block of the round that is read from an array (slot.h): the address is in that block. */
static void read_slot(const struct dh_w_teams *t, struct dh_w_element *e, struct dh_w_address *a)
{
    const struct dh_w *w = t->flow->w;
    dh_w_value block = DH_W_NONE;
    for (u32 r = 1; r < w->n_roots && a->base != DH_W_NONE && block == DH_W_NONE; r++) {
        const struct dh_w_team *team = &t->of[r];
        if (!team->counts || team->inst != e->inst || (e->root != 0 && e->root != r))
            continue;
        block = dh_w_slot_read(t->flow, e->inst, &team->created_by, team->fork, dh_w_until_joined(team),
                               &team->created_by, a->base);
        if (block == DH_W_NONE && e->root == 0 && team->joined) {
            block = dh_w_slot_read(t->flow, e->inst, &team->created_by, team->fork, &team->joined_by,
                                   &team->joined_by, a->base);
            e->index = block != DH_W_NONE ? team->joined_by.index : NULL;
        }
        for (u32 i = 0; i < 2 && block == DH_W_NONE && (i == 0 || team->joined); i++) {
            const struct dh_w_counted *by = i == 0 ? &team->created_by : &team->joined_by;
            block = dh_w_slot_filled_before(t->flow, e->inst, &team->created_by, dh_w_until_joined(team), by,
                                            a->base);
            e->slot = block != DH_W_NONE ? DH_W_FILLED : 0;
            e->index = e->slot ? by->index : e->index;
        }
    }
    if (block != DH_W_NONE)
        *a = (struct dh_w_address){.base = block};
}

/* What the creator reads from what it gave to a thread, or from its result. */
static void read_given(const struct dh_w_teams *t, const struct dh_w_team *team, struct dh_w_element *e,
                       struct dh_w_address *a)
{
    bool block = false;
    dh_w_given_again(t, team, a);
    struct dh_w_address result = dh_w_result_read(t, team, a, &block);
    if (!dh_w_address_known(&result))
        return;
    *a = result;
    if (block) {
        e->slot = DH_W_RETURNED;
        e->index = team->joined_by.index;
    }
}

/* ---- elements ---- */

/* All of the array that the last index is of: in a[i][k], or a[i].text[k], k is taken to stay in it
 * (in-bounds), unless it is known not to: then the array is of no known size (dh_w_part_unbind). */
static bool forget_index(struct dh_w_address *a, u32 *length)
{
    const struct dh_w_term *last = a->terms > 0 ? &a->term[a->terms - 1] : NULL;
    if (last == NULL || *length > last->bytes)
        return false;
    a->off = last->begin;
    *length = last->bytes;
    a->terms--;
    return true;
}

/* From the instance that accesses to the one that creates, or to another one on the way. false: it is not
 * known where the address comes from. */
static bool climb(const struct dh_w_teams *t, struct dh_w_element *e, struct dh_w_address *a, u32 to)
{
    struct dh_w *w = t->flow->w;
    struct dh_w_pool *expressions = &t->flow->locks.expressions;
    struct dh_w_known number = {.value = NULL};
    for (u32 steps = 0; steps < MAX_STEPS && dh_w_address_known(a); steps++) {
        u32 root = w->insts[e->inst].root;
        if (e->inst == to || (root == 0 && creates_a_team(t, e->inst)))
            return true;
        const struct dh_w_team *team = &t->of[root];
        if (root != 0 && team->known && number.value == NULL)
            number = dh_w_given_number(t, team, e->inst, a);
        if (w->roots[root].inst == e->inst) {
            if (root == 0 || !team->known)
                return false;
            const struct dh_w_fn *fn = &w->fns[w->insts[team->inst].fn];
            if (a->base != DH_W_NONE && dh_w_result_is_block(t, team, a->base)) {
                e->slot = DH_W_RETURNED;
                e->index = team->created_by.index;
                e->root = root;
                e->inst = team->inst;
                return team->under == 0 || e->inst == to;
            }
            struct dh_w_address given = *a;
            do { /* an index of the thread's own is not known there */
                dh_w_value fixed = dh_w_settled_in(w, expressions, fn, &given);
                if (fixed != DH_W_NONE) {
                    *a = dh_w_address_behind(expressions, &(struct dh_w_address){.base = fixed}, &given,
                                             &fn->ops[team->fork], &number);
                } else if (given.base != DH_W_NONE && given.base >= w->fns[w->insts[e->inst].fn].args) {
                    bool slot = false;
                    *a = dh_w_given_pointer(t, team, e->inst, &given, &number, &slot);
                    e->slot = slot ? DH_W_FILLED : 0;
                    e->index = slot ? team->created_by.index : NULL;
                } else {
                    *a = dh_w_address_in_creator(w, expressions, &given, fn, &fn->ops[team->fork], &number);
                }
            } while (!dh_w_address_known(a) && forget_index(&given, &e->length));
            e->root = root;
            e->inst = team->inst;
            if (team->under == 0 || e->inst == to)
                return dh_w_address_known(a);
            number.value = NULL; /* on to who has created the creator */
            continue;
        }
        struct dh_w_caller by = t->callers[e->inst];
        if (by.inst == DH_W_NONE || (a->base != DH_W_NONE && a->base >= w->fns[w->insts[e->inst].fn].args))
            return false;
        const struct dh_w_fn *fn = &w->fns[w->insts[by.inst].fn];
        *a = dh_w_address_in_caller_but(w, expressions, a, fn, &fn->calls[fn->ops[by.op].call], number.value);
        e->inst = by.inst;
        e->op = by.op;
    }
    return false;
}

/* The index of an element is that of a loop that creates a team, or joins one. */
static const struct dh_w_counted *counted_by(const struct dh_w_teams *t, u32 inst, LLVMValueRef index)
{
    for (u32 r = 1; r < t->flow->w->n_roots && index != NULL; r++) {
        const struct dh_w_team *team = &t->of[r];
        if (!team->counts || team->inst != inst)
            continue;
        if (team->created_by.index == index)
            return &team->created_by;
        if (team->joined && team->joined_by.index == index)
            return &team->joined_by;
    }
    return NULL;
}

/* Whether the access, or the creation of the thread that makes it, is in a round of the loop: when the loop
 * has ended, the index is beyond its last value. */
static bool is_in_body(const struct dh_w_teams *t, const struct dh_w_element *e, const struct dh_w_counted *c)
{
    const struct dh_w *w = t->flow->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[e->inst].fn];
    u32 b = dh_w_block_of(fn, e->root == 0 ? e->op : t->of[e->root].fork);
    return dh_w_loop_has(fn, c->loop, b) && dh_w_counted_in_body(c, b);
}

/* The same, or computed from it: 2 * i + 1. */
static bool is_counted(const struct dh_w_teams *t, struct dh_w_element *e, const struct dh_w_term *term)
{
    const struct dh_w_pool *expressions = &t->flow->locks.expressions;
    LLVMValueRef index = dh_w_expression_first(expressions, term->index);
    const struct dh_w_counted *c = counted_by(t, e->inst, index);
    struct dh_w_linear l;
    struct dh_w_range range = {0};
    u32 bits;
    if (c == NULL || term->size == 0)
        return false;
    bool bounded = is_in_body(t, e, c) && dh_w_counted_range(c, &range) &&
                   dh_w_expression_linear(expressions, term->index, range.least, range.greatest, &l);
    if (!bounded) {
        if (dh_w_expression_leaf(expressions, term->index, &bits) != index || !dh_w_counted_distinct(c, bits))
            return false;
        l = (struct dh_w_linear){.factor = 1};
    }
    u64 stride = (u64)l.factor * term->size;
    if (stride > INT32_MAX)
        return false;
    e->index = index;
    e->stride = (u32)stride;
    e->off += l.term * term->size;
    if (bounded) {
        e->first = e->off + range.least * e->stride;
        e->end = e->off + range.greatest * e->stride + e->length;
        e->least = l.factor * range.least + l.term;
    }
    return true;
}

bool dh_w_is_kept_by(const struct dh_w_teams *t, u32 root, u32 inst, dh_w_value base)
{
    const struct dh_w *w = t->flow->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn];
    const struct dh_w_team *team = &t->of[root];
    return dh_w_is_one_value(fn, base) ||
           (team->counts && team->inst == inst &&
            dh_w_is_kept(fn, base, &team->created_by, dh_w_until_joined(team)));
}

/* The same for the team whose thread makes the access; if the creator does, for those that are created in a
 * loop around what computes the base. */
static bool is_kept(const struct dh_w_teams *t, const struct dh_w_element *e, dh_w_value base)
{
    const struct dh_w *w = t->flow->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[e->inst].fn];
    if (e->root != 0)
        return dh_w_is_kept_by(t, e->root, e->inst, base);
    for (u32 r = 1; r < w->n_roots; r++) {
        const struct dh_w_team *team = &t->of[r];
        u32 loop =
            team->known && team->inst == e->inst ? fn->blocks[dh_w_block_of(fn, team->fork)].loop : DH_W_NONE;
        if (loop != DH_W_NONE && !dh_w_is_kept_by(t, r, e->inst, base) &&
            (fn->def[base] >= fn->n_ops || dh_w_loop_has(fn, loop, dh_w_block_of(fn, fn->def[base]))))
            return false;
    }
    return true;
}

/* The element that an address is. false: it is not known. */
static bool find_element(struct dh_w_teams *t, u32 inst, u32 op, struct dh_w_address here, u32 length, u32 to,
                         struct dh_w_element *e)
{
    struct dh_w *w = t->flow->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn];
    struct dh_w_address a;
    for (;;) {
        memset(e, 0, sizeof *e);
        e->inst = inst;
        e->op = op;
        e->length = length;
        a = here;
        bool is_place = a.global != NULL && a.content == 0 && a.terms == 0; /* wherever it is seen from */
        if (is_place || (t->any && climb(t, e, &a, to)))
            break;
        if (!t->any || length == DH_PTS_ANY || !forget_index(&here, &length))
            return false;
    }
    const struct dh_w_fn *by = &w->fns[w->insts[e->inst].fn];
    a = dh_w_settle(w, &t->flow->locks.expressions, by, &a);
    for (u32 r = 1; r < w->n_roots && e->root == 0 && !e->slot; r++)
        if (t->of[r].known && t->of[r].inst == e->inst)
            read_given(t, &t->of[r], e, &a);
    if (!e->slot)
        read_slot(t, e, &a);
    e->base = a.base;
    e->global = a.global;
    e->content = a.content;
    e->off = a.off;
    e->op = e->root == 0 ? e->op : 0;
    if (e->slot) { /* as in a block of the round */
        e->off = e->length = 0;
        return true;
    }
    bool is_one = a.base == DH_W_NONE || is_kept(t, e, a.base);
    e->fresh = !is_one && dh_w_is_fresh(w, by, a.base);
    if (e->fresh) { /* whatever is accessed in it, or whether it is freed */
        e->off = e->length = 0;
        return true;
    }
    if (e->length == DH_PTS_ANY || e->length == 0 || fn->ops[op].access == DH_PAIRS_FREE)
        return false;
    while (a.terms > 1)
        if (!forget_index(&a, &e->length))
            return false;
    e->off = a.off;
    if (!is_one || (a.terms == 1 && !is_counted(t, e, &a.term[0])))
        return false;
    if (a.terms == 0) {
        e->first = e->off;
        e->end = e->off + e->length;
    }
    if (a.global != NULL && a.content == 0 && a.terms == 0)
        e->inst = e->root = e->op = 0;
    return true;
}

/* The part of an array that a thread's loop goes over is an element, from that of the first index to that of
 * the bound. Both are the same for the thread all the while, since they are made of what it was given. */
static bool find_part(struct dh_w_teams *t, u32 inst, u32 op, const struct dh_w_address *here,
                      const struct dh_w_part *part, u32 length, u32 to, struct dh_w_element *e)
{
    struct dh_w_pool *expressions = &t->flow->locks.expressions;
    struct dh_w_address first = *here, end = *here;
    struct dh_w_element last;
    if (!t->any || here->terms != 1 || part->step != NULL)
        return false;
    first.term[0].index = dh_w_expression(expressions, part->start);
    end.term[0].index = dh_w_expression(expressions, part->bound);
    if (!find_element(t, inst, op, first, length, to, e) ||
        !find_element(t, inst, op, end, length, to, &last) || e->root == 0 || e->index == NULL ||
        e->first >= e->end || last.first >= last.end || e->least < 0 || e->length != length ||
        last.length != length)
        return false;
    bool alike = e->inst == last.inst && e->root == last.root && e->base == last.base &&
                 e->global == last.global && e->content == last.content && e->index == last.index &&
                 e->stride == last.stride;
    int64_t bytes = last.off - e->off + (part->closed ? here->term[0].size : 0);
    if (!alike || last.off <= e->off || bytes > INT32_MAX)
        return false;
    e->end += bytes - length;
    e->length = (u32)bytes;
    return true;
}

/* The index of an array that a thread is given a pointer to an element of, for the creator; or NULL. */
static LLVMValueRef given_begin(struct dh_w_teams *t, u32 inst, const struct dh_w_address *a, u32 size)
{
    const struct dh_w *w = t->flow->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn];
    u32 load = a->base < DH_W_CONSTANT && a->base >= fn->args ? fn->def[a->base] : DH_W_NONE;
    if (load >= fn->n_ops || fn->ops[load].kind != DH_W_LOAD || LLVMIsALoadInst(fn->ops[load].inst) == NULL)
        return NULL;
    LLVMValueRef gep = dh_w_given_value(t, &t->of[w->insts[inst].root], inst, load);
    if (gep == NULL || LLVMIsAGetElementPtrInst(gep) == NULL)
        return NULL;
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    u32 last = LLVMGetNumIndices(gep);
    if (last == 2 && LLVMGetTypeKind(type) == LLVMArrayTypeKind && LLVMIsNull(LLVMGetOperand(gep, 1)))
        type = LLVMGetElementType(type); /* the array is a variable */
    else if (last != 1)
        return NULL;
    return LLVMABISizeOfType(w->layout, type) == size ? LLVMGetOperand(gep, last) : NULL;
}

/* What the base of an address is, for the creator, and whose share the index is of. */
static bool find_share(struct dh_w_teams *t, u32 inst, u32 op, const struct dh_w_address *here,
                       const struct dh_w_part *part, LLVMValueRef plus, u32 length, u32 to,
                       struct dh_w_element *e)
{
    struct dh_w_address first = *here;
    u32 size = here->term[here->terms - 1].size, root = t->flow->w->insts[inst].root;
    if (!t->any || here->terms != 1)
        return false;
    LLVMValueRef begin = given_begin(t, inst, here, size);
    u32 share = dh_w_share(t, inst, part, plus, begin);
    first.terms = 0;
    if (share == 0)
        return false;
    if (begin != NULL) {
        bool slot = false;
        memset(e, 0, sizeof *e);
        first = dh_w_given_pointer(t, &t->of[root], inst, &first, &(struct dh_w_known){.value = NULL}, &slot);
        if (!dh_w_address_known(&first) || slot || first.terms != 1 || first.term[0].size != size)
            return false;
        e->base = first.base;
        e->global = first.global;
        e->content = first.content;
        e->off = first.off;
        e->length = length;
    } else if (!find_element(t, inst, op, first, length, to, e) || e->fresh || e->slot || e->index != NULL) {
        return false;
    }
    e->root = root; /* of a global variable, too */
    e->inst = t->of[root].inst;
    e->share = share;
    e->stride = size;
    e->first = e->end = 0;
    return true;
}

/* The last index of a pointer is that of a loop over a part and something else: x[i * n + k]. */
static bool is_in_part_plus(const struct dh_w_fn *fn, u32 op, dh_w_value pointer,
                            const struct dh_w_address *a, u32 length, struct dh_w_part *ret,
                            LLVMValueRef *ret_plus)
{
    while (pointer < DH_W_CONSTANT && fn->def[pointer] < fn->n_ops &&
           fn->ops[fn->def[pointer]].kind == DH_W_OFFSET)
        pointer = fn->ops[fn->def[pointer]].a;
    const struct dh_w_op *element =
        pointer < DH_W_CONSTANT && fn->def[pointer] < fn->n_ops ? &fn->ops[fn->def[pointer]] : NULL;
    LLVMValueRef sum = element != NULL && element->kind == DH_W_ELEMENT ? element->index : NULL;
    while (sum != NULL && LLVMIsASExtInst(sum) != NULL)
        sum = LLVMGetOperand(sum, 0);
    if (sum == NULL || a->terms != 1 || length > a->term[0].size || LLVMIsAInstruction(sum) == NULL ||
        LLVMGetInstructionOpcode(sum) != LLVMAdd || !LLVMGetNSW(sum))
        return false;
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef k = LLVMGetOperand(sum, i);
        while (LLVMIsASExtInst(k) != NULL)
            k = LLVMGetOperand(k, 0);
        *ret_plus = LLVMGetOperand(sum, 1 - i);
        if (dh_w_part_find(fn, k, dh_w_block_of(fn, op), ret) && !ret->is_unsigned)
            return true;
    }
    return false;
}

/* As the creator of threads sees it, or another instance on the way there. */
static bool find_seen_by(struct dh_w_teams *t, u32 inst, u32 op, dh_w_value pointer, u32 to,
                         struct dh_w_element *e)
{
    const struct dh_w *w = t->flow->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn];
    struct dh_w_pool *expressions = &t->flow->locks.expressions;
    struct dh_w_address here = dh_w_settled_of(w, expressions, fn, pointer);
    dh_w_part_unbind(expressions, fn, op, &here);
    u32 length = fn->ops[op].length;
    struct dh_w_part part;
    struct dh_w_address outer = here;
    u32 bytes = length, root = w->insts[inst].root;
    bool found = false;
    /* Parts are those of the thread's own team. */
    bool has_parts = root != 0 && t->of[root].inst == (to != DH_W_NONE ? to : t->of[root].inst) &&
                     (to != DH_W_NONE || t->of[root].under == 0);
    do { /* x[k], and then x[k][...] */
        found = has_parts && dh_w_part_of(expressions, fn, op, &outer, bytes, &part) &&
                (find_part(t, inst, op, &outer, &part, bytes, to, e) ||
                 find_share(t, inst, op, &outer, &part, NULL, bytes, to, e));
    } while (!found && forget_index(&outer, &bytes));
    LLVMValueRef plus;
    found = found || (has_parts && is_in_part_plus(fn, op, pointer, &here, length, &part, &plus) &&
                      find_share(t, inst, op, &here, &part, plus, length, to, e));
    return found || find_element(t, inst, op, here, length, to, e) ||
           (dh_w_part_of(expressions, fn, op, &here, length, &part) &&
            dh_w_part_forget(&here, &part, &length) && find_element(t, inst, op, here, length, to, e));
}

u32 dh_w_element(struct dh_w_teams *t, u32 inst, u32 op, dh_w_value pointer)
{
    struct dh_w_element e, inner;
    u32 creator = t->any ? dh_w_nest_creator(t, inst) : DH_W_NONE;
    bool found = find_seen_by(t, inst, op, pointer, DH_W_NONE, &e);
    if (creator == DH_W_NONE)
        return found ? dh_w_pool_add(&t->elements, &e, sizeof e) : 0;
    if (!found) {
        memset(&e, 0, sizeof e);
        e.inst = DH_W_NONE;
    }
    e.by = t->flow->w->insts[inst].root;
    e.beside = dh_w_nest_beside(t, inst, op);
    if (find_seen_by(t, inst, op, pointer, creator, &inner))
        e.inner = dh_w_pool_add(&t->elements, &inner, sizeof inner);
    return dh_w_pool_add(&t->elements, &e, sizeof e);
}
