/*
 * counted.c - see counted.h.
 */
#include "ir/whole/counted.h"

#include <stdlib.h>

#include "ir/whole/join.h"
#include "ir/whole/slot.h"

u32 dh_w_block_of(const struct dh_w_fn *fn, u32 op)
{
    u32 b = 0;
    DH_ASSERT(op < fn->n_ops);
    while (op >= fn->blocks[b].end || op < fn->blocks[b].first)
        b++;
    return b;
}

u32 dh_w_block_number(const struct dh_w_fn *fn, LLVMBasicBlockRef bb)
{
    u32 b = 0;
    while (fn->blocks[b].value != bb)
        b++;
    return b;
}

bool dh_w_reaches(const struct dh_w_fn *fn, u32 a, u32 b, u32 closed, const struct dh_w_counted *out)
{
    bool *seen = calloc(fn->n_blocks + 1, 1), found = false;
    u32 *stack = calloc(fn->n_blocks + 1, sizeof *stack);
    size_t n = 0;
    if (seen == NULL || stack == NULL)
        dh_util_no_memory();
    if (a != closed)
        stack[n++] = a;
    seen[a] = true;
    while (n > 0 && !found) {
        u32 at = stack[--n];
        found = at == b;
        for (u32 i = 0; i < fn->blocks[at].succs; i++) {
            u32 to = fn->succ[fn->blocks[at].succ + i];
            bool is_out = out != NULL && at == out->block && i == out->succ;
            if (!seen[to] && to != closed && !is_out) {
                seen[to] = true;
                stack[n++] = to;
            }
        }
    }
    free(seen);
    free(stack);
    return found;
}

bool dh_w_comes_to(const struct dh_w_fn *fn, u32 a, u32 b, u32 closed)
{
    for (u32 i = 0; i < fn->blocks[a].succs; i++) {
        u32 to = fn->succ[fn->blocks[a].succ + i];
        if (to != closed && dh_w_reaches(fn, to, b, closed, NULL))
            return true;
    }
    return false;
}

bool dh_w_repeats(const struct dh_w_fn *fn, u32 block)
{
    for (u32 i = 0; i < fn->blocks[block].succs; i++)
        if (dh_w_reaches(fn, fn->succ[fn->blocks[block].succ + i], block, DH_W_NONE, NULL))
            return true;
    return false;
}

bool dh_w_begins_again(const struct dh_w_fn *fn, const struct dh_w_counted *c, const struct dh_w_counted *out)
{
    for (u32 b = 0; b < fn->n_blocks; b++)
        for (u32 i = 0; i < fn->blocks[b].succs; i++) {
            u32 to = fn->succ[fn->blocks[b].succ + i];
            if (dh_w_loop_has(fn, c->loop, b) && !dh_w_loop_has(fn, c->loop, to) &&
                dh_w_reaches(fn, to, c->header, DH_W_NONE, out))
                return true;
        }
    return false;
}

bool dh_w_each_round(const struct dh_w_fn *fn, const struct dh_w_counted *c, u32 block)
{
    const struct dh_w_block *header = &fn->blocks[c->header];
    if (block == c->header)
        return true;
    for (u32 i = 0; i < header->succs; i++) {
        u32 to = fn->succ[header->succ + i];
        if (dh_w_loop_has(fn, c->loop, to) && dh_w_reaches(fn, to, c->header, block, NULL))
            return false;
    }
    /* A loop that compares first has no last round that has begun. */
    return !c->at_end || block == c->block || !dh_w_reaches(fn, c->header, c->block, block, NULL);
}

/* ---- what runs how often, and writes what ---- */

