/*
 * shape.c - the shape of an object according to the source: the size and type of a heap block, and where the
 * arrays in an object begin and end.
 *
 * The size of a block is the argument of the allocation, if it is a constant: there, or, in a wrapper that
 * has an instance for each call, where the wrapper is called. Its type is that of a pointer variable it goes
 * to, or of an access through the pointer, provided that the type has the size of the block, or the size is a
 * multiple of it: then the block is one such structure, or an array of them.
 *
 * A pointer that walks (p++) from the start of an array in a structure would turn the whole structure into an
 * array, and merge all its members, if the bounds of the array were not known. They come from debug
 * information: LLVM's own types are gone from optimised code, and have no unions. Without debug information
 * nothing is confined. Uses of this are counted.
 */
#include <string.h>

#include "ir/whole/model.h"
#include "ir/whole/shim_types.h"

enum { MAX_DEPTH = 8 };

/* An amount: `fixed`, and, unless it is `exact`, `times` times something that is not known. */
struct amount {
    u64 fixed, times;
    bool exact;
};

static const struct amount unknown = {0, 1, false};

static struct amount product(struct amount a, struct amount b)
{
    if (b.exact) {
        struct amount other = a;
        a = b;
        b = other;
    }
    u64 unit = b.exact ? b.fixed : b.times, times, fixed;
    if (!a.exact && (a.fixed > 0 || b.fixed > 0 || __builtin_mul_overflow(a.times, b.times, &times)))
        return unknown;
    if (!a.exact)
        return (struct amount){0, times, false};
    if (a.fixed == 0 || __builtin_mul_overflow(a.fixed, unit, &times) ||
        __builtin_mul_overflow(a.fixed, b.fixed, &fixed))
        return unknown;
    return (struct amount){fixed, b.exact ? 0 : times, b.exact};
}

static struct amount sum(struct amount a, struct amount b)
{
    u64 fixed;
    if ((!a.exact && !b.exact) || __builtin_add_overflow(a.fixed, b.fixed, &fixed))
        return unknown;
    return (struct amount){fixed, a.exact ? b.times : a.times, a.exact && b.exact};
}

static u64 least(struct amount a)
{
    return a.fixed > 0 ? a.fixed : a.times;
}

/* One or the other: `size == 0 ? 1 : size`, or the larger one. A block that is smaller than one of the other
 * amount holds none of it, so the larger one says what is in the block. */
static struct amount either(struct amount a, struct amount b)
{
    if (a.exact && b.exact)
        return a.fixed > b.fixed ? a : b;
    if (a.exact != b.exact) {
        struct amount exact = a.exact ? a : b, open = a.exact ? b : a;
        return exact.fixed <= least(open) ? open : unknown;
    }
    return a.times == b.times && a.fixed == b.fixed ? a : unknown;
}

static struct amount evaluate(const struct dh_w *w, u32 inst, LLVMValueRef v, int depth);

static bool is_maximum(LLVMValueRef call)
{
    static const char name[] = "llvm.umax.";
    LLVMValueRef callee = LLVMGetCalledValue(call);
    size_t len;
    return LLVMIsAFunction(callee) != NULL &&
           strncmp(LLVMGetValueName2(callee, &len), name, sizeof name - 1) == 0;
}

/* An argument of a function, in an instance of it that belongs to one call. */
static struct amount passed(const struct dh_w *w, u32 inst, LLVMValueRef argument, int depth)
{
    const struct dh_w_inst *i = &w->insts[inst];
    unsigned index = 0;
    if (i->caller == DH_W_NONE)
        return unknown;
    const struct dh_w_op *call = &w->fns[w->insts[i->caller].fn].ops[i->call_op];
    while (LLVMGetParam(w->fns[i->fn].value, index) != argument)
        index++;
    if (call->kind != DH_W_CALL || index >= LLVMGetNumArgOperands(call->inst))
        return unknown;
    return evaluate(w, i->caller, LLVMGetOperand(call->inst, index), depth - 1);
}

