/*
 * facts.c - values that branches test, and what follows from an outcome.
 *
 * Only LEAVES are recorded: values that a condition is computed from and that are not comparisons or logic
 * operations themselves, and comparisons other than for equality. Leaves connected by a phi form a group; a
 * group matters if one test of it can decide another: it is tested twice, or a phi in it has a constant among
 * its sources.
 */
#include "ir/whole/facts.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 5, MAX_CELLS = 400 * 1000 };

struct leaf {
    LLVMValueRef value;
    u32 group; /* another leaf of the same group, or itself */
    u32 tests;
    u32 block; /* that computes it */
    bool phi;
};

struct dh_w_facts {
    struct dh_w_table leaf_of, block_of; /* by LLVM's references */
    struct leaf *leaves;
    LLVMBasicBlockRef *blocks;
    size_t n_leaves, cap_leaves, n_blocks;
};

static u32 group_of(const struct dh_w_facts *f, u32 leaf)
{
    while (f->leaves[leaf].group != leaf)
        leaf = f->leaves[leaf].group;
    return leaf;
}

static bool is_number(LLVMValueRef v)
{
    LLVMTypeRef t = LLVMTypeOf(v);
    LLVMTypeKind kind = LLVMGetTypeKind(t);
    return kind == LLVMPointerTypeKind || (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) <= 64);
}

static bool is_flag(LLVMValueRef v)
{
    LLVMTypeRef t = LLVMTypeOf(v);
    return LLVMGetTypeKind(t) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) == 1;
}

static bool constant(LLVMValueRef v, int64_t *ret)
{
    if (LLVMIsAConstantInt(v) != NULL && is_number(v)) {
        *ret = LLVMConstIntGetSExtValue(v);
        return true;
    }
    *ret = 0;
    return LLVMIsAConstantPointerNull(v) != NULL;
}

static int opcode(LLVMValueRef v)
{
    return LLVMIsAInstruction(v) == NULL ? 0 : (int)LLVMGetInstructionOpcode(v);
}

static LLVMValueRef operand(LLVMValueRef v, unsigned i)
{
    return LLVMGetOperand(v, i);
}

/* Whether it compares a value with a constant, for order. */
static bool is_order(LLVMValueRef v, int64_t *ret_k)
{
    if (opcode(v) != LLVMICmp || !constant(operand(v, 1), ret_k))
        return false;
    LLVMIntPredicate p = LLVMGetICmpPredicate(v);
    return p != LLVMIntEQ && p != LLVMIntNE;
}

/* Equal comparisons are one leaf: the compiler makes a new one for each loop. */
static struct dh_w_key key_of(LLVMValueRef v)
{
    int64_t k;
    if (is_order(v, &k))
        return DH_W_KEY((u64)(uptr)operand(v, 0), (u64)k, LLVMGetICmpPredicate(v), 1);
    return DH_W_KEY((u64)(uptr)v);
}

static u32 leaf_of(const struct dh_w_facts *f, LLVMValueRef v)
{
    return dh_w_table_get(&f->leaf_of, key_of(v));
}

/* `c ? a : false` and `c ? true : a`, which is how the compiler writes && and ||. */
static bool is_choice(LLVMValueRef v, bool *ret_both)
{
    int64_t k;
    if (opcode(v) != LLVMSelect || !is_flag(v))
        return false;
    *ret_both = constant(operand(v, 2), &k) && k == 0;
    return *ret_both || (constant(operand(v, 1), &k) && k != 0);
}

/* ---- finding the leaves ---- */