size_t dh_w_writes(const struct dh_w_op *op, struct dh_w_write ret[DH_W_MAX_WRITES])
{
    size_t n = 0;
    bool accessed =
        op->access != DH_W_NO_ACCESS && op->access != DH_PAIRS_FREE && dh_pairs_access_writes(op->access);
    bool stores = op->kind == DH_W_STORE || op->kind == DH_W_UPDATE || op->kind == DH_W_MEMCPY;
    bool pointer = op->kind == DH_W_FORK || op->kind == DH_W_ALLOC_AT;
    if ((accessed || stores || pointer) && op->a != DH_W_NONE)
        ret[n++] = (struct dh_w_write){op->a, pointer && !accessed ? (u32)sizeof(u64) : op->length};
    if (n > 0 && ret[0].length == 0)
        ret[0].length = sizeof(u64); /* one word of what is accessed as a whole */
    if ((op->kind == DH_W_JOIN || op->kind == DH_W_RESULT) && op->b != DH_W_NONE)
        ret[n++] = (struct dh_w_write){op->b, sizeof(u64)};
    return n;
}

bool dh_w_starts_itself(const struct dh_w *w, u32 inst)
{
    bool itself = w->roots[w->insts[inst].root].inst == inst;
    for (size_t i = 0; i < w->n_early; i++)
        itself |= w->early[i] == inst;
    for (size_t i = 0; i < w->n_last; i++)
        itself |= w->last[i] == inst;
    return itself;
}

/* What the library calls back may be called often, and what is called when the program ends is called then.
 */
bool dh_w_only_call(const struct dh_w *w, u32 inst, u32 *ret_caller, u32 *ret_op)
{
    u32 n = 0;
    if (dh_w_starts_itself(w, inst))
        return false;
    for (u32 i = 0; i < w->n_insts && n < 2; i++)
        for (size_t e = 0; e < w->insts[i].n_edges; e++) {
            const struct dh_w_edge *edge = &w->insts[i].edges[e];
            if (edge->inst != inst)
                continue;
            if (w->fns[w->insts[i].fn].ops[edge->op].kind != DH_W_CALL)
                return false;
            *ret_caller = i;
            *ret_op = edge->op;
            n++;
        }
    return n == 1;
}

/* Behind a setjmp everything may run once more. */
static bool comes_back(const struct dh_w_fn *fn)
{
    for (size_t i = 0; i < fn->n_ops; i++)
        if (fn->ops[i].kind == DH_W_AGAIN)
            return true;
    return false;
}

bool dh_w_runs_once(const struct dh_w_flow *f, u32 inst)
{
    const struct dh_w *w = f->w;
    for (u32 steps = 0; steps < 32; steps++) {
        u32 root = w->insts[inst].root, caller, op;
        if (comes_back(&w->fns[w->insts[inst].fn]))
            return false;
        if (w->roots[root].inst == inst)
            return !f->is_called[inst] && root == 0 && w->main_fn != DH_W_NONE;
        if (!dh_w_only_call(w, inst, &caller, &op))
            return false;
        const struct dh_w_fn *fn = &w->fns[w->insts[caller].fn];
        if (dh_w_repeats(fn, dh_w_block_of(fn, op)))
            return false;
        inst = caller;
    }
    return false;
}

bool dh_w_begins_thread(const struct dh_w_flow *f, u32 inst)
{
    const struct dh_w *w = f->w;
    u32 root = w->insts[inst].root;
    return root != 0 && w->roots[root].kind == DH_PAIRS_THREAD && w->roots[root].inst == inst &&
           !f->is_called[inst] && !comes_back(&w->fns[w->insts[inst].fn]);
}

bool dh_w_is_made_here(const struct dh_w_fn *fn, const struct dh_w_address *a)
{
    u32 def = a->base < DH_W_CONSTANT ? fn->def[a->base] : DH_W_NONE;
    return def < fn->n_ops && (fn->ops[def].kind == DH_W_ALLOCA || fn->ops[def].kind == DH_W_ALLOC);
}

u32 dh_w_only_fork(const struct dh_w *w, u32 inst, u32 root)
{
    u32 op = DH_W_NONE, n = 0;
    for (u32 i = 0; i < w->n_insts; i++)
        for (size_t k = 0; k < w->insts[i].n_forks; k++)
            if (w->insts[i].forks[k].root == root) {
                n++;
                op = i == inst ? w->insts[i].forks[k].op : DH_W_NONE;
            }
    return n == 1 ? op : DH_W_NONE;
}

