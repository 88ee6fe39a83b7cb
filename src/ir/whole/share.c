/*
 * share.c - see share.h.
 *
 *     work[i].from = i * size / n; work[i].to = (i + 1) * size / n;
 *     for (k = w->from; k < w->to; k++) x[k]++;
 *
 * The beginning and end of a share are traced back to the creator, and written as a POLYNOMIAL over the index
 * of the loop that creates and values that stay the same until all are joined, perhaps divided by one of
 * these. If it begins at f(i), ends at f(i + 1), and f is linear in i, no two threads share an index: either
 * f does not fall, and f(i + 1) <= f(k) for all i < k, or it does not grow, and the share is empty. The last
 * one may end anywhere: no share begins behind it, or all others are empty.
 *
 * Signed numbers are computed without overflow, or the program is wrong; LLVM marks where that holds.
 * Unsigned ones are computed modulo 2^w. There f must be i * (x / n) with i < n: no product is larger than x.
 *
 *     for (k = i; k < size; k += n) x[k]++;
 *
 * With i < n, all k of a thread are i modulo n, and no other thread's.
 */
#include "ir/whole/share.h"

#include <stdlib.h>
#include <string.h>

#include "ir/whole/given.h"
#include "ir/whole/join.h"
#include "ir/whole/slot.h"

enum { MAX_LEAVES = 12, MAX_TERMS = 6, MAX_DEGREE = 3, MAX_DEPTH = 24, INDEX = 1 };

/* A value that all threads of the team have in common, or a quotient of two such; number 1 is the index. */
struct leaf {
    LLVMValueRef value; /* or, for what it holds, a global variable */
    u64 op, a, b;       /* LLVMOpcode: of the leaves a and b */
};
struct monomial {
    int64_t factor;
    u8 leaf[MAX_DEGREE + 5]; /* in order, then 0 */
};
struct polynomial {
    struct monomial term[MAX_TERMS]; /* in order, no factor is 0 */
    u32 terms;
    u32 by;       /* a leaf, or 0: the sum is divided by it */
    u32 bits;     /* that it fits in, with a sign */
    bool natural; /* not negative */
};

struct search {
    struct dh_w_teams *t;
    const struct dh_w_team *team;
    struct leaf leaf[MAX_LEAVES + 1];
    u32 leaves;
    u32 modulo; /* bits of numbers without a sign; 0: with one */
};

/* ---- polynomials ---- */

static void add_term(struct polynomial *p, const struct monomial *m, int64_t factor, bool *ok)
{
    u32 at = 0;
    int order = 1;
    while (at < p->terms && (order = memcmp(p->term[at].leaf, m->leaf, sizeof m->leaf)) < 0)
        at++;
    if (at < p->terms && order == 0) {
        *ok &= !__builtin_add_overflow(p->term[at].factor, factor, &p->term[at].factor);
        if (p->term[at].factor == 0) {
            memmove(&p->term[at], &p->term[at + 1], (p->terms - at - 1) * sizeof *m);
            p->terms--;
        }
        return;
    }
    if (p->terms == MAX_TERMS || factor == 0) {
        *ok &= factor == 0;
        return;
    }
    memmove(&p->term[at + 1], &p->term[at], (p->terms - at) * sizeof *m);
    p->term[at] = *m;
    p->term[at].factor = factor;
    p->terms++;
}

static bool add(struct polynomial *to, const struct polynomial *p, int64_t factor)
{
    bool ok = to->by == 0 && p->by == 0;
    for (u32 i = 0; i < p->terms; i++) {
        int64_t n;
        ok &= !__builtin_mul_overflow(p->term[i].factor, factor, &n);
        add_term(to, &p->term[i], ok ? n : 0, &ok);
    }
    return ok;
}

static bool multiply(const struct polynomial *a, const struct polynomial *b, struct polynomial *ret)
{
    bool ok = a->by == 0 && b->by == 0;
    *ret = (struct polynomial){.terms = 0};
    for (u32 i = 0; i < a->terms; i++)
        for (u32 k = 0; k < b->terms && ok; k++) {
            struct monomial m = a->term[i];
            u32 n = 0;
            while (n < MAX_DEGREE && m.leaf[n] != 0)
                n++;
            for (const u8 *l = b->term[k].leaf; *l != 0 && ok; l++) {
                ok = n < MAX_DEGREE;
                u32 at = n++;
                for (; at > 0 && ok && m.leaf[at - 1] > *l; at--)
                    m.leaf[at] = m.leaf[at - 1];
                if (ok)
                    m.leaf[at] = *l;
            }
            int64_t factor = 0;
            ok = ok && !__builtin_mul_overflow(a->term[i].factor, b->term[k].factor, &factor);
            add_term(ret, &m, ok ? factor : 0, &ok);
        }
    return ok;
}