static void add_leaf(struct dh_w_facts *f, LLVMValueRef v, u32 tests)
{
    int64_t k;
    if (!is_number(v) || constant(v, &k) || (LLVMIsAInstruction(v) == NULL && LLVMIsAArgument(v) == NULL))
        return;
    u32 n = leaf_of(f, v);
    if (n != DH_W_TABLE_NONE) {
        f->leaves[n].tests += tests;
        return;
    }
    n = (u32)f->n_leaves;
    dh_w_table_put(&f->leaf_of, key_of(v), n);
    LLVMValueRef on = is_order(v, &k) ? operand(v, 0) : v; /* what must be computed anew for it to change */
    f->leaves = dh_util_grow(f->leaves, f->n_leaves, &f->cap_leaves, sizeof *f->leaves);
    struct leaf l = {
        .value = v, .group = n, .tests = tests, .block = DH_W_NONE, .phi = LLVMIsAPHINode(on) != NULL};
    if (LLVMIsAInstruction(on) != NULL)
        l.block = dh_w_table_get(&f->block_of, DH_W_KEY((u64)(uptr)LLVMGetInstructionParent(on)));
    f->leaves[f->n_leaves++] = l;
}

/* The leaves of a value that is tested so many times. */
static void add_leaves(struct dh_w_facts *f, LLVMValueRef v, u32 tests, int depth)
{
    int64_t k;
    bool both;
    switch (depth == 0 ? 0 : opcode(v)) {
    case LLVMICmp:
        if (constant(operand(v, 1), &k))
            add_leaves(f, operand(v, 0), tests, depth - 1);
        if (!constant(operand(v, 1), &k) || is_order(v, &k))
            add_leaf(f, v, tests);
        break;
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
        if (!is_flag(v)) {
            add_leaf(f, v, tests);
            break;
        }
        add_leaves(f, operand(v, 0), tests, depth - 1);
        add_leaves(f, operand(v, 1), tests, depth - 1);
        break;
    case LLVMFreeze:
    case LLVMZExt:
    case LLVMTrunc:
        add_leaves(f, operand(v, 0), tests, depth - 1);
        break;
    case LLVMSelect:
        if (is_choice(v, &both)) {
            add_leaves(f, operand(v, 0), tests, depth - 1);
            add_leaves(f, operand(v, both ? 1 : 2), tests, depth - 1);
            break;
        }
        add_leaf(f, v, tests);
        break;
    default:
        add_leaf(f, v, tests);
        break;
    }
}

static LLVMValueRef condition(LLVMBasicBlockRef bb)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(bb);
    if (LLVMIsABranchInst(end) != NULL)
        return LLVMIsConditional(end) ? LLVMGetCondition(end) : NULL;
    return LLVMIsASwitchInst(end) != NULL ? operand(end, 0) : NULL;
}

/* The sources of a phi are of its group. A constant among them decides a test as another test would. */
static void connect(struct dh_w_facts *f, u32 leaf)
{
    LLVMValueRef phi = f->leaves[leaf].value;
    int64_t k;
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMValueRef from = LLVMGetIncomingValue(phi, i);
        if (constant(from, &k)) {
            f->leaves[group_of(f, leaf)].tests++;
            continue;
        }
        add_leaves(f, from, 0, MAX_DEPTH);
        u32 source = leaf_of(f, from);
        if (source == DH_W_TABLE_NONE)
            continue;
        u32 a = group_of(f, leaf), b = group_of(f, source);
        if (a != b) {
            f->leaves[a].group = b;
            f->leaves[b].tests += f->leaves[a].tests;
        }
    }
}

static void keep_useful(struct dh_w_facts *f)
{
    size_t n = 0;
    bool *useful = calloc(f->n_leaves + 1, 1);
    if (useful == NULL)
        dh_util_no_memory();
    for (u32 i = 0; i < f->n_leaves; i++)
        useful[i] = f->leaves[group_of(f, i)].tests >= 2;
    dh_w_table_done(&f->leaf_of);
    for (u32 i = 0; i < f->n_leaves; i++)
        if (useful[i]) {
            dh_w_table_put(&f->leaf_of, key_of(f->leaves[i].value), (u32)n);
            f->leaves[n++] = f->leaves[i];
        }
    f->n_leaves = n;
    free(useful);
}