static struct amount evaluate(const struct dh_w *w, u32 inst, LLVMValueRef v, int depth)
{
    if (LLVMIsAConstantInt(v) != NULL)
        return (struct amount){LLVMConstIntGetZExtValue(v), 0, true};
    if (depth == 0 || LLVMIsConstant(v))
        return unknown;
    if (LLVMIsAArgument(v) != NULL)
        return passed(w, inst, v, depth);
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMSExt:
    case LLVMZExt:
        return evaluate(w, inst, LLVMGetOperand(v, 0), depth - 1);
    case LLVMMul:
        return product(evaluate(w, inst, LLVMGetOperand(v, 0), depth - 1),
                       evaluate(w, inst, LLVMGetOperand(v, 1), depth - 1));
    case LLVMShl: {
        LLVMValueRef by = LLVMGetOperand(v, 1);
        u64 n = LLVMIsAConstantInt(by) != NULL ? LLVMConstIntGetZExtValue(by) : 0;
        struct amount power = n < 32 && n > 0 ? (struct amount){1ull << n, 0, true} : unknown;
        return product(evaluate(w, inst, LLVMGetOperand(v, 0), depth - 1), power);
    }
    case LLVMOr: /* optimised addition */
        if (!LLVMGetIsDisjoint(v))
            return unknown;
        /* fall through */
    case LLVMAdd:
        return sum(evaluate(w, inst, LLVMGetOperand(v, 0), depth - 1),
                   evaluate(w, inst, LLVMGetOperand(v, 1), depth - 1));
    case LLVMSelect:
        return either(evaluate(w, inst, LLVMGetOperand(v, 1), depth - 1),
                      evaluate(w, inst, LLVMGetOperand(v, 2), depth - 1));
    case LLVMCall:
        if (!is_maximum(v))
            return unknown;
        return either(evaluate(w, inst, LLVMGetOperand(v, 0), depth - 1),
                      evaluate(w, inst, LLVMGetOperand(v, 1), depth - 1));
    default:
        return unknown;
    }
}

/* The bytes that an allocation asks for; see DH_W_ALLOC. */
static struct amount bytes_of(const struct dh_w *w, u32 inst, const struct dh_w_op *op)
{
    struct amount all = op->size_arg > 0 ? (struct amount){1, 0, true} : unknown;
    const u8 args[] = {op->size_arg, op->count_arg};
    for (size_t i = 0; i < DH_ARRAY_LEN(args); i++)
        if (args[i] > 0)
            all = product(all, evaluate(w, inst, LLVMGetOperand(op->inst, args[i] - 1u), MAX_DEPTH));
    return all;
}

/* Whether what an operation gives is returned as it is. */
static bool returns(const struct dh_w_fn *f, dh_w_value v, int depth)
{
    for (size_t i = 0; i < f->n_ops && depth > 0; i++)
        if (f->ops[i].kind == DH_W_COPY && f->ops[i].a == v &&
            (f->ops[i].dst == f->ret || returns(f, f->ops[i].dst, depth - 1)))
            return true;
    return false;
}

/* A type that the block may be one of, or several, where it is allocated or where a wrapper returns it. */
static const void *type_of_size(const struct dh_w *w, u32 inst, LLVMValueRef allocation, u64 size)
{
    const struct dh_w_inst *i = &w->insts[inst];
    const void *type = dh_shim_types_held(w->known, allocation, size);
    for (int depth = 0; type == NULL && depth < MAX_DEPTH && i->caller != DH_W_NONE; depth++) {
        const struct dh_w_op *call = &w->fns[w->insts[i->caller].fn].ops[i->call_op];
        if (!w->fns[i->fn].fresh || call->kind != DH_W_CALL)
            break;
        type = dh_shim_types_held(w->known, call->inst, size);
        i = &w->insts[i->caller];
    }
    return type != NULL ? type : dh_shim_types_only(w->known, size);
}

