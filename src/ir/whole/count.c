/*
 * count.c - loops that create threads and loops that join them: whether all are certainly joined.
 *
 *     for (i = 0; i < n; i++) create(&t[i], ...);
 *     for (i = 0; i < n; i++) join(t[i]);
 *
 * Both indices take the same values: by constants, in any order, or from the same constant by the same step
 * to the same n, which is one value in a register, or in memory that is not written meanwhile. Each iteration
 * of the second loop executes the join; nothing else writes to t from the first loop until the second one
 * ends; and the first loop is not started again before the second one has run to its end. Then no created
 * thread is left when the second loop ends by its count, and after a join none that was created with that
 * index. The loops may be in two functions that receive t and n. They must run once, so that the threads of
 * another call cannot be confused with these; or t must be created by the function, and threads must start in
 * that function: then these are the threads that this thread has created.
 *
 *     for (...) if (create(&t[n], ...) == 0) n++;
 *     for (i = 0; i < n; i++) join(t[i]);
 *
 * The same holds if n grows by one in each iteration that has created a thread, before the loop is left: then
 * all handles are below the final n.
 */
#include "ir/whole/join.h"
#include "ir/whole/slot.h"

/* An element as large as a handle, or larger, of an array, by the index of a loop. */
static bool is_element(const struct dh_w_flow *f, const struct dh_w_address *a, const struct dh_w_counted *c)
{
    u32 bits;
    return dh_w_address_known(a) && a->terms == 1 && a->term[0].stride >= sizeof(u64) &&
           dh_w_expression_leaf(&f->locks.expressions, a->term[0].index, &bits) == c->index &&
           dh_w_counted_distinct(c, bits);
}

/* Whether the handles are in blocks that the first loop allocates, and the second one finds in an array. */
static bool are_in_blocks(struct dh_w_flow *f, u32 inst, u32 fork, const struct dh_w_counted *first,
                          const struct dh_w_address *created, const struct dh_w_counted *second,
                          const struct dh_w_address *joined)
{
    const struct dh_w_fn *fn = &f->w->fns[f->w->insts[inst].fn];
    if (created->base == DH_W_NONE || joined->base == DH_W_NONE || created->terms + joined->terms > 0 ||
        created->off != joined->off || !dh_w_counted_alike(first, second))
        return false;
    dh_w_value block = created->base;
    if (!dh_w_is_fresh(f->w, fn, block) || !dh_w_comes_first(fn, first, fn->def[block], fork))
        block = dh_w_slot_read(f, inst, first, fork, second, first, block);
    return block != DH_W_NONE && block == dh_w_slot_read(f, inst, first, fork, second, second, joined->base);
}

/* Whether array and bound are what they were from the begin of the first loop to the end of the second one.
 */
static bool stay(const struct dh_w_fn *fn, const struct dh_w_address *array, const struct dh_w_counted *first,
                 const struct dh_w_counted *second)
{
    LLVMValueRef bound = second->bound; /* made wider in each loop, perhaps */
    while (LLVMIsASExtInst(bound) != NULL || LLVMIsAZExtInst(bound) != NULL)
        bound = LLVMGetOperand(bound, 0);
    bool computed = LLVMIsAInstruction(bound) != NULL && !dh_w_address_known(&second->place);
    return (array->base == DH_W_NONE || dh_w_is_kept(fn, array->base, first, second)) &&
           !(computed &&
             dh_w_reaches(fn, first->header, dh_w_block_number(fn, LLVMGetInstructionParent(bound)),
                          DH_W_NONE, second));
}

enum { MAX_CALLS = 16 };

/* The instance, or who calls it, and so on, that also leads to the other one. */
static u32 common_caller(const struct dh_w *w, u32 a, u32 b)
{
    u32 op;
    for (u32 i = 0; i < MAX_CALLS; i++) {
        u32 at = b;
        for (u32 k = 0; k < MAX_CALLS; k++)
            if (at == a)
                return a;
            else if (!dh_w_only_call(w, at, &at, &op))
                break;
        if (!dh_w_only_call(w, a, &a, &op))
            break;
    }
    return DH_W_NONE;
}

/* An address without its index, as the caller sees it. */
static struct dh_w_address array_at(struct dh_w_flow *f, struct dh_w_address a, u32 inst, u32 top)
{
    struct dh_w *w = f->w;
    u32 caller, op;
    a.terms = 0;
    for (; inst != top && dh_w_address_known(&a) && dh_w_only_call(w, inst, &caller, &op); inst = caller) {
        const struct dh_w_fn *fn = &w->fns[w->insts[caller].fn];
        if (a.base != DH_W_NONE && a.base >= w->fns[w->insts[inst].fn].args)
            return (struct dh_w_address){.base = DH_W_NONE};
        a = dh_w_address_in_caller(w, &f->locks.expressions, &a, fn, &fn->calls[fn->ops[op].call]);
    }
    return a;
}