struct dh_w_facts *dh_w_facts_new(const struct dh_w_fn *fn)
{
    struct dh_w_facts *f = calloc(1, sizeof *f);
    if (f == NULL || (f->blocks = calloc(fn->n_blocks + 1, sizeof(LLVMBasicBlockRef))) == NULL)
        dh_util_no_memory();
    LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn->value);
    for (; bb != NULL; bb = LLVMGetNextBasicBlock(bb)) {
        dh_w_table_put(&f->block_of, DH_W_KEY((u64)(uptr)bb), (u32)f->n_blocks);
        f->blocks[f->n_blocks++] = bb;
    }
    for (size_t b = 0; b < f->n_blocks; b++)
        if (condition(f->blocks[b]) != NULL)
            add_leaves(f, condition(f->blocks[b]), 1, MAX_DEPTH);
    for (u32 i = 0; i < f->n_leaves; i++) /* more are added on the way */
        if (LLVMIsAPHINode(f->leaves[i].value) != NULL)
            connect(f, i);
    keep_useful(f);
    if (f->n_leaves > 0 && f->n_leaves * f->n_blocks <= MAX_CELLS)
        return f;
    dh_w_facts_free(f);
    return NULL;
}

void dh_w_facts_free(struct dh_w_facts *f)
{
    if (f == NULL)
        return;
    dh_w_table_done(&f->leaf_of);
    dh_w_table_done(&f->block_of);
    free(f->leaves);
    free(f->blocks);
    free(f);
}

size_t dh_w_facts_count(const struct dh_w_facts *f)
{
    return f->n_leaves;
}

/* ---- along the ways ---- */

static const struct dh_w_fact nothing;

static struct dh_w_fact is(int64_t value)
{
    return (struct dh_w_fact){.value = value, .kind = DH_W_FACT_IS};
}

static struct dh_w_fact negated(struct dh_w_fact x)
{
    return x.kind == DH_W_FACT_IS ? is(x.value == 0 ? -1 : 0) : nothing;
}

static struct dh_w_fact compare(LLVMIntPredicate p, struct dh_w_fact x, int64_t k)
{
    bool eq = p == LLVMIntEQ, ne = p == LLVMIntNE;
    if (x.kind == DH_W_FACT_IS_NOT && x.value == k && (eq || ne))
        return is(eq ? 0 : -1);
    if (x.kind != DH_W_FACT_IS)
        return nothing;
    int64_t v = x.value;
    switch (p) {
    case LLVMIntEQ:
        return is(-(v == k));
    case LLVMIntNE:
        return is(-(v != k));
    case LLVMIntSGT:
        return is(-(v > k));
    case LLVMIntSGE:
        return is(-(v >= k));
    case LLVMIntSLT:
        return is(-(v < k));
    case LLVMIntSLE:
        return is(-(v <= k));
    default:
        return nothing;
    }
}

/* What is known of a value. Flags are 0 or -1, as a number of one bit with a sign is. */
static struct dh_w_fact value_of(const struct dh_w_facts *f, const struct dh_w_fact *known, LLVMValueRef v,
                                 int depth)
{
    int64_t k;
    if (constant(v, &k))
        return is(k);
    u32 leaf = leaf_of(f, v);
    if (leaf != DH_W_TABLE_NONE && (known[leaf].kind != DH_W_FACT_NONE || opcode(v) != LLVMICmp))
        return known[leaf];
    if (depth == 0)
        return nothing;
    struct dh_w_fact a, b;
    bool both;
    switch (opcode(v)) {
    case LLVMICmp:
        if (!constant(operand(v, 1), &k))
            return nothing;
        return compare(LLVMGetICmpPredicate(v), value_of(f, known, operand(v, 0), depth - 1), k);
    case LLVMXor:
        if (!is_flag(v) || !constant(operand(v, 1), &k) || k == 0)
            return nothing;
        return negated(value_of(f, known, operand(v, 0), depth - 1));
    case LLVMFreeze:
        return value_of(f, known, operand(v, 0), depth - 1);
    case LLVMZExt:
        a = value_of(f, known, operand(v, 0), depth - 1);
        return is_flag(operand(v, 0)) && a.kind == DH_W_FACT_IS ? is(a.value != 0) : nothing;
    case LLVMTrunc:
        a = value_of(f, known, operand(v, 0), depth - 1);
        return is_flag(v) && a.kind == DH_W_FACT_IS ? is(-(a.value & 1)) : nothing;
    case LLVMAnd:
    case LLVMOr:
        if (!is_flag(v))
            return nothing;
        both = opcode(v) == LLVMAnd;
        a = value_of(f, known, operand(v, 0), depth - 1);
        b = value_of(f, known, operand(v, 1), depth - 1);
        break;
    case LLVMSelect:
        if (!is_choice(v, &both))
            return nothing;
        a = value_of(f, known, operand(v, 0), depth - 1);
        b = value_of(f, known, operand(v, both ? 1 : 2), depth - 1);
        break;
    default:
        return nothing;
    }
    /* One side decides, or both are known. */
    bool a_is = a.kind == DH_W_FACT_IS, b_is = b.kind == DH_W_FACT_IS;
    if ((a_is && (a.value == 0) == both) || (b_is && (b.value == 0) == both))
        return is(both ? 0 : -1);
    return a_is && b_is ? is(both ? -1 : 0) : nothing;
}

