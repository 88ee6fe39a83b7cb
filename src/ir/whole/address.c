/*
 * address.c - see address.h.
 */
#include "ir/whole/address.h"

#include <string.h>

#include "ir/whole/pool.h"
#include "ir/whole/read.h"

enum { MAX_DEPTH = 12 };

/* An operation on two expressions, or, if op is 0, a value: an argument, a constant, or what an instruction
 * computes that does more than arithmetic. */
struct expression {
    u32 op;    /* LLVMOpcode */
    u32 width; /* of the result, in bits */
    u64 a, b;  /* expressions (b is 0 for one operand); of a value, a is its LLVMValueRef */
};

static const struct expression *get(const struct dh_w_pool *pool, u32 n)
{
    DH_ASSERT(n < pool->n);
    return pool->item[n];
}

static u32 add(struct dh_w_pool *pool, u32 op, u32 width, u64 a, u64 b)
{
    struct expression e = {op, width, a, b};
    _Static_assert(sizeof e == 24, "expressions are compared as bytes: no padding");
    return dh_w_pool_add(pool, &e, sizeof e);
}

static u32 add_value(struct dh_w_pool *pool, LLVMValueRef v)
{
    return add(pool, 0, 0, (u64)(uptr)v, 0);
}

static LLVMValueRef value(const struct expression *e)
{
    return e->op == 0 ? (LLVMValueRef)(uptr)e->a : NULL;
}

/* In bits; 0: it is no integer. */
static u32 width_of(const struct dh_w_pool *pool, u32 n)
{
    const struct expression *e = get(pool, n);
    if (value(e) == NULL)
        return e->width;
    LLVMTypeRef type = LLVMTypeOf(value(e));
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 0;
}

/* How many operands an instruction has of which it computes its result and which nothing else decides; 0: it
 * is none of these. */
static unsigned operands(LLVMValueRef v)
{
    if (LLVMIsAInstruction(v) == NULL || LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMIntegerTypeKind)
        return 0;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMSExt:
    case LLVMZExt:
    case LLVMTrunc:
    case LLVMPtrToInt:
        return 1;
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
        return 2;
    default:
        return 0;
    }
}

static u32 number(struct dh_w_pool *pool, LLVMValueRef v, int depth);

/* What a number is that was made a pointer, and is made a number again: (long)(void *)i. */
static bool number_of_pointer(struct dh_w_pool *pool, LLVMValueRef pointer, int depth, u32 *ret)
{
    bool is_cast = (LLVMIsAInstruction(pointer) != NULL && LLVMIsAIntToPtrInst(pointer) != NULL) ||
                   (LLVMIsAConstantExpr(pointer) != NULL && LLVMGetConstOpcode(pointer) == LLVMIntToPtr);
    if (LLVMIsAConstantPointerNull(pointer) != NULL)
        *ret = add_value(
            pool, LLVMConstInt(LLVMInt64TypeInContext(LLVMGetTypeContext(LLVMTypeOf(pointer))), 0, false));
    else if (is_cast && LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(pointer, 0))) == 64)
        *ret = number(pool, LLVMGetOperand(pointer, 0), depth);
    else
        return false;
    return true;
}

/* One of the conversions. Those that undo each other are left out. */
static u32 convert(struct dh_w_pool *pool, u32 op, u32 width, u32 a, int depth)
{
    struct expression e = *get(pool, a);
    u32 n;
    if (op == LLVMPtrToInt && value(&e) != NULL && number_of_pointer(pool, value(&e), depth, &n))
        return width == 64 ? n : convert(pool, LLVMTrunc, width, n, depth);
    if (op == LLVMTrunc && (e.op == LLVMSExt || e.op == LLVMZExt)) {
        u32 inner = width_of(pool, (u32)e.a);
        if (inner == width)
            return (u32)e.a;
        if (inner != 0 && inner < width)
            return add(pool, e.op, width, e.a, 0);
    }
    return add(pool, op, width, a, 0);
}