/* What the caller gave as the bound; NULL: it was made on the way. */
static LLVMValueRef bound_at(const struct dh_w *w, LLVMValueRef bound, u32 inst, u32 top)
{
    u32 caller, op;
    for (; inst != top && dh_w_only_call(w, inst, &caller, &op); inst = caller) {
        const struct dh_w_fn *fn = &w->fns[w->insts[caller].fn];
        LLVMValueRef call = fn->calls[fn->ops[op].call].inst, given = NULL;
        if (LLVMIsAConstantInt(bound) != NULL)
            continue;
        u32 params = LLVMIsAArgument(bound) != NULL ? LLVMCountParams(LLVMGetParamParent(bound)) : 0;
        for (u32 i = 0; i < params && call != NULL && i < LLVMGetNumArgOperands(call); i++)
            if (LLVMGetParam(LLVMGetParamParent(bound), i) == bound &&
                LLVMTypeOf(LLVMGetOperand(call, i)) == LLVMTypeOf(bound))
                given = LLVMGetOperand(call, i);
        if (given == NULL)
            return NULL;
        bound = given;
    }
    return bound;
}

/* Whether the loops count alike, and are about the same array. Each loop as its own function has it. */
static bool are_alike(struct dh_w_flow *f, u32 by, const struct dh_w_counted *first,
                      const struct dh_w_address *created, u32 inst, const struct dh_w_counted *second,
                      const struct dh_w_address *joined)
{
    u32 top = common_caller(f->w, by, inst);
    if (top == DH_W_NONE)
        return false;
    struct dh_w_counted x = *first, y = *second;
    if (by != inst && (x.place.base != DH_W_NONE || y.place.base != DH_W_NONE))
        return false; /* each in its own function's words */
    if (!dh_w_address_known(&x.place) || !dh_w_address_known(&y.place)) {
        x.bound = bound_at(f->w, x.bound, by, top);
        y.bound = bound_at(f->w, y.bound, inst, top);
    }
    if (x.bound == NULL || y.bound == NULL)
        return false;
    struct dh_w_address a = array_at(f, *created, by, top), b = array_at(f, *joined, inst, top);
    return dh_w_counted_alike(&x, &y) && dh_w_address_known(&a) && dh_w_address_equal(&a, &b) &&
           created->term[0].stride == joined->term[0].stride;
}

bool dh_w_join_matches(struct dh_w_flow *f, u32 by, u32 fork, u32 inst, u32 join, struct dh_w_counted *ret)
{
    struct dh_w *w = f->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[by].fn], *in = &w->fns[w->insts[inst].fn];
    u32 fb = dh_w_block_of(fn, fork), loop = fn->blocks[fb].loop, jb = dh_w_block_of(in, join);
    struct dh_w_counted first;
    dh_w_value handle = in->ops[join].a;
    u32 load = handle < DH_W_CONSTANT ? in->def[handle] : DH_W_NONE;
    if (fn->ops[fork].kind != DH_W_FORK || load >= in->n_ops || in->ops[load].kind != DH_W_LOAD ||
        LLVMIsALoadInst(in->ops[load].inst) == NULL || loop == DH_W_NONE ||
        in->blocks[jb].loop == DH_W_NONE || (by == inst && loop == in->blocks[jb].loop) ||
        !dh_w_counted_find(f, by, loop, &first) || !dh_w_counted_in_body(&first, fb) ||
        !dh_w_counted_find(f, inst, in->blocks[jb].loop, ret) ||
        (by == inst && !dh_w_reaches(fn, first.header, jb, DH_W_NONE, NULL)))
        return false;
    struct dh_w_pool *expressions = &f->locks.expressions;
    struct dh_w_address created = dh_w_settled_of(w, expressions, fn, fn->ops[fork].a);
    struct dh_w_address joined = dh_w_settled_of(w, expressions, in, in->ops[load].a);
    bool once = dh_w_runs_once(f, by);
    if (!once && !dh_w_is_made_here(fn, &created))
        return false;
    bool in_array = is_element(f, &created, &first) && is_element(f, &joined, ret) &&
                    are_alike(f, by, &first, &created, inst, ret, &joined);
    if ((in_array && by == inst && !stay(fn, &created, &first, ret)) ||
        (!in_array &&
         (by != inst || !once || !are_in_blocks(f, inst, fork, &first, &created, ret, &joined))) ||
        dh_w_written_from(f, by, first.header, by == inst ? ret : NULL, dh_w_node(w, by, fn->ops[fork].a),
                          sizeof(u64), fork))
        return false;
    /* The first loop is not begun a second time without the second one's end. */
    return dh_w_each_round(in, ret, jb) && !dh_w_begins_again(fn, &first, by == inst ? ret : NULL);
}

