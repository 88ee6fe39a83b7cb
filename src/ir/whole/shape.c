/*
 * shape.c - what the source says of the shape of an object: how large a block of the heap is, what type it
 * has, and where the arrays in an object begin and end.
 *
 * The size of a block is the argument of the allocation, if it is a constant: there, or, in a wrapper that
 * has an instance for each call, where the wrapper is called. Its type is that of a pointer variable it goes
 * to, or of an access through the pointer, provided that the type has the size of the block, or the size is a
 * multiple of it: then the block is one such structure, or an array of them.
 *
 * A pointer that walks (p++) from the start of an array in a structure would make the whole structure an
 * array, and all its members one, were it not for the array's ends. They come from debug information: LLVM's
 * own types are gone from optimised code, and know no unions. Without debug information nothing is confined.
 * Where it is used is counted.
 */
#include "ir/whole/model.h"
#include "ir/whole/shim_types.h"

enum { MAX_DEPTH = 8 };

/* An amount: `times` times something that is not known, or, if `exact`, `times`. */
struct amount {
    u64 times;
    bool exact;
};

static struct amount product(struct amount a, struct amount b)
{
    u64 times;
    if (__builtin_mul_overflow(a.times, b.times, &times) || times == 0)
        return (struct amount){1, false};
    return (struct amount){times, a.exact && b.exact};
}

static struct amount evaluate(const struct dh_w *w, u32 inst, LLVMValueRef v, int depth);

/* An argument of a function, in an instance of it that belongs to one call. */
static struct amount passed(const struct dh_w *w, u32 inst, LLVMValueRef argument, int depth)
{
    const struct dh_w_inst *i = &w->insts[inst];
    unsigned index = 0;
    if (i->caller == DH_W_NONE)
        return (struct amount){1, false};
    const struct dh_w_op *call = &w->fns[w->insts[i->caller].fn].ops[i->call_op];
    while (LLVMGetParam(w->fns[i->fn].value, index) != argument)
        index++;
    if (call->kind != DH_W_CALL || index >= LLVMGetNumArgOperands(call->inst))
        return (struct amount){1, false};
    return evaluate(w, i->caller, LLVMGetOperand(call->inst, index), depth - 1);
}

static struct amount evaluate(const struct dh_w *w, u32 inst, LLVMValueRef v, int depth)
{
    const struct amount unknown = {1, false};
    if (LLVMIsAConstantInt(v) != NULL)
        return (struct amount){LLVMConstIntGetZExtValue(v), true};
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
        struct amount power = {n < 32 ? 1ull << n : 1, n < 32 && n > 0};
        return product(evaluate(w, inst, LLVMGetOperand(v, 0), depth - 1), power);
    }
    default:
        return unknown;
    }
}

/* The bytes that an allocation asks for; see DH_W_ALLOC. */
static struct amount bytes_of(const struct dh_w *w, u32 inst, const struct dh_w_op *op)
{
    struct amount all = {1, op->size_arg > 0};
    const u8 args[] = {op->size_arg, op->count_arg};
    for (size_t i = 0; i < DH_ARRAY_LEN(args); i++)
        if (args[i] > 0)
            all = product(all, evaluate(w, inst, LLVMGetOperand(op->inst, args[i] - 1u), MAX_DEPTH));
    return all;
}

/* A type that the block may be one of, or several, where it is allocated or where a wrapper returns it. */
static const void *type_of(const struct dh_w *w, u32 inst, LLVMValueRef allocation, u64 size)
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
    return type;
}

struct dh_w_shape dh_w_shape_of_block(const struct dh_w *w, u32 inst, const struct dh_w_op *op)
{
    struct dh_w_shape shape = {.size = DH_PTS_ANY};
    if (w->large) /* objects have no fields there */
        return shape;
    struct amount bytes = bytes_of(w, inst, op);
    if (bytes.times >= DH_PTS_ANY)
        return shape;
    if (bytes.exact && bytes.times > 0)
        shape.size = (u32)bytes.times;
    /* calloc(n, size): the size of one decides. */
    struct amount one =
        op->count_arg > 0 ? evaluate(w, inst, LLVMGetOperand(op->inst, op->size_arg - 1u), MAX_DEPTH) : bytes;
    if (one.times > 1 && one.times < DH_PTS_ANY)
        shape.type = type_of(w, inst, op->inst, one.times);
    if (shape.type != NULL)
        shape.stride = (u32)one.times;
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

bool dh_w_shape_array(void *client, dh_pts_object object, uint32_t offset, uint32_t stride,
                      uint32_t *ret_start, uint32_t *ret_end)
{
    struct dh_w *w = client;
    struct dh_w_object *o = object < w->n_objects ? &w->objects[object] : NULL;
    if (o == NULL || o->kind == DH_W_HIDDEN || w->large)
        return false;
    u32 size = dh_pts_size(w->pts, object);
    if (!o->shaped && o->kind != DH_W_HEAP)
        o->shape = (struct dh_w_shape){size, size, declared(w, o, size)};
    o->shaped = true;
    struct dh_w_shape shape = o->shape;
    if (shape.type == NULL || shape.stride == 0)
        return false;
    struct dh_shim_array a;
    u32 first = offset / shape.stride * shape.stride;
    if (dh_shim_type_array(w->known, shape.type, offset - first, stride, &a)) {
        *ret_start = first + (u32)a.start;
        *ret_end = first + (u32)a.end;
        return true;
    }
    /* The block itself is the array. */
    *ret_start = 0;
    *ret_end = size;
    return stride % shape.stride == 0;
}