static bool equal(const struct polynomial *a, const struct polynomial *b)
{
    return a->terms == b->terms && a->by == b->by &&
           memcmp(a->term, b->term, a->terms * sizeof a->term[0]) == 0;
}

/* The one leaf that it is; 0: it is something else. */
static u32 only_leaf(const struct polynomial *p)
{
    return p->terms == 1 && p->by == 0 && p->term[0].factor == 1 && p->term[0].leaf[1] == 0
               ? p->term[0].leaf[0]
               : 0;
}

static struct polynomial of_number(int64_t n)
{
    struct polynomial p = {.bits = 64, .natural = n >= 0};
    bool ok = true;
    add_term(&p, &(struct monomial){.factor = 0}, n, &ok);
    while (p.bits > 1 && n >= -(1ll << (p.bits - 2)) && n < 1ll << (p.bits - 2))
        p.bits--;
    return p;
}

/* f(i + 1), if f is linear in i. */
static bool next_of(const struct polynomial *f, struct polynomial *ret)
{
    bool ok = true;
    *ret = *f;
    for (u32 i = 0; i < f->terms && ok; i++) {
        struct monomial m = f->term[i];
        if (m.leaf[0] != INDEX) /* leaves are in order: the index comes first */
            continue;
        ok = m.leaf[1] != INDEX;
        memmove(m.leaf, m.leaf + 1, sizeof m.leaf - 1);
        m.leaf[sizeof m.leaf - 1] = 0;
        add_term(ret, &m, m.factor, &ok);
    }
    return ok;
}

/* ---- values ---- */

static const struct dh_w_fn *fn_of(const struct search *s, u32 inst)
{
    const struct dh_w *w = s->t->flow->w;
    return &w->fns[w->insts[inst].fn];
}

static u32 width_of(LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 64;
}

/* Whether the index is less than the bound, or equal, as numbers with a sign. */
static bool is_less(const struct dh_w_counted *c)
{
    return c->by == LLVMIntSLT || c->by == LLVMIntSLE;
}

static bool add_leaf(struct search *s, struct leaf leaf, u32 bits, struct polynomial *ret)
{
    u32 n = 1;
    while (n <= s->leaves && memcmp(&s->leaf[n], &leaf, sizeof leaf) != 0)
        n++;
    if (n > MAX_LEAVES)
        return false;
    s->leaves = n > s->leaves ? n : s->leaves;
    s->leaf[n] = leaf;
    const struct dh_w_counted *c = &s->team->created_by;
    /* In a round of the loop, its bound is not less than an index. */
    bool natural = n == INDEX || (leaf.value != NULL && leaf.value == c->bound && is_less(c));
    *ret = (struct polynomial){
        .term = {{.factor = 1, .leaf = {(u8)n}}}, .terms = 1, .bits = bits, .natural = natural};
    return true;
}

/* The bits that the index fits in, with a sign, in a round of the loop: it begins at 0 or more and grows, up
 * to a constant, or to a number that was made wider to be compared with it. */
static u32 bits_of_index(const struct dh_w_counted *c)
{
    struct dh_w_range range;
    u32 bits = width_of(c->index), fit = bits;
    if (dh_w_counted_range(c, &range))
        fit = of_number(range.greatest).bits;
    else if (is_less(c) && LLVMIsASExtInst(c->bound) != NULL)
        fit = width_of(LLVMGetOperand(c->bound, 0));
    return fit < bits ? fit : bits;
}

/* Whether a value of the creator is the same from the first creation on until all are joined. */
static bool is_kept(const struct search *s, LLVMValueRef v)
{
    const struct dh_w_fn *fn = fn_of(s, s->team->inst);
    return LLVMIsAArgument(v) != NULL ||
           (LLVMIsAInstruction(v) != NULL &&
            !dh_w_reaches(fn, s->team->created_by.header, dh_w_block_number(fn, LLVMGetInstructionParent(v)),
                          DH_W_NONE, dh_w_until_joined(s->team)));
}

