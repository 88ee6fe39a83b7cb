/*
 * count.c - loops that create threads and loops that join them: whether all are joined, for sure.
 *
 *     for (i = 0; i < n; i++) create(&t[i], ...);
 *     for (i = 0; i < n; i++) join(t[i]);
 *
 * Both count from 0 by 1 to the same n, which is one value in a register or a constant; each round of the
 * second loop passes the join; nothing else writes to t; and the first loop is not begun again before the
 * second one has run to its end. Then nobody of those created is left when the second loop ends by its count.
 * The instance must be one that runs once, so that the threads of another call cannot be confused with these.
 */
#include <stdlib.h>

#include "ir/whole/flow.h"
#include "ir/whole/join.h"
#include "ir/whole/read.h"

struct counted {
    u32 loop, header;
    LLVMValueRef index, bound; /* the phi, and what it is compared with */
    bool at_end;               /* compared after it has grown */
    LLVMIntPredicate by;       /* while ... */
    u32 block, succ;           /* the way out */
};

struct shape {
    const struct dh_w_fn *fn;
    LLVMBasicBlockRef *blocks;
    struct dh_w_table block_of;
};

static void shape_init(struct shape *s, const struct dh_w_fn *fn)
{
    *s = (struct shape){.fn = fn, .blocks = calloc(fn->n_blocks + 1, sizeof *s->blocks)};
    if (s->blocks == NULL)
        dh_util_no_memory();
    u32 n = 0;
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn->value); bb != NULL;
         bb = LLVMGetNextBasicBlock(bb)) {
        dh_w_table_put(&s->block_of, DH_W_KEY((u64)(uptr)bb), n);
        s->blocks[n++] = bb;
    }
}

static void shape_done(struct shape *s)
{
    free(s->blocks);
    dh_w_table_done(&s->block_of);
}

static u32 number(const struct shape *s, LLVMBasicBlockRef bb)
{
    return dh_w_table_get(&s->block_of, DH_W_KEY((u64)(uptr)bb));
}

static u32 block_of(const struct dh_w_fn *fn, u32 op)
{
    u32 b = 0;
    while (op >= fn->blocks[b].end || op < fn->blocks[b].first)
        b++;
    return b;
}

/* Whether a way leads from the start of block a to that of block b, neither through block `closed` nor by the
 * way out of a loop that is left by its count. DH_W_NONE, NULL: there is no such restriction. */
static bool reaches(const struct dh_w_fn *fn, u32 a, u32 b, u32 closed, const struct counted *out)
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

/* i in i + 1. */
static bool is_next(LLVMValueRef v, LLVMValueRef index)
{
    return LLVMIsAInstruction(v) != NULL && LLVMGetInstructionOpcode(v) == LLVMAdd &&
           LLVMGetOperand(v, 0) == index && LLVMIsAConstantInt(LLVMGetOperand(v, 1)) != NULL &&
           LLVMConstIntGetSExtValue(LLVMGetOperand(v, 1)) == 1;
}

/* A phi of the header that begins at 0 and grows by 1. */
static bool counts(const struct shape *s, const struct counted *c, LLVMValueRef phi)
{
    unsigned from_outside = 0;
    if (LLVMIsAPHINode(phi) == NULL || LLVMGetTypeKind(LLVMTypeOf(phi)) != LLVMIntegerTypeKind)
        return false;
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMValueRef v = LLVMGetIncomingValue(phi, i);
        if (dh_w_loop_has(s->fn, c->loop, number(s, LLVMGetIncomingBlock(phi, i)))) {
            if (!is_next(v, phi))
                return false;
        } else {
            from_outside++;
            if (LLVMIsAConstantInt(v) == NULL || LLVMConstIntGetZExtValue(v) != 0)
                return false;
        }
    }
    return from_outside > 0;
}

static bool is_invariant(const struct shape *s, u32 loop, LLVMValueRef v)
{
    return LLVMIsAInstruction(v) == NULL ||
           !dh_w_loop_has(s->fn, loop, number(s, LLVMGetInstructionParent(v)));
}