static u32 number(struct dh_w_pool *pool, LLVMValueRef v, int depth)
{
    unsigned n = depth == 0 ? 0 : operands(v);
    if (n == 0)
        return add_value(pool, v);
    u32 op = LLVMGetInstructionOpcode(v), width = LLVMGetIntTypeWidth(LLVMTypeOf(v));
    unsigned first = (op == LLVMAdd || op == LLVMMul) && LLVMIsAConstantInt(LLVMGetOperand(v, 0)) != NULL;
    u32 a = number(pool, LLVMGetOperand(v, first), depth - 1); /* 2 * i is i * 2 */
    return n == 1 ? convert(pool, op, width, a, depth - 1)
                  : add(pool, op, width, a, number(pool, LLVMGetOperand(v, 1 - first), depth - 1));
}

u32 dh_w_expression(struct dh_w_pool *expressions, LLVMValueRef v)
{
    return number(expressions, v, MAX_DEPTH);
}

LLVMValueRef dh_w_expression_leaf(const struct dh_w_pool *expressions, u32 expression, u32 *ret_bits)
{
    const struct expression *e = get(expressions, expression);
    *ret_bits = width_of(expressions, expression);
    for (; e->op == LLVMSExt || e->op == LLVMZExt || e->op == LLVMTrunc; e = get(expressions, (u32)e->a)) {
        u32 bits = width_of(expressions, (u32)e->a);
        *ret_bits = bits < *ret_bits ? bits : *ret_bits;
    }
    return value(e);
}

/* One step from an expression's operand, which is linear, to the expression. */
static bool add_step(const struct expression *e, const struct expression *by, int64_t least, int64_t greatest,
                     struct dh_w_linear *l)
{
    int64_t n = by != NULL && value(by) != NULL && LLVMIsAConstantInt(value(by)) != NULL
                    ? LLVMConstIntGetSExtValue(value(by))
                    : 0;
    if (n < -INT32_MAX || n > INT32_MAX || (by != NULL && n == 0))
        return false;
    switch (e->op) {
    case LLVMSExt:
    case LLVMZExt:
    case LLVMTrunc:
        break;
    case LLVMAdd:
        l->term += n;
        break;
    case LLVMSub:
        l->term -= n;
        break;
    case LLVMShl:
        n = n > 0 && n < 16 ? 1 << n : 0;
        /* fall through */
    case LLVMMul:
        if (n <= 0 || n > INT16_MAX || l->factor * n > INT32_MAX || l->term > INT32_MAX ||
            l->term < -INT32_MAX)
            return false;
        l->factor *= n;
        l->term *= n;
        break;
    default:
        return false;
    }
    int64_t first = l->factor * least + l->term, last = l->factor * greatest + l->term;
    int64_t limit = e->width < 64 ? 1ll << (e->width - 1) : INT64_MAX;
    return last < limit && first >= (e->op == LLVMSub || e->op == LLVMAdd ? -limit : 0);
}

LLVMValueRef dh_w_expression_first(const struct dh_w_pool *expressions, u32 expression)
{
    const struct expression *e = get(expressions, expression);
    while (value(e) == NULL)
        e = get(expressions, (u32)e->a);
    return value(e);
}

bool dh_w_expression_linear(const struct dh_w_pool *expressions, u32 expression, int64_t least,
                            int64_t greatest, struct dh_w_linear *ret)
{
    u32 way[MAX_DEPTH + 1], n = 0;
    for (; value(get(expressions, expression)) == NULL; expression = (u32)get(expressions, expression)->a) {
        if (n > MAX_DEPTH)
            return false;
        way[n++] = expression;
    }
    *ret = (struct dh_w_linear){.factor = 1};
    while (n-- > 0) {
        const struct expression *e = get(expressions, way[n]);
        bool binary = e->op != LLVMSExt && e->op != LLVMZExt && e->op != LLVMTrunc;
        if (!add_step(e, binary ? get(expressions, (u32)e->b) : NULL, least, greatest, ret))
            return false;
    }
    return true;
}

static bool is_binary(u32 op)
{
    return op != LLVMSExt && op != LLVMZExt && op != LLVMTrunc && op != LLVMPtrToInt;
}

bool dh_w_expression_leaves(const struct dh_w_pool *expressions, u32 expression,
                            bool (*holds)(void *, LLVMValueRef), void *arg)
{
    const struct expression *e = get(expressions, expression);
    if (value(e) != NULL)
        return holds(arg, value(e));
    return dh_w_expression_leaves(expressions, (u32)e->a, holds, arg) &&
           (!is_binary(e->op) || dh_w_expression_leaves(expressions, (u32)e->b, holds, arg));
}