static bool evaluate(struct search *s, u32 inst, LLVMValueRef v, u32 depth, struct polynomial *ret);

/* A number that is read from a variable that nothing writes from the first creation on until all are joined.
 */
static bool evaluate_variable(struct search *s, u32 inst, u32 op, struct polynomial *ret)
{
    struct dh_w_flow *f = s->t->flow;
    const struct dh_w_op *read = &fn_of(s, inst)->ops[op];
    LLVMValueRef global;
    int64_t off;
    if (LLVMGetVolatile(read->inst) || !dh_w_constant_place(f->w, read->a, &global, &off) || off != 0 ||
        LLVMGlobalGetValueType(global) != LLVMTypeOf(read->inst) ||
        dh_w_written_from(f, s->team->inst, s->team->created_by.header, dh_w_until_joined(s->team),
                          dh_w_node(f->w, inst, read->a), read->length, DH_W_NONE))
        return false;
    return add_leaf(s, (struct leaf){.value = global}, width_of(read->inst), ret);
}

static bool evaluate_read(struct search *s, u32 inst, LLVMValueRef v, u32 depth, struct polynomial *ret)
{
    const struct dh_w_fn *fn = fn_of(s, inst);
    u32 op = dh_w_reader_of(fn, v);
    if (op == DH_W_NONE)
        return false;
    if (inst == s->team->inst && is_kept(s, v))
        return add_leaf(s, (struct leaf){.value = v}, width_of(v), ret);
    LLVMValueRef given = dh_w_given_value(s->t, s->team, inst, op);
    return given != NULL ? evaluate(s, s->team->inst, given, depth, ret)
                         : evaluate_variable(s, inst, op, ret);
}

/* What a function was given, by its only caller or by who created the thread; NULL: it is not known. */
static LLVMValueRef argument(const struct search *s, u32 *inst, LLVMValueRef v)
{
    const struct dh_w *w = s->t->flow->w;
    LLVMValueRef call = NULL, fn = LLVMGetParamParent(v);
    u32 n = 0, first = 0;
    while (LLVMGetParam(fn, n) != v)
        n++;
    if (w->roots[w->insts[*inst].root].inst == *inst) {
        *inst = s->team->inst;
        call = fn_of(s, *inst)->ops[s->team->fork].inst;
        if (!dh_w_is_create(call) || n != 0)
            return NULL;
        first = LLVMGetNumArgOperands(call) - 1;
    } else if (s->t->callers[*inst].inst != DH_W_NONE) {
        struct dh_w_caller by = s->t->callers[*inst];
        *inst = by.inst;
        call = fn_of(s, *inst)->calls[fn_of(s, *inst)->ops[by.op].call].inst;
    }
    if (call == NULL || first + n >= LLVMGetNumArgOperands(call) ||
        LLVMTypeOf(LLVMGetOperand(call, first + n)) != LLVMTypeOf(v))
        return NULL;
    return LLVMGetOperand(call, first + n);
}

static u32 constant_or_leaf(struct search *s, LLVMValueRef v, const struct polynomial *p)
{
    struct polynomial leaf;
    if (LLVMIsAConstantInt(v) != NULL && add_leaf(s, (struct leaf){.value = v}, width_of(v), &leaf))
        return only_leaf(&leaf);
    return only_leaf(p);
}

/* A quotient of two leaves is one, if neither is the index; other quotients are not computed with. */
static bool divide(struct search *s, LLVMValueRef v, const struct polynomial *a, const struct polynomial *b,
                   struct polynomial *ret)
{
    u32 by = constant_or_leaf(s, LLVMGetOperand(v, 1), b),
        over = constant_or_leaf(s, LLVMGetOperand(v, 0), a);
    u32 op = LLVMGetInstructionOpcode(v);
    bool has_sign = op == LLVMSDiv;
    if (by <= INDEX || a->by != 0 || (has_sign != (s->modulo == 0) && !(a->natural && b->natural)))
        return false;
    if (over > INDEX)
        return add_leaf(s, (struct leaf){.op = op, .a = over, .b = by}, width_of(v), ret);
    *ret = *a;
    ret->by = by;
    ret->bits = width_of(v);
    ret->natural = false;
    return s->modulo == 0;
}