/* ---- as many as have been created ---- */

/* What comes behind a creation in the same round. */
struct success {
    const struct dh_w_fn *fn;
    u32 loop, header;
    u32 fork, then;      /* the blocks that create, and where it goes on if that succeeded */
    LLVMValueRef number; /* of threads: a phi of the header */
};

/* Whether a round in which the creation succeeded may come to the end of a block. */
static bool passes(const struct success *s, u32 block)
{
    return dh_w_reaches(s->fn, s->then, block, s->header, NULL);
}

static bool find_success(const struct dh_w_fn *fn, u32 fork, struct success *ret)
{
    u32 b = dh_w_block_of(fn, fork);
    LLVMValueRef end = LLVMGetBasicBlockTerminator(fn->blocks[b].value), create = fn->ops[fork].inst;
    LLVMValueRef test =
        LLVMIsABranchInst(end) != NULL && LLVMIsConditional(end) ? LLVMGetCondition(end) : NULL;
    if (!dh_w_is_create(create) || test == NULL || LLVMIsAICmpInst(test) == NULL ||
        LLVMGetOperand(test, 0) != create || LLVMIsAConstantInt(LLVMGetOperand(test, 1)) == NULL ||
        LLVMConstIntGetZExtValue(LLVMGetOperand(test, 1)) != 0)
        return false;
    LLVMIntPredicate p = LLVMGetICmpPredicate(test);
    u32 then = fn->succ[fn->blocks[b].succ + (p == LLVMIntEQ ? 0 : 1)];
    u32 other = fn->succ[fn->blocks[b].succ + (p == LLVMIntEQ ? 1 : 0)];
    if ((p != LLVMIntEQ && p != LLVMIntNE) || then == other)
        return false;
    *ret = (struct success){.fn = fn, .loop = fn->blocks[b].loop, .fork = b, .then = then};
    return ret->loop != DH_W_NONE && dh_w_loop_has(fn, ret->loop, then);
}

/* One more than the number, as far as numbers with a sign go. */
static bool is_next(const struct success *s, LLVMValueRef v)
{
    return LLVMIsAInstruction(v) != NULL && LLVMGetInstructionOpcode(v) == LLVMAdd && LLVMGetNSW(v) &&
           LLVMGetOperand(v, 0) == s->number && LLVMIsAConstantInt(LLVMGetOperand(v, 1)) != NULL &&
           LLVMConstIntGetSExtValue(LLVMGetOperand(v, 1)) == 1;
}

/* Whether the value that comes from a block is the next number, or, if no round with a thread comes that way,
 * the same. */
static bool grows_from(const struct success *s, LLVMValueRef v, u32 block)
{
    return is_next(s, v) || (v == s->number && !passes(s, block));
}

static bool grows(const struct success *s, LLVMValueRef v, u32 block)
{
    if (grows_from(s, v, block))
        return true;
    if (LLVMIsAPHINode(v) == NULL || v == s->number)
        return false;
    /* Two ways come together, behind the creation. */
    u32 b = dh_w_block_number(s->fn, LLVMGetInstructionParent(v));
    if (!dh_w_loop_has(s->fn, s->loop, b) || b == s->header || b == s->then ||
        dh_w_reaches(s->fn, b, s->fork, s->header, NULL))
        return false;
    for (unsigned i = 0; i < LLVMCountIncoming(v); i++)
        if (!grows_from(s, LLVMGetIncomingValue(v, i), dh_w_block_number(s->fn, LLVMGetIncomingBlock(v, i))))
            return false;
    return true;
}