bool dh_w_expression_with(struct dh_w_pool *expressions, u32 expression, LLVMValueRef by, u32 with, u32 *ret)
{
    struct expression e = *get(expressions, expression);
    u32 a, b = 0;
    if (value(&e) != NULL) {
        *ret = value(&e) == by ? with : expression;
        return value(&e) == by || LLVMIsAConstantInt(value(&e)) != NULL;
    }
    if (!dh_w_expression_with(expressions, (u32)e.a, by, with, &a) ||
        (is_binary(e.op) && !dh_w_expression_with(expressions, (u32)e.b, by, with, &b)))
        return false;
    *ret = is_binary(e.op) ? add(expressions, e.op, e.width, a, b)
                           : convert(expressions, e.op, e.width, a, MAX_DEPTH);
    return true;
}

/* ---- of a value ---- */

static const struct dh_w_address unknown = {.base = DH_W_NONE};

/* What the copy of a value is for sure: the same number. Structures in registers are copied as a whole, and
 * so is the lower half of a number, which are others. */
static bool is_same_number(const struct dh_w_op *op)
{
    if (op->kind != DH_W_COPY || LLVMIsAInstruction(op->inst) == NULL)
        return false;
    switch (LLVMGetInstructionOpcode(op->inst)) {
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMFreeze:
    case LLVMGetElementPtr:
        return true;
    case LLVMPtrToInt:
    case LLVMIntToPtr: {
        LLVMTypeRef from = LLVMTypeOf(LLVMGetOperand(op->inst, 0)), to = LLVMTypeOf(op->inst);
        LLVMTypeRef integer = LLVMGetTypeKind(to) == LLVMIntegerTypeKind ? to : from;
        return LLVMGetTypeKind(integer) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(integer) == 64;
    }
    default:
        return false;
    }
}

/* A constant: a global variable, and perhaps offsets from it. */
static bool add_constant(const struct dh_w *w, LLVMValueRef v, struct dh_w_address *to)
{
    for (int depth = 0; depth < MAX_DEPTH; depth++) {
        if (LLVMIsAGlobalVariable(v) != NULL) {
            to->global = v;
            return !LLVMIsThreadLocal(v);
        }
        if (LLVMIsAConstantExpr(v) == NULL || LLVMGetConstOpcode(v) != LLVMGetElementPtr)
            return false;
        struct dh_w_step steps[DH_W_MAX_STEPS];
        if (dh_w_gep((struct dh_w *)w, v, steps) != 1 || steps[0].stride != 0)
            return false;
        to->off += steps[0].off;
        v = LLVMGetOperand(v, 0);
    }
    return false;
}

bool dh_w_constant_place(const struct dh_w *w, dh_w_value v, LLVMValueRef *ret_global, int64_t *ret_off)
{
    struct dh_w_address to = unknown;
    if (v == DH_W_NONE || v < DH_W_CONSTANT || !add_constant(w, w->constants[v & ~DH_W_CONSTANT].value, &to))
        return false;
    *ret_global = to.global;
    *ret_off = to.off;
    return true;
}

/* Where a pointer that no longer changes was read from. Only aligned ones: two of them do not overlap. */
static u32 source_of(const struct dh_w *w, struct dh_w_pool *expressions, const struct dh_w_fn *fn,
                     const struct dh_w_op *op)
{
    if (op == NULL || op->kind != DH_W_LOAD || !(op->flags & DH_W_FIXED) || LLVMGetAlignment(op->inst) < 8)
        return 0;
    struct dh_w_address from = dh_w_address_of(w, expressions, fn, op->a);
    if (!dh_w_address_known(&from) || from.terms > 1)
        return 0;
    struct dh_w_source s = {.global = from.global,
                            .off = from.off,
                            .base = from.source != 0 ? DH_W_NONE : from.base,
                            .source = from.source,
                            .content = from.content,
                            .terms = from.terms,
                            .index = from.term[0].index,
                            .stride = from.term[0].stride};
    _Static_assert(sizeof s == 40, "sources are compared as bytes: no padding, and no expression is as long");
    return 1 + dh_w_pool_add(expressions, &s, sizeof s);
}