/* Whether an op of an instance may run once the block of `inst` was entered, which runs once, and before a
 * loop is left by its count. */
static bool runs_from(const struct dh_w *w, u32 inst, u32 block, const struct dh_w_counted *until, u32 by,
                      u32 op)
{
    for (u32 steps = 0; steps < 8; steps++) {
        if (by == inst) {
            const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn];
            return dh_w_reaches(fn, block, dh_w_block_of(fn, op), DH_W_NONE, until);
        }
        u32 caller, call;
        if (!dh_w_only_call(w, by, &caller, &call))
            return true;
        by = caller;
        op = call;
    }
    return true;
}

bool dh_w_written_from(const struct dh_w_flow *f, u32 inst, u32 block, const struct dh_w_counted *until,
                       dh_pts_node at, u32 length, u32 but)
{
    const struct dh_w *w = f->w;
    if (at == DH_PTS_NONE)
        return true;
    bool once = dh_w_runs_once(f, inst);
    for (u32 i = 0; i < w->n_insts; i++) {
        const struct dh_w_fn *fn = &w->fns[w->insts[i].fn];
        for (u32 o = 0; o < fn->n_ops; o++) {
            struct dh_w_write to[DH_W_MAX_WRITES];
            for (size_t n = i == inst && o == but ? 0 : dh_w_writes(&fn->ops[o], to); n-- > 0;) {
                dh_pts_node node = dh_w_node(w, i, to[n].at);
                if (node != DH_PTS_NONE && dh_pts_may_overlap(w->pts, at, length, node, to[n].length, NULL) &&
                    (!once || runs_from(w, inst, block, until, i, o)))
                    return true;
            }
        }
    }
    return false;
}

/* ---- counting ---- */

struct search {
    struct dh_w_flow *f;
    u32 inst;
    const struct dh_w_fn *fn;
};

static bool is_in(const struct dh_w_fn *fn, u32 loop, LLVMValueRef v)
{
    return LLVMIsAInstruction(v) != NULL &&
           dh_w_loop_has(fn, loop, dh_w_block_number(fn, LLVMGetInstructionParent(v)));
}

/* What is added to the index in i + 1, i - 1, i + 2; 0: it is something else. */
static int64_t step_of(LLVMValueRef v, LLVMValueRef index)
{
    u32 op = LLVMIsAInstruction(v) != NULL ? (u32)LLVMGetInstructionOpcode(v) : 0; /* 0: no opcode */
    if ((op != LLVMAdd && op != LLVMSub) || LLVMGetOperand(v, 0) != index ||
        LLVMIsAConstantInt(LLVMGetOperand(v, 1)) == NULL)
        return 0;
    int64_t n = LLVMConstIntGetSExtValue(LLVMGetOperand(v, 1));
    if (n < -INT16_MAX || n > INT16_MAX)
        return 0;
    return op == LLVMAdd ? n : -n;
}

/* A phi of the header that begins at a constant and has one step. */
static bool counts(const struct dh_w_fn *fn, struct dh_w_counted *c, LLVMValueRef phi)
{
    c->start = NULL;
    c->step = 0;
    if (LLVMIsAPHINode(phi) == NULL || LLVMGetInstructionParent(phi) != fn->blocks[c->header].value ||
        LLVMGetTypeKind(LLVMTypeOf(phi)) != LLVMIntegerTypeKind)
        return false;
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMValueRef v = LLVMGetIncomingValue(phi, i);
        if (dh_w_loop_has(fn, c->loop, dh_w_block_number(fn, LLVMGetIncomingBlock(phi, i)))) {
            int64_t step = step_of(v, phi);
            if (step == 0 || (c->step != 0 && c->step != step))
                return false;
            c->step = step;
        } else if (LLVMIsAConstantInt(v) == NULL || (c->start != NULL && c->start != v)) {
            return false;
        } else {
            c->start = v;
        }
    }
    return c->start != NULL && c->step != 0;
}