/* Block b leaves the loop when the count is reached: at its end (i + 1 against n), or at its start (i). */
static bool ends_by_count(const struct shape *s, struct counted *c, u32 b)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(s->blocks[b]);
    if (LLVMIsABranchInst(end) == NULL || !LLVMIsConditional(end) ||
        LLVMIsAICmpInst(LLVMGetCondition(end)) == NULL)
        return false;
    LLVMValueRef cmp = LLVMGetCondition(end), left = LLVMGetOperand(cmp, 0), right = LLVMGetOperand(cmp, 1);
    LLVMIntPredicate p = LLVMGetICmpPredicate(cmp);
    bool stays_if = p == LLVMIntNE || p == LLVMIntSLT || p == LLVMIntULT;
    if (!stays_if && p != LLVMIntEQ)
        return false;
    LLVMValueRef index = is_next(left, LLVMIsAInstruction(left) ? LLVMGetOperand(left, 0) : left)
                             ? LLVMGetOperand(left, 0)
                             : left;
    bool at_end = index != left;
    u32 out = stays_if ? 1 : 0; /* a branch goes to its first successor if the condition holds */
    bool stays = dh_w_loop_has(s->fn, c->loop, s->fn->succ[s->fn->blocks[b].succ + 1 - out]);
    bool leaves = !dh_w_loop_has(s->fn, c->loop, s->fn->succ[s->fn->blocks[b].succ + out]);
    if (!stays || !leaves || !counts(s, c, index) || !is_invariant(s, c->loop, right) ||
        (!at_end && b != c->header))
        return false;
    c->index = index;
    c->bound = right;
    c->at_end = at_end;
    c->by = stays_if ? p : LLVMIntNE;
    c->block = b;
    c->succ = out;
    return true;
}

static bool find_count(const struct shape *s, u32 loop, struct counted *ret)
{
    const struct dh_w_fn *fn = s->fn;
    *ret = (struct counted){.loop = loop, .header = DH_W_NONE};
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
        if (fn->blocks[b].loop == loop && ends_by_count(s, ret, b))
            return true;
    return false;
}

static LLVMValueRef plain(LLVMValueRef v)
{
    while (LLVMIsASExtInst(v) != NULL || LLVMIsAZExtInst(v) != NULL)
        v = LLVMGetOperand(v, 0);
    return v;
}

static bool is_same_bound(LLVMValueRef a, LLVMValueRef b)
{
    a = plain(a);
    b = plain(b);
    return a == b || (LLVMIsAConstantInt(a) != NULL && LLVMIsAConstantInt(b) != NULL &&
                      LLVMConstIntGetZExtValue(a) == LLVMConstIntGetZExtValue(b));
}

/* t in &t[index], an element of the size of a handle. */
static LLVMValueRef array_of(struct dh_w *w, LLVMValueRef address, LLVMValueRef index)
{
    if (LLVMIsAGetElementPtrInst(address) == NULL)
        return NULL;
    int n = LLVMGetNumOperands(address);
    LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
    for (int i = 1; i < n - 1; i++) {
        LLVMValueRef k = LLVMGetOperand(address, (unsigned)i);
        if (i != 1 || n != 3 || LLVMIsAConstantInt(k) == NULL || LLVMConstIntGetZExtValue(k) != 0)
            return NULL;
    }
    if (n == 3 && LLVMGetTypeKind(type) != LLVMArrayTypeKind)
        return NULL;
    if (n == 3)
        type = LLVMGetElementType(type);
    if (dh_w_size(w, type) != sizeof(u64) || plain(LLVMGetOperand(address, (unsigned)n - 1)) != index)
        return NULL;
    return LLVMGetOperand(address, 0);
}

/* Whether only this op writes to where the address points. */
static bool is_only_writer(struct dh_w *w, u32 inst, const struct dh_w_op *fork)
{
    u32 n = (u32)(fork - w->fns[w->insts[inst].fn].ops);
    dh_pts_node at = dh_w_node(w, inst, fork->a);
    if (at == DH_PTS_NONE)
        return false;
    for (u32 i = 0; i < w->n_insts; i++) {
        const struct dh_w_fn *fn = &w->fns[w->insts[i].fn];
        for (u32 o = 0; o < fn->n_ops; o++) {
            const struct dh_w_op *op = &fn->ops[o];
            bool writes = (op->access != DH_W_NO_ACCESS && dh_pairs_access_writes(op->access)) ||
                          op->kind == DH_W_FORK || op->kind == DH_W_MEMCPY || op->kind == DH_W_STORE;
            dh_pts_node to = writes && (i != inst || o != n) ? dh_w_node(w, i, op->a) : DH_PTS_NONE;
            if (to != DH_PTS_NONE && op->access != DH_PAIRS_FREE &&
                dh_pts_may_overlap(w->pts, at, sizeof(u64), to, op->length, NULL))
                return false;
        }
    }
    return true;
}