static bool compute(struct search *s, u32 inst, LLVMValueRef v, u32 depth, struct polynomial *ret)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(v);
    struct polynomial a, b;
    bool ok = false;
    if (!evaluate(s, inst, LLVMGetOperand(v, 0), depth, &a) ||
        !evaluate(s, inst, LLVMGetOperand(v, 1), depth, &b))
        return false;
    bool exact = op != LLVMSDiv && op != LLVMUDiv && LLVMGetNSW(v);
    bool natural = op != LLVMSub && a.natural && b.natural && exact;
    bool wraps = s->modulo != 0 ? width_of(v) != s->modulo && !natural : !exact;
    switch (op) {
    case LLVMAdd:
    case LLVMSub:
        *ret = a;
        ok = !wraps && add(ret, &b, op == LLVMAdd ? 1 : -1);
        break;
    case LLVMMul:
        ok = !wraps && multiply(&a, &b, ret);
        break;
    default:
        return divide(s, v, &a, &b, ret);
    }
    ret->bits = width_of(v);
    ret->natural = natural;
    return ok;
}

static bool convert(struct search *s, u32 inst, LLVMValueRef v, u32 depth, struct polynomial *ret)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(v);
    if (!evaluate(s, inst, LLVMGetOperand(v, 0), depth, ret))
        return false;
    if (op == LLVMTrunc || op == LLVMPtrToInt)
        return ret->bits <= width_of(v);
    if (op == LLVMZExt && !ret->natural && s->modulo == 0)
        return false;
    return op != LLVMSExt || ret->natural || s->modulo == 0;
}

static bool evaluate(struct search *s, u32 inst, LLVMValueRef v, u32 depth, struct polynomial *ret)
{
    if (depth == 0)
        return false;
    if (LLVMIsAConstantInt(v) != NULL || LLVMIsAConstantPointerNull(v) != NULL) {
        *ret = of_number(LLVMIsAConstantInt(v) != NULL ? LLVMConstIntGetSExtValue(v) : 0);
        return true;
    }
    if (LLVMIsAArgument(v) != NULL && inst != s->team->inst) {
        LLVMValueRef given = argument(s, &inst, v);
        return given != NULL && evaluate(s, inst, given, depth - 1, ret);
    }
    if (inst == s->team->inst && v == s->team->created_by.index)
        return add_leaf(s, s->leaf[INDEX], bits_of_index(&s->team->created_by), ret);
    switch (LLVMIsAInstruction(v) != NULL ? LLVMGetInstructionOpcode(v) : 0) {
    case LLVMSExt:
    case LLVMZExt:
    case LLVMTrunc:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
        if (convert(s, inst, v, depth - 1, ret))
            return true;
        break;
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMSDiv:
    case LLVMUDiv:
        if (compute(s, inst, v, depth - 1, ret))
            return true;
        break;
    case LLVMLoad:
        return evaluate_read(s, inst, v, depth - 1, ret);
    default:
        break;
    }
    return inst == s->team->inst && is_kept(s, v) && add_leaf(s, (struct leaf){.value = v}, width_of(v), ret);
}

/* ---- the last share ---- */

/* The branch that alone leads from a block to the one that a phi is in, and whether by its first way. */
static LLVMValueRef branch_to(const struct dh_w_fn *fn, u32 from, u32 phi, bool *ret_if)
{
    u32 at = from, to = phi, n = 0;
    if (fn->blocks[from].succs == 1) {
        to = from;
        for (u32 b = 0; b < fn->n_blocks; b++)
            for (u32 i = 0; i < fn->blocks[b].succs; i++)
                if (fn->succ[fn->blocks[b].succ + i] == from) {
                    at = b;
                    n++;
                }
        if (n != 1)
            return NULL;
    }
    LLVMValueRef end = LLVMGetBasicBlockTerminator(fn->blocks[at].value);
    if (LLVMIsABranchInst(end) == NULL || !LLVMIsConditional(end) ||
        fn->succ[fn->blocks[at].succ] == fn->succ[fn->blocks[at].succ + 1])
        return NULL;
    *ret_if = fn->succ[fn->blocks[at].succ] == to;
    return LLVMIsAICmpInst(LLVMGetCondition(end)) != NULL ? LLVMGetCondition(end) : NULL;
}