/* v is, or is not, k: what follows for the leaves. */
static void learn(const struct dh_w_facts *f, struct dh_w_fact *known, LLVMValueRef v, struct dh_w_fact fact,
                  int depth)
{
    u32 leaf = leaf_of(f, v);
    if (leaf != DH_W_TABLE_NONE) {
        if (is_flag(v) && fact.kind == DH_W_FACT_IS_NOT)
            fact = is(fact.value == 0 ? -1 : 0);
        if (fact.kind == DH_W_FACT_IS || known[leaf].kind == DH_W_FACT_NONE)
            known[leaf] = fact;
        return;
    }
    if (depth == 0)
        return;
    int64_t k;
    bool both, flag = is_flag(v), truth = fact.kind == DH_W_FACT_IS ? fact.value != 0 : fact.value == 0;
    switch (opcode(v)) {
    case LLVMICmp: {
        LLVMIntPredicate p = LLVMGetICmpPredicate(v);
        if (constant(operand(v, 1), &k) && (p == LLVMIntEQ || p == LLVMIntNE))
            learn(f, known, operand(v, 0),
                  (struct dh_w_fact){.value = k,
                                     .kind = (p == LLVMIntEQ) == truth ? DH_W_FACT_IS : DH_W_FACT_IS_NOT},
                  depth - 1);
        return;
    }
    case LLVMFreeze:
        learn(f, known, operand(v, 0), fact, depth - 1);
        return;
    case LLVMZExt:
        if (is_flag(operand(v, 0)) && (fact.value == 0 || fact.kind == DH_W_FACT_IS))
            learn(f, known, operand(v, 0), is(truth ? -1 : 0), depth - 1);
        return;
    case LLVMTrunc: /* of what has a bit set that it is not 0 */
        if (truth)
            learn(f, known, operand(v, 0), (struct dh_w_fact){.value = 0, .kind = DH_W_FACT_IS_NOT},
                  depth - 1);
        return;
    case LLVMXor:
        if (flag && constant(operand(v, 1), &k) && k != 0)
            learn(f, known, operand(v, 0), is(truth ? 0 : -1), depth - 1);
        return;
    case LLVMAnd:
    case LLVMOr:
        both = opcode(v) == LLVMAnd;
        if (flag && both == truth) {
            learn(f, known, operand(v, 0), fact, depth - 1);
            learn(f, known, operand(v, 1), fact, depth - 1);
        }
        return;
    case LLVMSelect:
        if (is_choice(v, &both) && both == truth) {
            learn(f, known, operand(v, 0), fact, depth - 1);
            learn(f, known, operand(v, both ? 1 : 2), fact, depth - 1);
        }
        return;
    default:
        return;
    }
}

void dh_w_facts_enter(const struct dh_w_facts *f, struct dh_w_fact *known, u32 block)
{
    for (size_t i = 0; i < f->n_leaves; i++)
        if (f->leaves[i].block == block && !f->leaves[i].phi)
            known[i] = nothing;
}