struct dh_w_address dh_w_address_of(const struct dh_w *w, struct dh_w_pool *expressions,
                                    const struct dh_w_fn *fn, dh_w_value v)
{
    struct dh_w_address to = unknown;
    struct dh_w_term inner[DH_W_MAX_TERMS]; /* the last one first */
    if (v == DH_W_NONE)
        return unknown;
    memset(inner, 0, sizeof inner);
    for (; v < DH_W_CONSTANT; v = fn->ops[fn->def[v]].a) {
        const struct dh_w_op *op = fn->def[v] < fn->n_ops ? &fn->ops[fn->def[v]] : NULL;
        bool indexed =
            op != NULL && op->kind == DH_W_ELEMENT && op->index != NULL && to.terms < DH_W_MAX_TERMS;
        int64_t at;
        if (op != NULL && op->kind == DH_W_LOAD && (op->flags & DH_W_FIXED) &&
            dh_w_constant_place(w, op->a, &to.global, &at)) {
            to.content = (u32)at + 1;
            break;
        }
        if (op == NULL || (!indexed && op->kind != DH_W_OFFSET && !is_same_number(op))) {
            to.base = v;
            to.source = source_of(w, expressions, fn, op);
            break;
        }
        if (indexed)
            inner[to.terms++] = (struct dh_w_term){.index = dh_w_expression(expressions, op->index),
                                                   .stride = op->stride,
                                                   .size = (u32)(op->stride / dh_w_index_factor(op->index)),
                                                   .bytes = op->length == DH_PTS_ANY ? 0 : op->length,
                                                   .begin = -to.off}; /* what comes behind it */
        to.off += op->kind == DH_W_COPY ? 0 : op->off;
    }
    if (!dh_w_address_known(&to) && !add_constant(w, w->constants[v & ~DH_W_CONSTANT].value, &to))
        return unknown;
    for (u32 i = 0; i < to.terms; i++) {
        to.term[i] = inner[to.terms - 1 - i];
        to.term[i].begin += to.off;
    }
    return to;
}

static bool same_terms(const struct dh_w_address *a, const struct dh_w_address *b)
{
    if (a->terms != b->terms)
        return false;
    for (u32 i = 0; i < a->terms; i++)
        if (a->term[i].index != b->term[i].index || a->term[i].stride != b->term[i].stride)
            return false;
    return true;
}

bool dh_w_address_beside(const struct dh_w_address *a, const struct dh_w_address *b)
{
    return dh_w_address_known(a) && a->base == b->base && a->global == b->global &&
           a->content == b->content && same_terms(a, b);
}

bool dh_w_address_alike(const struct dh_w_address *a, const struct dh_w_address *b)
{
    return dh_w_address_beside(a, b) || (a->source != 0 && a->source == b->source && same_terms(a, b));
}

bool dh_w_address_equal(const struct dh_w_address *a, const struct dh_w_address *b)
{
    return (!dh_w_address_known(a) && !dh_w_address_known(b)) ||
           (dh_w_address_beside(a, b) && a->off == b->off);
}

/* ---- across calls ---- */

/* The same expression with arguments in the place of parameters: from `first` on, those of the call; and, if
 * not NULL, another expression for a value that is known. false: it is made of something else, too. */
static bool to_caller(struct dh_w_pool *pool, u32 n, LLVMValueRef call, u32 first,
                      const struct dh_w_known *known, u32 *ret)
{
    struct expression e = *get(pool, n);
    LLVMValueRef v = value(&e);
    if (v != NULL && known != NULL && v == known->value) {
        *ret = known->expression;
        return true;
    }
    if (v != NULL && LLVMIsAArgument(v) != NULL) {
        LLVMValueRef fn = LLVMGetParamParent(v);
        for (u32 i = 0; i < LLVMCountParams(fn) && first + i < LLVMGetNumArgOperands(call); i++)
            if (LLVMGetParam(fn, i) == v && LLVMTypeOf(LLVMGetOperand(call, first + i)) == LLVMTypeOf(v)) {
                *ret = dh_w_expression(pool, LLVMGetOperand(call, first + i));
                return true;
            }
        return false;
    }
    if (v != NULL) {
        *ret = n;
        return LLVMIsAConstantInt(v) != NULL;
    }
    u32 a, b = 0;
    if (!to_caller(pool, (u32)e.a, call, first, known, &a) ||
        (is_binary(e.op) && !to_caller(pool, (u32)e.b, call, first, known, &b)))
        return false;
    *ret = is_binary(e.op) ? add(pool, e.op, e.width, a, b) : convert(pool, e.op, e.width, a, MAX_DEPTH);
    return true;
}