static LLVMValueRef plain(LLVMValueRef v)
{
    while (LLVMIsASExtInst(v) != NULL || LLVMIsAZExtInst(v) != NULL)
        v = LLVMGetOperand(v, 0);
    return v;
}

/* The same value in each round: computed before the loop, or read from memory that does not change. */
static bool set_bound(const struct search *s, struct dh_w_counted *c, LLVMValueRef bound)
{
    c->bound = bound;
    c->place = (struct dh_w_address){.base = DH_W_NONE};
    LLVMValueRef load = plain(bound); /* made wider in the loop, perhaps */
    if (LLVMIsALoadInst(load) == NULL || LLVMGetVolatile(load))
        return !is_in(s->fn, c->loop, load);
    struct dh_w *w = s->f->w;
    for (u32 o = 0; o < s->fn->n_ops; o++) {
        const struct dh_w_op *op = &s->fn->ops[o];
        if (op->inst != load || op->kind != DH_W_LOAD)
            continue;
        struct dh_w_address at = dh_w_settled_of(w, &s->f->locks.expressions, s->fn, op->a);
        bool is_one = at.global != NULL || (at.base != DH_W_NONE && dh_w_is_one_value(s->fn, at.base));
        if (is_one && at.terms == 0 &&
            !dh_w_written_from(s->f, s->inst, c->header, NULL, dh_w_node(w, s->inst, op->a), op->length,
                               DH_W_NONE))
            c->place = at;
        break;
    }
    return dh_w_address_known(&c->place) || !is_in(s->fn, c->loop, load);
}

static LLVMIntPredicate swapped(LLVMIntPredicate p)
{
    switch (p) {
    case LLVMIntSGT:
        return LLVMIntSLT;
    case LLVMIntUGT:
        return LLVMIntULT;
    case LLVMIntSGE:
        return LLVMIntSLE;
    case LLVMIntUGE:
        return LLVMIntULE;
    case LLVMIntSLT:
        return LLVMIntSGT;
    case LLVMIntULT:
        return LLVMIntUGT;
    case LLVMIntSLE:
        return LLVMIntSGE;
    case LLVMIntULE:
        return LLVMIntUGE;
    default:
        return p;
    }
}

/* Whether an index that is compared as a wider number is the same number: it grows from 0 or more, and does
 * not overflow before it is made wider, or the program is wrong. */
static bool may_be_widened(const struct dh_w_counted *c, LLVMValueRef side)
{
    if (LLVMConstIntGetSExtValue(c->start) < 0 || c->step < 0 || (c->at_end && !LLVMGetNSW(side)))
        return false;
    for (unsigned i = 0; i < LLVMCountIncoming(c->index); i++) {
        LLVMValueRef next = LLVMGetIncomingValue(c->index, i);
        if (LLVMIsAInstruction(next) != NULL && !LLVMGetNSW(next))
            return false;
    }
    return true;
}

/* Whether one side of a comparison is the index, or what it is in the next round. */
static bool compares(const struct dh_w_fn *fn, struct dh_w_counted *c, LLVMValueRef side)
{
    bool widened = LLVMIsASExtInst(side) != NULL;
    if (widened)
        side = LLVMGetOperand(side, 0);
    LLVMValueRef before =
        LLVMIsAInstruction(side) != NULL && LLVMIsAPHINode(side) == NULL && LLVMGetNumOperands(side) > 0
            ? LLVMGetOperand(side, 0)
            : side;
    c->at_end = before != side && counts(fn, c, before) && step_of(side, before) == c->step;
    c->index = c->at_end ? before : side;
    return (c->at_end || counts(fn, c, side)) && (!widened || may_be_widened(c, side));
}