/* Whether the instance runs once in the life of the program. */
static bool runs_once(const struct dh_w_flow *f, u32 inst)
{
    const struct dh_w *w = f->w;
    for (u32 steps = 0; steps < 32; steps++) {
        u32 root = w->insts[inst].root;
        if (w->roots[root].inst == inst)
            return !f->is_called[inst] && root == 0 && w->main_fn != DH_W_NONE;
        u32 caller = DH_W_NONE, op = 0, n = 0;
        for (u32 i = 0; i < w->n_insts; i++)
            for (size_t e = 0; e < w->insts[i].n_edges; e++)
                if (w->insts[i].edges[e].inst == inst) {
                    caller = i;
                    op = w->insts[i].edges[e].op;
                    n++;
                }
        if (n != 1 ||
            w->fns[w->insts[caller].fn].blocks[block_of(&w->fns[w->insts[caller].fn], op)].loop != DH_W_NONE)
            return false;
        inst = caller;
    }
    return false;
}

/* The one fork of a root, if it is this instance's own and stands for nothing else. */
static u32 only_fork(const struct dh_w *w, u32 inst, u32 root)
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

static bool matches(struct dh_w *w, const struct shape *s, u32 inst, u32 fork, u32 join, struct counted *ret)
{
    const struct dh_w_fn *fn = s->fn;
    u32 fb = block_of(fn, fork), jb = block_of(fn, join);
    struct counted first;
    dh_w_value handle = fn->ops[join].a;
    u32 load = handle < DH_W_CONSTANT ? fn->def[handle] : DH_W_NONE;
    if (fn->ops[fork].kind != DH_W_FORK || load >= fn->n_ops || fn->ops[load].kind != DH_W_LOAD ||
        LLVMIsALoadInst(fn->ops[load].inst) == NULL || fn->blocks[fb].loop == DH_W_NONE ||
        fn->blocks[fb].loop == fn->blocks[jb].loop || !find_count(s, fn->blocks[fb].loop, &first) ||
        !find_count(s, fn->blocks[jb].loop, ret) || !is_same_bound(first.bound, ret->bound) ||
        first.by != ret->by || first.at_end != ret->at_end)
        return false;
    LLVMValueRef t = array_of(w, LLVMGetOperand(fn->ops[fork].inst, 0), first.index);
    if (t == NULL || t != array_of(w, LLVMGetOperand(fn->ops[load].inst, 0), ret->index) ||
        !is_only_writer(w, inst, &fn->ops[fork]))
        return false;
    /* No round without the join. */
    bool all = jb == ret->header || jb == ret->block || !reaches(fn, ret->header, ret->block, jb, NULL);
    /* No second beginning of the first loop without the second loop's end. */
    for (u32 b = 0; b < fn->n_blocks && all; b++)
        for (u32 i = 0; i < fn->blocks[b].succs; i++) {
            u32 to = fn->succ[fn->blocks[b].succ + i];
            if (dh_w_loop_has(fn, first.loop, b) && !dh_w_loop_has(fn, first.loop, to))
                all &= !reaches(fn, to, first.header, DH_W_NONE, ret);
        }
    return all;
}

u64 dh_w_join_counted(struct dh_w_flow *f, u32 inst, u32 join, u64 roots, u32 *ret_block, u32 *ret_succ)
{
    struct dh_w *w = f->w;
    struct shape s;
    u64 sure = 0;
    if (!runs_once(f, inst))
        return 0;
    shape_init(&s, &w->fns[w->insts[inst].fn]);
    for (u32 r = 0; r < w->n_roots; r++) {
        u32 fork = roots >> r & 1 ? only_fork(w, inst, r) : DH_W_NONE;
        struct counted c;
        if (fork == DH_W_NONE || w->roots[r].many || !matches(w, &s, inst, fork, join, &c))
            continue;
        sure |= f->ended[r][DH_W_SOUND];
        *ret_block = c.block;
        *ret_succ = c.succ;
    }
    shape_done(&s);
    return sure;
}