/* Whether a comparison, if it holds or does not, says that the index is the last one. */
static bool says_last(struct search *s, u32 inst, LLVMValueRef compare, bool holds)
{
    const struct dh_w_counted *c = &s->team->created_by;
    struct polynomial x, y, last;
    if (!evaluate(s, inst, LLVMGetOperand(compare, 0), MAX_DEPTH, &x) ||
        !evaluate(s, inst, LLVMGetOperand(compare, 1), MAX_DEPTH, &y) ||
        !evaluate(s, s->team->inst, c->bound, MAX_DEPTH, &last) || !add(&x, &y, -1))
        return false;
    /* index - last, which is never more than 0 */
    struct polynomial from_end = of_number(c->by == LLVMIntSLE || c->by == LLVMIntULE ? 0 : 1), index;
    if (!add_leaf(s, s->leaf[INDEX], 64, &index) || !add(&from_end, &index, 1) ||
        !add(&from_end, &last, -1) || !equal(&x, &from_end))
        return false;
    switch (LLVMGetICmpPredicate(compare)) {
    case LLVMIntEQ:
        return holds;
    case LLVMIntNE:
        return !holds;
    case LLVMIntSGE:
        return holds && s->modulo == 0 && is_less(c);
    case LLVMIntSLT:
        return !holds && s->modulo == 0 && is_less(c);
    default:
        return false;
    }
}

/* Where a number comes from that is not computed: what was stored by the creator, or given as an argument. */
static LLVMValueRef origin(const struct search *s, u32 *inst, LLVMValueRef v)
{
    for (u32 depth = 0; depth < MAX_DEPTH && v != NULL; depth++) {
        const struct dh_w_fn *fn = fn_of(s, *inst);
        if (LLVMIsASExtInst(v) != NULL || (LLVMIsAZExtInst(v) != NULL && s->modulo != 0)) {
            v = LLVMGetOperand(v, 0);
        } else if (LLVMIsAArgument(v) != NULL && *inst != s->team->inst) {
            v = argument(s, inst, v);
        } else if (LLVMIsALoadInst(v) != NULL && *inst != s->team->inst) {
            u32 op = dh_w_reader_of(fn, v);
            v = op != DH_W_NONE ? dh_w_given_value(s->t, s->team, *inst, op) : NULL;
            *inst = s->team->inst;
        } else {
            return v;
        }
    }
    return NULL;
}

/* Whether a share that begins at f(i) ends with that, or, if it is the last one, anywhere. shift: what is
 * added to the index. */
static bool ends_at(struct search *s, u32 inst, const struct dh_w_part *part, const struct polynomial *shift,
                    const struct polynomial *next)
{
    struct polynomial end, one = of_number(1);
    bool found = evaluate(s, inst, part->bound, MAX_DEPTH, &end), is_first;
    LLVMValueRef phi = found ? NULL : origin(s, &inst, part->bound);
    if (phi != NULL && LLVMIsAPHINode(phi) != NULL && LLVMCountIncoming(phi) == 2) {
        const struct dh_w_fn *fn = fn_of(s, inst);
        u32 to = dh_w_block_number(fn, LLVMGetInstructionParent(phi));
        for (unsigned i = 0; i < 2 && !found; i++) {
            LLVMValueRef branch =
                branch_to(fn, dh_w_block_number(fn, LLVMGetIncomingBlock(phi, i)), to, &is_first);
            found = branch != NULL && says_last(s, inst, branch, is_first) &&
                    evaluate(s, inst, LLVMGetIncomingValue(phi, 1 - i), MAX_DEPTH, &end);
        }
    }
    return found && (!part->closed || add(&end, &one, 1)) && (shift->terms == 0 || add(&end, shift, 1)) &&
           equal(&end, next);
}

/* ---- shares ---- */

/* i * (x / n), with an index that is less than n: then nothing is too large for a number without a sign. */
static bool is_fraction(struct search *s, const struct polynomial *f)
{
    const struct dh_w_counted *c = &s->team->created_by;
    struct polynomial n, by;
    u32 fraction = f->terms == 1 && f->by == 0 && f->term[0].factor == 1 && f->term[0].leaf[0] == INDEX &&
                           f->term[0].leaf[2] == 0
                       ? f->term[0].leaf[1]
                       : 0;
    if (fraction <= INDEX || (c->by != LLVMIntSLT && c->by != LLVMIntULT) ||
        !evaluate(s, s->team->inst, c->bound, MAX_DEPTH, &n) || only_leaf(&n) == 0)
        return false;
    const struct leaf *leaf = &s->leaf[fraction];
    if (leaf->op == LLVMUDiv)
        return leaf->b == only_leaf(&n);
    return leaf->value != NULL && LLVMIsAInstruction(leaf->value) != NULL &&
           LLVMGetInstructionOpcode(leaf->value) == LLVMUDiv &&
           evaluate(s, s->team->inst, LLVMGetOperand(leaf->value, 1), MAX_DEPTH, &by) && equal(&by, &n);
}