/* Whether a loop whose index is compared in this way stays until the bound is reached. */
static bool is_towards(LLVMIntPredicate p, int64_t step)
{
    return p == LLVMIntNE ||
           (step > 0 ? p == LLVMIntSLT || p == LLVMIntULT || p == LLVMIntSLE || p == LLVMIntULE
                     : p == LLVMIntSGT || p == LLVMIntUGT || p == LLVMIntSGE || p == LLVMIntUGE);
}

/* Block b leaves the loop when the count is reached: at its end (i + 1 against n), or at its start (i). */
static bool ends_by_count(const struct search *s, struct dh_w_counted *c, u32 b)
{
    const struct dh_w_fn *fn = s->fn;
    LLVMValueRef end = LLVMGetBasicBlockTerminator(fn->blocks[b].value);
    if (LLVMIsABranchInst(end) == NULL || !LLVMIsConditional(end) ||
        LLVMIsAICmpInst(LLVMGetCondition(end)) == NULL)
        return false;
    LLVMValueRef cmp = LLVMGetCondition(end), bound = LLVMGetOperand(cmp, 1);
    LLVMIntPredicate p = LLVMGetICmpPredicate(cmp);
    if (!compares(fn, c, LLVMGetOperand(cmp, 0))) { /* n > i */
        if (!compares(fn, c, bound))
            return false;
        bound = LLVMGetOperand(cmp, 0);
        p = swapped(p);
    }
    bool stays_if = is_towards(p, c->step);
    if (!stays_if && p != LLVMIntEQ)
        return false;
    u32 out = stays_if ? 1 : 0; /* a branch goes to its first successor if the condition holds */
    bool stays = dh_w_loop_has(fn, c->loop, fn->succ[fn->blocks[b].succ + 1 - out]);
    bool leaves = !dh_w_loop_has(fn, c->loop, fn->succ[fn->blocks[b].succ + out]);
    if (!stays || !leaves || (!c->at_end && b != c->header) || !set_bound(s, c, bound))
        return false;
    c->by = stays_if ? p : LLVMIntNE;
    c->block = b;
    c->succ = out;
    return true;
}

bool dh_w_counted_find(struct dh_w_flow *f, u32 inst, u32 loop, struct dh_w_counted *ret)
{
    struct search s = {f, inst, &f->w->fns[f->w->insts[inst].fn]};
    const struct dh_w_fn *fn = s.fn;
    *ret = (struct dh_w_counted){.loop = loop, .header = DH_W_NONE};
    for (u32 b = 0; b < fn->n_blocks; b++)
        for (u32 i = 0; i < fn->blocks[b].succs; i++) {
            u32 to = fn->succ[fn->blocks[b].succ + i];
            if (dh_w_loop_has(fn, loop, to) && !dh_w_loop_has(fn, loop, b)) {
                if (ret->header != DH_W_NONE && ret->header != to)
                    return false;
                ret->header = to;
            }
        }
    for (u32 b = 0; b < fn->n_blocks && ret->header != DH_W_NONE; b++)
        if (fn->blocks[b].loop == loop && ends_by_count(&s, ret, b))
            return true;
    return false;
}

static bool is_signed(LLVMIntPredicate p)
{
    return p == LLVMIntSLT || p == LLVMIntSLE;
}

static bool is_widened(LLVMValueRef v)
{
    return LLVMIsASExtInst(v) != NULL || LLVMIsAZExtInst(v) != NULL;
}

/* A value, or what is read from the place, which is the same for both loops. */
static bool same_number(LLVMValueRef a, LLVMValueRef b, bool same_place)
{
    return a == b || (same_place && LLVMIsALoadInst(a) != NULL && LLVMIsALoadInst(b) != NULL &&
                      LLVMTypeOf(a) == LLVMTypeOf(b));
}