/* A switch: its first successor is the default, the others are cases. */
static bool along_switch(const struct dh_w_facts *f, struct dh_w_fact *known, LLVMValueRef end, u32 i)
{
    LLVMValueRef v = operand(end, 0);
    struct dh_w_fact x = value_of(f, known, v, MAX_DEPTH);
    unsigned n = LLVMGetNumSuccessors(end);
    int64_t k;
    for (unsigned s = 1; i == 0 && s < n; s++)
        if (constant(operand(end, 2 * s), &k) && x.kind == DH_W_FACT_IS && x.value == k)
            return false;
    if (i == 0 || !constant(operand(end, 2 * i), &k))
        return true;
    if (x.kind == DH_W_FACT_NONE || (x.kind == DH_W_FACT_IS) == (x.value == k)) {
        learn(f, known, v, is(k), MAX_DEPTH);
        return true;
    }
    return false;
}

bool dh_w_facts_along(const struct dh_w_facts *f, struct dh_w_fact *known, u32 block, u32 i)
{
    LLVMBasicBlockRef from = f->blocks[block];
    LLVMValueRef end = LLVMGetBasicBlockTerminator(from), cond = condition(from);
    LLVMBasicBlockRef to = LLVMGetSuccessor(end, i);
    if (cond != NULL && LLVMIsABranchInst(end) != NULL) {
        struct dh_w_fact x = value_of(f, known, cond, MAX_DEPTH);
        bool truth = i == 0; /* a branch goes to its first successor if the condition holds */
        if (x.kind == DH_W_FACT_IS && (x.value != 0) != truth)
            return false;
        if (LLVMGetSuccessor(end, 0) != LLVMGetSuccessor(end, 1))
            learn(f, known, cond, is(truth ? -1 : 0), MAX_DEPTH);
    } else if (cond != NULL && !along_switch(f, known, end, i)) {
        return false;
    }
    /* All phis at once: one may be the source of another. */
    u32 at = dh_w_table_get(&f->block_of, DH_W_KEY((u64)(uptr)to));
    struct dh_w_fact *next = calloc(f->n_leaves + 1, sizeof *next);
    if (next == NULL)
        dh_util_no_memory();
    memcpy(next, known, f->n_leaves * sizeof *next);
    for (size_t l = 0; l < f->n_leaves; l++) {
        if (f->leaves[l].block != at || !f->leaves[l].phi)
            continue;
        next[l] = nothing;
        for (unsigned k = 0;
             LLVMIsAPHINode(f->leaves[l].value) != NULL && k < LLVMCountIncoming(f->leaves[l].value); k++)
            if (LLVMGetIncomingBlock(f->leaves[l].value, k) == from)
                next[l] = value_of(f, known, LLVMGetIncomingValue(f->leaves[l].value, k), MAX_DEPTH);
    }
    memcpy(known, next, f->n_leaves * sizeof *next);
    free(next);
    return true;
}

/* What is true of both. */
static struct dh_w_fact common(struct dh_w_fact a, struct dh_w_fact b)
{
    if (a.kind == b.kind && a.value == b.value)
        return a;
    if (a.kind == DH_W_FACT_IS_NOT)
        return b.kind == DH_W_FACT_IS && b.value != a.value ? a : nothing;
    if (a.kind != DH_W_FACT_IS || b.kind == DH_W_FACT_NONE)
        return nothing;
    if (b.kind == DH_W_FACT_IS_NOT)
        return a.value != b.value ? b : nothing;
    return a.value != 0 && b.value != 0 ? (struct dh_w_fact){.value = 0, .kind = DH_W_FACT_IS_NOT} : nothing;
}

bool dh_w_facts_differ(size_t n, const struct dh_w_fact *a, const struct dh_w_fact *b)
{
    for (size_t i = 0; i < n; i++)
        if (a[i].kind == DH_W_FACT_IS && b[i].kind == DH_W_FACT_IS && a[i].value != b[i].value)
            return true;
    return false;
}

bool dh_w_facts_meet(size_t n, struct dh_w_fact *to, const struct dh_w_fact *from)
{
    bool changed = false;
    for (size_t i = 0; i < n; i++) {
        struct dh_w_fact both = common(to[i], from[i]);
        changed |= both.kind != to[i].kind || both.value != to[i].value;
        to[i] = both;
    }
    return changed;
}