/* A number that begins at 0, and has grown behind each creation when the loop goes on or is left. */
static bool counts_threads(struct success *s, LLVMValueRef phi)
{
    const struct dh_w_fn *fn = s->fn;
    if (phi == NULL || LLVMIsAPHINode(phi) == NULL)
        return false;
    s->number = phi;
    s->header = dh_w_block_number(fn, LLVMGetInstructionParent(phi));
    if (!dh_w_loop_has(fn, s->loop, s->header) || s->then == s->header || passes(s, s->fork))
        return false;
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMValueRef v = LLVMGetIncomingValue(phi, i);
        u32 from = dh_w_block_number(fn, LLVMGetIncomingBlock(phi, i));
        bool inside = dh_w_loop_has(fn, s->loop, from);
        if (inside ? !grows(s, v, from) : LLVMIsAConstantInt(v) == NULL || LLVMConstIntGetSExtValue(v) != 0)
            return false;
    }
    for (u32 b = 0; b < fn->n_blocks; b++)
        for (u32 i = 0; i < fn->blocks[b].succs; i++) {
            u32 to = fn->succ[fn->blocks[b].succ + i];
            bool enters = !dh_w_loop_has(fn, s->loop, b) && dh_w_loop_has(fn, s->loop, to);
            bool leaves = dh_w_loop_has(fn, s->loop, b) && !dh_w_loop_has(fn, s->loop, to);
            if ((enters && to != s->header) || (leaves && passes(s, b)))
                return false;
        }
    return true;
}

/* Whether the loop around the join joins all that the fork has created when it is left by its count. */
static bool joins_succeeded(struct dh_w_flow *f, u32 inst, u32 fork, u32 join, struct dh_w_counted *ret)
{
    struct dh_w *w = f->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn];
    struct dh_w_pool *expressions = &f->locks.expressions;
    struct success s;
    u32 jb = dh_w_block_of(fn, join), bits;
    dh_w_value handle = fn->ops[join].a;
    u32 load = handle < DH_W_CONSTANT ? fn->def[handle] : DH_W_NONE;
    if (fn->ops[fork].kind != DH_W_FORK || load >= fn->n_ops || fn->ops[load].kind != DH_W_LOAD ||
        LLVMIsALoadInst(fn->ops[load].inst) == NULL || !find_success(fn, fork, &s) ||
        fn->blocks[jb].loop == DH_W_NONE || dh_w_loop_has(fn, s.loop, jb) ||
        !dh_w_counted_find(f, inst, fn->blocks[jb].loop, ret))
        return false;
    struct dh_w_address created = dh_w_settled_of(w, expressions, fn, fn->ops[fork].a);
    struct dh_w_address joined = dh_w_settled_of(w, expressions, fn, fn->ops[load].a);
    if (!dh_w_address_known(&created) || created.terms != 1 || created.term[0].stride < sizeof(u64) ||
        (created.base != DH_W_NONE && !dh_w_is_one_value(fn, created.base)) || !is_element(f, &joined, ret))
        return false;
    LLVMValueRef number = dh_w_expression_leaf(expressions, created.term[0].index, &bits);
    struct dh_w_address a = created, b = joined;
    a.terms = b.terms = 0;
    if (!counts_threads(&s, number) || bits < LLVMGetIntTypeWidth(LLVMTypeOf(number)) ||
        !dh_w_address_equal(&a, &b) || created.term[0].stride != joined.term[0].stride)
        return false;
    /* From 0, each number below the one that the first loop has ended with. */
    if (ret->bound != number || LLVMConstIntGetSExtValue(ret->start) != 0 || ret->step != 1 || ret->at_end ||
        ret->by != LLVMIntSLT)
        return false;
    struct dh_w_counted first = {.loop = s.loop, .header = s.header};
    return dh_w_each_round(fn, ret, jb) && !dh_w_begins_again(fn, &first, ret) &&
           !dh_w_written_from(f, inst, s.header, ret, dh_w_node(w, inst, fn->ops[fork].a), sizeof(u64), fork);
}

u64 dh_w_join_counted(struct dh_w_flow *f, u32 inst, u32 join, u64 roots, u32 *ret_block, u32 *ret_succ)
{
    struct dh_w *w = f->w;
    u64 sure = 0;
    bool once = dh_w_runs_once(f, inst);
    if (!once && !dh_w_begins_thread(f, inst))
        return 0;
    for (u32 r = 0; r < w->n_roots; r++) {
        u32 by = roots >> r & 1 ? w->roots[r].creator : DH_W_NONE;
        u32 fork = by != DH_W_NONE ? dh_w_only_fork(w, by, r) : DH_W_NONE;
        struct dh_w_counted c;
        if (fork == DH_W_NONE || w->roots[r].many || (by != inst && !(once && dh_w_runs_once(f, by))) ||
            (!dh_w_join_matches(f, by, fork, inst, join, &c) &&
             (!once || by != inst || !joins_succeeded(f, inst, fork, join, &c))))
            continue;
        sure |= f->ended[r][DH_W_SOUND];
        *ret_block = c.block;
        *ret_succ = c.succ;
    }
    return sure;
}