/* One value, in both loops as wide, or made wider where that changes no comparison. */
static bool same_value(LLVMValueRef a, LLVMValueRef b, LLVMIntPredicate by, bool same_place)
{
    if (same_number(a, b, same_place))
        return true;
    if (!is_widened(a)) {
        LLVMValueRef wide = b;
        b = a;
        a = wide;
    }
    if (!is_widened(a))
        return false;
    bool widens = LLVMIsASExtInst(a) != NULL ? is_signed(by) : by != LLVMIntNE && !is_signed(by);
    bool alike = LLVMIsAInstruction(b) != NULL &&
                 LLVMGetInstructionOpcode(a) == LLVMGetInstructionOpcode(b) && LLVMTypeOf(a) == LLVMTypeOf(b);
    return (widens && same_number(LLVMGetOperand(a, 0), b, same_place)) ||
           (alike && same_number(LLVMGetOperand(a, 0), LLVMGetOperand(b, 0), same_place));
}

static bool same_constant(LLVMValueRef a, LLVMValueRef b)
{
    return LLVMIsAConstantInt(a) != NULL && LLVMIsAConstantInt(b) != NULL &&
           LLVMConstIntGetSExtValue(a) == LLVMConstIntGetSExtValue(b);
}

bool dh_w_counted_range(const struct dh_w_counted *c, struct dh_w_range *ret)
{
    u32 width = LLVMGetIntTypeWidth(LLVMTypeOf(c->index));
    if (LLVMIsAConstantInt(c->bound) == NULL)
        return false;
    int64_t start = LLVMConstIntGetSExtValue(c->start), bound = LLVMConstIntGetSExtValue(c->bound);
    int64_t by = c->step > 0 ? c->step : -c->step, limit = width < 32 ? 1ll << (width - 1) : INT32_MAX;
    bool is_up = c->step > 0, is_unsigned = c->by == LLVMIntUGE || c->by == LLVMIntUGT;
    if (c->by == LLVMIntSLE || c->by == LLVMIntULE || c->by == LLVMIntSGE || c->by == LLVMIntUGE)
        bound += is_up ? 1 : -1; /* the first value that is not taken */
    int64_t way = is_up ? bound - start : start - bound;
    if (c->by == LLVMIntNE && way % by != 0)
        return false;
    if (way <= 0) {
        if (!c->at_end || c->by == LLVMIntNE)
            return false;
        way = 1;
    }
    int64_t last = start + (way - 1) / by * c->step;
    *ret = (struct dh_w_range){is_up ? start : last, is_up ? last : start, by};
    /* Neither the index nor what follows the last round is too large, or negative where there is no sign. */
    return ret->least >= (is_unsigned ? by : 0) && ret->greatest < limit - by;
}

bool dh_w_counted_alike(const struct dh_w_counted *a, const struct dh_w_counted *b)
{
    struct dh_w_range x, y;
    if (dh_w_counted_range(a, &x) && dh_w_counted_range(b, &y))
        return x.least == y.least && x.greatest == y.greatest && (x.step == y.step || x.least == x.greatest);
    bool same_place = dh_w_address_known(&a->place) && dh_w_address_equal(&a->place, &b->place);
    bool same_bound = same_value(a->bound, b->bound, a->by, same_place) || same_constant(a->bound, b->bound);
    return same_bound && same_constant(a->start, b->start) && a->step == b->step && a->by == b->by &&
           a->at_end == b->at_end;
}

bool dh_w_counted_distinct(const struct dh_w_counted *c, u32 bits)
{
    u32 width = LLVMGetIntTypeWidth(LLVMTypeOf(c->index));
    struct dh_w_range range;
    if (dh_w_counted_range(c, &range))
        return bits >= 32 || range.greatest < 1 << (bits - 1);
    if (LLVMConstIntGetSExtValue(c->start) < 0 || c->step < 0)
        return false;
    /* Without a constant: as far as numbers with a sign go, or longer than any program runs. */
    for (unsigned i = 0; i < LLVMCountIncoming(c->index); i++) {
        LLVMValueRef next = LLVMGetIncomingValue(c->index, i);
        if (LLVMIsAInstruction(next) != NULL && !LLVMGetNSW(next) && width < 64)
            return false;
    }
    return bits >= width;
}