/* The other way round: what is given as an argument is the parameter. */
static bool to_callee(struct dh_w_pool *pool, u32 n, LLVMValueRef call, LLVMValueRef fn, u32 *ret)
{
    for (u32 i = 0; i < LLVMCountParams(fn) && i < LLVMGetNumArgOperands(call); i++) {
        LLVMValueRef given = LLVMGetOperand(call, i), param = LLVMGetParam(fn, i);
        if (LLVMTypeOf(given) == LLVMTypeOf(param) && LLVMIsConstant(given) == 0 &&
            dh_w_expression(pool, given) == n) {
            *ret = add_value(pool, param);
            return true;
        }
    }
    struct expression e = *get(pool, n);
    u32 a, b = 0;
    if (e.op == 0) {
        *ret = n;
        return LLVMIsAConstantInt(value(&e)) != NULL;
    }
    if (!to_callee(pool, (u32)e.a, call, fn, &a) ||
        (is_binary(e.op) && !to_callee(pool, (u32)e.b, call, fn, &b)))
        return false;
    *ret = add(pool, e.op, e.width, a, b);
    return true;
}

/* a, beginning at `from` instead of its base. */
static struct dh_w_address append(struct dh_w_pool *pool, const struct dh_w_address *from,
                                  const struct dh_w_address *a, LLVMValueRef call, u32 first,
                                  const struct dh_w_known *known)
{
    struct dh_w_address to = *from;
    if (!dh_w_address_known(&to) || to.terms + a->terms > DH_W_MAX_TERMS)
        return unknown;
    to.off += a->off;
    for (u32 i = 0; i < a->terms; i++) {
        struct dh_w_term *t = &to.term[to.terms++];
        *t = a->term[i];
        t->begin += from->off;
        if (!to_caller(pool, a->term[i].index, call, first, known, &t->index))
            return unknown;
    }
    return to;
}

struct dh_w_address dh_w_address_in_caller_but(const struct dh_w *w, struct dh_w_pool *expressions,
                                               const struct dh_w_address *a, const struct dh_w_fn *caller,
                                               const struct dh_w_call *call, LLVMValueRef but)
{
    struct dh_w_address from = unknown;
    struct dh_w_known known = {but, but != NULL ? add_value(expressions, but) : 0};
    if (!dh_w_address_known(a) || call->inst == NULL)
        return unknown;
    if (a->global != NULL) {
        from.global = a->global;
        from.content = a->content;
    } else if (a->base < call->n && call->args[a->base] != DH_W_NONE)
        from = dh_w_address_of(w, expressions, caller, call->args[a->base]);
    return append(expressions, &from, a, call->inst, 0, &known);
}

struct dh_w_address dh_w_address_in_caller(const struct dh_w *w, struct dh_w_pool *expressions,
                                           const struct dh_w_address *a, const struct dh_w_fn *caller,
                                           const struct dh_w_call *call)
{
    return dh_w_address_in_caller_but(w, expressions, a, caller, call, NULL);
}

bool dh_w_is_create(LLVMValueRef call)
{
    size_t len;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(call), &len);
    return strcmp(name, "pthread_create") == 0 || strcmp(name, "thrd_create") == 0;
}

struct dh_w_address dh_w_address_behind(struct dh_w_pool *expressions, const struct dh_w_address *from,
                                        const struct dh_w_address *a, const struct dh_w_op *fork,
                                        const struct dh_w_known *known)
{
    if (!dh_w_is_create(fork->inst))
        return unknown;
    return append(expressions, from, a, fork->inst, LLVMGetNumArgOperands(fork->inst) - 1, known);
}

struct dh_w_address dh_w_address_in_creator(const struct dh_w *w, struct dh_w_pool *expressions,
                                            const struct dh_w_address *a, const struct dh_w_fn *creator,
                                            const struct dh_w_op *fork, const struct dh_w_known *known)
{
    struct dh_w_address from = unknown;
    dh_w_value given = creator->calls[fork->call].args[0];
    if (!dh_w_address_known(a))
        return unknown;
    if (a->global != NULL) {
        from.global = a->global;
        from.content = a->content;
    } else if (a->base == 0 && given != DH_W_NONE)
        from = dh_w_address_of(w, expressions, creator, given);
    return dh_w_address_behind(expressions, &from, a, fork, known);
}