static u32 number_of(struct search *s, const struct polynomial *f, u32 step)
{
    struct {
        struct polynomial f;
        struct leaf leaf[MAX_LEAVES + 1];
        u64 root, step;
    } all;
    memset(&all, 0, sizeof all);
    memcpy(all.f.term, f->term, f->terms * sizeof f->term[0]);
    all.f.terms = f->terms;
    all.f.by = f->by;
    memcpy(all.leaf, s->leaf, (s->leaves + 1) * sizeof s->leaf[0]);
    all.root = (u64)(s->team - s->t->of);
    all.step = step;
    return dh_w_pool_add(&s->t->shares, &all, sizeof all);
}

/* Every n-th index from that of the thread on. */
static u32 every(struct search *s, u32 inst, const struct dh_w_part *part)
{
    const struct dh_w_counted *c = &s->team->created_by;
    struct polynomial from, step, n;
    if (s->modulo != 0 || !evaluate(s, inst, part->start, MAX_DEPTH, &from) || only_leaf(&from) != INDEX ||
        !evaluate(s, inst, part->step, MAX_DEPTH, &step) ||
        !evaluate(s, s->team->inst, c->bound, MAX_DEPTH, &n) || !equal(&step, &n) || c->by != LLVMIntSLT)
        return 0;
    s->leaves = INDEX;
    return number_of(s, &from, 1);
}

/* What is added to the index, if it is known. In numbers without a sign, the index must then be made of
 * nothing that wraps around. */
static bool find_shift(struct search *s, u32 inst, LLVMValueRef plus, LLVMValueRef begin,
                       const struct polynomial *first, struct polynomial *ret)
{
    struct polynomial p;
    *ret = (struct polynomial){.terms = 0};
    if (plus == NULL && begin == NULL)
        return true;
    return (s->modulo == 0 || (plus == NULL && first->terms == 0)) &&
           (plus == NULL || (evaluate(s, inst, plus, MAX_DEPTH, &p) && add(ret, &p, 1))) &&
           (begin == NULL || (evaluate(s, s->team->inst, begin, MAX_DEPTH, &p) && add(ret, &p, 1)));
}

u32 dh_w_share(struct dh_w_teams *t, u32 inst, const struct dh_w_part *part, LLVMValueRef plus,
               LLVMValueRef begin)
{
    const struct dh_w *w = t->flow->w;
    u32 root = w->insts[inst].root;
    struct search s = {.t = t, .team = &t->of[root]};
    const struct dh_w_counted *c = &s.team->created_by;
    if (root == 0 || !s.team->counts || c->at_end || c->step <= 0 || LLVMConstIntGetSExtValue(c->start) < 0 ||
        !dh_w_counted_distinct(c, width_of(c->index)) ||
        !dh_w_counted_in_body(c, dh_w_block_of(fn_of(&s, s.team->inst), s.team->fork)))
        return 0;
    s.modulo = part->is_unsigned ? width_of(part->start) : 0;
    s.leaf[INDEX].value = c->index;
    s.leaves = INDEX;
    if (part->step != NULL)
        return plus == NULL && begin == NULL ? every(&s, inst, part) : 0;
    struct polynomial first, next, shift;
    if (!evaluate(&s, inst, part->start, MAX_DEPTH, &first) ||
        !find_shift(&s, inst, plus, begin, &first, &shift) || (shift.terms > 0 && !add(&first, &shift, 1)) ||
        !next_of(&first, &next) || (s.modulo != 0 && (part->closed || !is_fraction(&s, &first))))
        return 0;
    u32 leaves = s.leaves;
    if (!ends_at(&s, inst, part, &shift, &next))
        return 0;
    s.leaves = leaves; /* not those that only the end is made of */
    return number_of(&s, &first, 0);
}