/* The same where the size is not known: what the one variable points to that holds the block. */
static const void *type_of_holder(const struct dh_w *w, u32 inst, const struct dh_w_op *op)
{
    const struct dh_w_inst *i = &w->insts[inst];
    const void *type[2] = {NULL, NULL};
    for (int depth = 0; op->kind == DH_W_ALLOC || op->kind == DH_W_CALL; depth++) {
        size_t n = dh_shim_types_declared(w->known, op->inst, type, DH_ARRAY_LEN(type));
        if (n > 0 || depth == MAX_DEPTH || i->caller == DH_W_NONE || op->dst == DH_W_NONE ||
            !returns(&w->fns[i->fn], op->dst, MAX_DEPTH))
            return n == 1 ? type[0] : NULL;
        op = &w->fns[w->insts[i->caller].fn].ops[i->call_op];
        i = &w->insts[i->caller];
    }
    return NULL;
}

struct dh_w_shape dh_w_shape_of_block(const struct dh_w *w, u32 inst, const struct dh_w_op *op)
{
    struct dh_w_shape shape = {.size = DH_PTS_ANY};
    struct amount bytes = bytes_of(w, inst, op);
    if (bytes.fixed >= DH_PTS_ANY || bytes.times >= DH_PTS_ANY)
        return shape;
    if (bytes.exact && bytes.fixed > 0)
        shape.size = (u32)bytes.fixed;
    /* calloc(n, size): the size of one decides. */
    struct amount one =
        op->count_arg > 0 ? evaluate(w, inst, LLVMGetOperand(op->inst, op->size_arg - 1u), MAX_DEPTH) : bytes;
    if (least(one) > 1 && least(one) < DH_PTS_ANY)
        shape.type = type_of_size(w, inst, op->inst, least(one));
    /* A structure, and behind it an array that has no end: no other one follows. */
    if (shape.type != NULL && (one.exact || one.fixed == 0))
        shape.stride = (u32)least(one);
    if (least(one) <= 1)
        shape.type = type_of_holder(w, inst, op);
    return shape;
}

/* The type of a variable, if debug information knows all of it. */
static const void *declared(const struct dh_w *w, const struct dh_w_object *o, u32 size)
{
    if (size == DH_PTS_ANY)
        return NULL;
    struct dh_shim_variable v = {0};
    bool known = false;
    if (o->value == NULL)
        return NULL;
    if (o->kind == DH_W_GLOBAL || o->kind == DH_W_THREAD_LOCAL)
        known = LLVMIsAGlobalVariable(o->value) != NULL && dh_shim_types_global(o->value, &v);
    else if (o->kind == DH_W_STACK)
        known = dh_shim_types_local(o->value, &v);
    return known && v.offset == 0 && dh_shim_type_size(w->known, v.type) == size ? v.type : NULL;
}

struct dh_w_shape dh_w_shape_of_object(struct dh_w *w, dh_pts_object object)
{
    struct dh_w_object *o = object < w->n_objects ? &w->objects[object] : NULL;
    if (o == NULL || o->kind == DH_W_HIDDEN)
        return (struct dh_w_shape){.size = DH_PTS_ANY};
    u32 size = dh_pts_size(w->pts, object);
    if (!o->shaped && o->kind != DH_W_HEAP)
        o->shape = (struct dh_w_shape){size, size, declared(w, o, size)};
    o->shaped = true;
    return o->shape;
}

bool dh_w_shape_array(void *client, dh_pts_object object, uint32_t offset, uint32_t stride,
                      uint32_t *ret_start, uint32_t *ret_end)
{
    struct dh_w *w = client;
    struct dh_w_shape shape = dh_w_shape_of_object(w, object);
    if (shape.type == NULL)
        return false;
    struct dh_shim_array a;
    u32 first = shape.stride == 0 ? 0 : offset / shape.stride * shape.stride;
    if (dh_shim_type_array(w->known, shape.type, offset - first, stride, &a)) {
        *ret_start = first + (u32)a.start;
        *ret_end = first + (u32)a.end;
        return true;
    }
    if (shape.stride != 0 && stride % shape.stride == 0) {
        /* The block itself is the array. */
        *ret_start = 0;
        *ret_end = dh_pts_size(w->pts, object);
        return true;
    }
    if (!dh_shim_type_run(w->known, shape.type, offset - first, &a))
        return false;
    *ret_start = first + (u32)a.start;
    *ret_end = first + (u32)a.end;
    return true;
}