/* The rest of an address behind `from`, which is where a parameter points to, or a global variable. */
static bool rest(struct dh_w_pool *pool, const struct dh_w_address *a, const struct dh_w_address *from,
                 const struct dh_w_call *call, LLVMValueRef callee, struct dh_w_address *to)
{
    struct dh_w_address begin = *a;
    begin.terms = from->terms;
    if (from->terms > a->terms || !dh_w_address_beside(&begin, from))
        return false;
    to->off = a->off - from->off;
    for (u32 i = from->terms; i < a->terms; i++) {
        struct dh_w_term *t = &to->term[to->terms++];
        *t = a->term[i];
        t->begin -= from->off;
        if (!to_callee(pool, a->term[i].index, call->inst, callee, &t->index))
            return false;
    }
    return true;
}

struct dh_w_address dh_w_address_in_callee(const struct dh_w *w, struct dh_w_pool *expressions,
                                           const struct dh_w_address *a, const struct dh_w_fn *caller,
                                           const struct dh_w_call *call, const struct dh_w_fn *callee)
{
    if (!dh_w_address_known(a) || call->inst == NULL)
        return unknown;
    for (u32 i = 0; i < call->n && i < callee->args; i++) {
        struct dh_w_address to = {.base = i};
        struct dh_w_address from =
            call->args[i] == DH_W_NONE ? unknown : dh_w_address_of(w, expressions, caller, call->args[i]);
        if (dh_w_address_known(&from) && rest(expressions, a, &from, call, callee->value, &to))
            return to;
    }
    struct dh_w_address to = {.base = DH_W_NONE, .global = a->global, .content = a->content}, from = to;
    return a->global != NULL && rest(expressions, a, &from, call, callee->value, &to) ? to : unknown;
}

/* ---- until when ---- */

static bool is_made_in(const struct dh_w_pool *pool, u32 n, LLVMBasicBlockRef block)
{
    const struct expression *e = get(pool, n);
    LLVMValueRef v = value(e);
    if (v != NULL)
        return LLVMIsAInstruction(v) != NULL && LLVMGetInstructionParent(v) == block;
    return is_made_in(pool, (u32)e->a, block) || (is_binary(e->op) && is_made_in(pool, (u32)e->b, block));
}

bool dh_w_address_ends(const struct dh_w_pool *expressions, const struct dh_w_address *a,
                       LLVMBasicBlockRef block)
{
    for (u32 i = 0; i < a->terms && dh_w_address_known(a); i++)
        if (is_made_in(expressions, a->term[i].index, block))
            return true;
    return false;
}

static const struct dh_w_source *get_source(const struct dh_w_pool *pool, u32 source)
{
    DH_ASSERT(source > 0 && source <= pool->n && pool->size[source - 1] == sizeof(struct dh_w_source));
    return pool->item[source - 1];
}

bool dh_w_source_ends(const struct dh_w_pool *expressions, u32 source, LLVMBasicBlockRef block)
{
    for (; source != 0; source = get_source(expressions, source)->source) {
        const struct dh_w_source *s = get_source(expressions, source);
        if (s->terms > 0 && is_made_in(expressions, s->index, block))
            return true;
    }
    return false;
}

bool dh_w_source_begins(const struct dh_w_pool *expressions, u32 source, dh_w_value base)
{
    for (; source != 0; source = get_source(expressions, source)->source)
        if (get_source(expressions, source)->base == base)
            return true;
    return false;
}

bool dh_w_address_source(const struct dh_w_pool *expressions, const struct dh_w_address *a,
                         struct dh_w_address *ret)
{
    if (a->source == 0)
        return false;
    const struct dh_w_source *s = get_source(expressions, a->source);
    *ret = (struct dh_w_address){.base = s->base,
                                 .global = s->global,
                                 .content = s->content,
                                 .source = s->source,
                                 .off = s->off,
                                 .terms = s->terms,
                                 .term = {{.index = s->index, .stride = s->stride}}};
    return true;
}
