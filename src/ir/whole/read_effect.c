/*
 * read_effect.c - what library functions do with memory and pointers.
 *
 * Each effect of library.def is translated into the operations of an instruction that does the same.
 */
#include <string.h>

#include "ir/whole/read_call.h"

static u32 length_of(LLVMValueRef inst, const struct dh_w_effect *e)
{
    if (e->length != 0)
        return e->length;
    if (e->length_arg < 0)
        return DH_PTS_ANY;
    LLVMValueRef n = LLVMGetOperand(inst, (unsigned)e->length_arg);
    if (LLVMIsAConstantInt(n) == NULL || LLVMConstIntGetZExtValue(n) >= DH_PTS_ANY)
        return DH_PTS_ANY;
    return (u32)LLVMConstIntGetZExtValue(n);
}

/* An argument, or what is found behind it. */
static dh_w_value target(struct dh_w_reader *r, LLVMValueRef inst, const struct dh_w_effect *e, int n)
{
    dh_w_value a = dh_w_argument(r, inst, n);
    for (int i = 0; i < e->n_deref && a != DH_W_NONE; i++)
        a = dh_w_op_loaded(r, inst, a, e->deref[i]);
    return a;
}

/* A pointer to wherever in what a points to. */
static dh_w_value inside(struct dh_w_reader *r, LLVMValueRef inst, dh_w_value a)
{
    dh_w_value any = dh_w_fresh(r);
    dh_w_op_unary(r, inst, DH_W_ANY, any, a);
    return any;
}

static void touch(struct dh_w_reader *r, LLVMValueRef inst, dh_w_value a, u8 access, u32 length)
{
    if (a == DH_W_NONE || length == 0)
        return;
    dh_w_op_site(r, dh_w_op_unary(r, inst, DH_W_TOUCH, DH_W_NONE, a), access, length);
}

static void touch_effect(struct dh_w_reader *r, LLVMValueRef inst, const struct dh_w_effect *e, u32 length)
{
    u8 access = e->kind == DH_W_EFFECT_READ ? DH_PAIRS_READ : DH_PAIRS_WRITE;
    dh_w_value a = target(r, inst, e, e->n);
    if (a != DH_W_NONE && e->list) {
        /* The x86-64 va_list holds two pointers to arguments: in memory, and saved from registers. */
        for (int offset = 8; offset <= 16; offset += 8)
            touch(r, inst, dh_w_op_loaded(r, inst, dh_w_op_loaded(r, inst, a, offset), 0), access,
                  DH_PTS_ANY);
    } else {
        touch(r, inst, a, access, length);
    }
    for (int i = e->n + 1; e->rest && i < (int)LLVMGetNumArgOperands(inst); i++)
        if (dh_w_is_pointer(inst, (unsigned)i))
            touch(r, inst, dh_w_argument(r, inst, i), access, length);
}

/* Whether a format is known and lets nothing be allocated ("%ms"). */
static bool allocates_nothing(LLVMValueRef format)
{
    LLVMValueRef text = LLVMIsAGlobalVariable(format) != NULL ? LLVMGetInitializer(format) : NULL;
    size_t n = 0;
    if (text == NULL || !LLVMIsGlobalConstant(format) || LLVMIsAConstantDataArray(text) == NULL)
        return false;
    const char *bytes = LLVMGetAsString(text, &n);
    return memchr(bytes, 'm', n) == NULL;
}

static void scan(struct dh_w_reader *r, LLVMValueRef inst, const struct dh_w_effect *e)
{
    bool plain = allocates_nothing(LLVMGetOperand(inst, (unsigned)e->n));
    for (int i = e->m; i < (int)LLVMGetNumArgOperands(inst); i++) {
        dh_w_value a = dh_w_argument(r, inst, i);
        touch(r, inst, a, DH_PAIRS_WRITE, DH_PTS_ANY);
        if (plain || a == DH_W_NONE)
            continue;
        dh_w_value fresh = dh_w_fresh(r);
        dh_w_op_unary(r, inst, DH_W_ALLOC, fresh, DH_W_NONE);
        touch(r, inst, fresh, DH_PAIRS_WRITE, DH_PTS_ANY);
        dh_w_op_keep(r, inst, a, fresh);
    }
}

/* mmap of a file that others may map too: not memory of its own. */
static bool maps_shared_file(LLVMValueRef inst)
{
    enum { MAP_SHARED_BIT = 1, MAP_ANONYMOUS_BIT = 0x20 };
    LLVMValueRef flags = LLVMGetOperand(inst, 3);
    if (LLVMIsAConstantInt(flags) == NULL)
        return true;
    u64 bits = LLVMConstIntGetZExtValue(flags);
    return (bits & MAP_SHARED_BIT) && !(bits & MAP_ANONYMOUS_BIT);
}

static void copy_memory(struct dh_w_reader *r, LLVMValueRef inst, const struct dh_w_effect *e, u32 length)
{
    dh_w_value a = dh_w_argument(r, inst, e->n), b = dh_w_argument(r, inst, e->m);
    if (length == 0)
        return;
    struct dh_w_op *op = dh_w_op_add(r, DH_W_MEMCPY, inst);
    op->a = a;
    op->b = b;
    op->access_b = DH_PAIRS_READ;
    if (e->length_arg >= 0 && !dh_w_may_hold_pointers(r->w, LLVMGetOperand(inst, (unsigned)e->length_arg)))
        op->flags |= DH_W_BYTES;
    dh_w_op_site(r, op, DH_PAIRS_WRITE, length);
}

dh_w_value dh_w_read_channel(struct dh_w_reader *r, LLVMValueRef inst)
{
    dh_w_value all = dh_w_fresh(r);
    dh_w_op_unary(r, inst, DH_W_FOREIGN, all, DH_W_NONE)->flags |= DH_W_CHANNEL;
    return all;
}

/* Through a pipe, a socket or a file, pointers come out in another thread. The same holds of lengths as for
 * copies. */
static void transfer(struct dh_w_reader *r, LLVMValueRef inst, const struct dh_w_effect *e, u32 length)
{
    dh_w_value memory = target(r, inst, e, e->n);
    if (memory == DH_W_NONE)
        return;
    if (e->length_arg >= 0 && !dh_w_may_hold_pointers(r->w, LLVMGetOperand(inst, (unsigned)e->length_arg))) {
        dh_w_assume(r->w, DH_W_ASSUME_BYTES, length == DH_PTS_ANY, inst);
        return;
    }
    dh_w_value all = dh_w_read_channel(r, inst);
    struct dh_w_op *op = dh_w_op_add(r, DH_W_MEMCPY, inst);
    op->a = e->kind == DH_W_EFFECT_SEND ? all : memory;
    op->b = e->kind == DH_W_EFFECT_SEND ? memory : all;
    op->length = length;
}

void dh_w_read_post(struct dh_w_reader *r, LLVMValueRef inst, dh_w_value value)
{
    if (value != DH_W_NONE)
        dh_w_op_keep(r, inst, dh_w_read_channel(r, inst), value);
}

/* Memory that streams were told to use, as if all of them used all of it: setvbuf, fmemopen, open_memstream.
 */
static void lend(struct dh_w_reader *r, LLVMValueRef inst, const struct dh_w_effect *e)
{
    dh_w_value all = dh_w_fresh(r);
    dh_w_op_unary(r, inst, DH_W_FOREIGN, all, DH_W_NONE)->flags |= DH_W_LENT;
    if (e->kind == DH_W_EFFECT_LENT) {
        dh_w_value a = dh_w_op_loaded(r, inst, all, 0);
        for (int i = 0; i < e->n_deref; i++)
            a = dh_w_op_loaded(r, inst, a, e->deref[i]);
        touch(r, inst, a, DH_PAIRS_WRITE, DH_PTS_ANY);
        return;
    }
    dh_w_value memory = dh_w_argument(r, inst, e->n);
    touch(r, inst, memory, DH_PAIRS_WRITE, DH_PTS_ANY);
    if (memory != DH_W_NONE)
        dh_w_op_keep(r, inst, all, memory);
}

/* An argument goes where only the library looks: no access of the program. */
static void put(struct dh_w_reader *r, LLVMValueRef inst, const struct dh_w_effect *e)
{
    dh_w_value to = dh_w_argument(r, inst, e->n), value = dh_w_argument(r, inst, e->m), at = dh_w_fresh(r);
    if (to == DH_W_NONE || value == DH_W_NONE)
        return;
    dh_w_op_unary(r, inst, DH_W_OFFSET, at, to)->off = e->k;
    dh_w_op_keep(r, inst, at, value);
}

/* strtol and its like say how far they came; a short string points to itself. */
static void point(struct dh_w_reader *r, LLVMValueRef inst, const struct dh_w_effect *e)
{
    enum { POINTER = 8 };
    dh_w_value to = dh_w_argument(r, inst, e->n), into = target(r, inst, e, e->m);
    touch(r, inst, to, DH_PAIRS_WRITE, POINTER);
    if (to == DH_W_NONE || into == DH_W_NONE)
        return;
    dh_w_value at = dh_w_fresh(r);
    if (e->k < 0)
        dh_w_op_unary(r, inst, DH_W_ANY, at, into);
    else
        dh_w_op_unary(r, inst, DH_W_OFFSET, at, into)->off = e->k;
    dh_w_op_keep(r, inst, to, at);
}

/* Nodes: whatever leads from one to another, a pointer to any is as good as one to all. */
static void nodes(struct dh_w_reader *r, LLVMValueRef inst, const struct dh_w_effect *e)
{
    static const int list[] = {0, 8}, tree[] = {8, 16, 24};
    enum { LIST_NODE = 16, TREE_NODE = 32 };
    bool is_list = e->kind == DH_W_EFFECT_LIST, links = e->kind != DH_W_EFFECT_WALK;
    const int *at = is_list ? list : tree, arguments[] = {e->n, e->m, e->k};
    size_t n = is_list ? DH_ARRAY_LEN(list) : DH_ARRAY_LEN(tree);
    dh_w_value any = dh_w_fresh(r);
    for (size_t i = 0; i < DH_ARRAY_LEN(arguments); i++)
        dh_w_op_copy(r, inst, any, dh_w_argument(r, inst, arguments[i]));
    for (size_t i = 0; i < n; i++) {
        dh_w_value place = dh_w_fresh(r);
        dh_w_op_unary(r, inst, DH_W_OFFSET, place, any)->off = at[i];
        dh_w_op_unary(r, inst, DH_W_LOAD, any, place);
        if (links)
            dh_w_op_keep(r, inst, place, any);
    }
    touch(r, inst, any, links ? DH_PAIRS_WRITE : DH_PAIRS_READ, is_list ? LIST_NODE : TREE_NODE);
    dh_w_op_copy(r, inst, dh_w_result(r, inst), any);
}

/* The arguments that say how large fresh memory is. */
static void size(struct dh_w_op *op, const struct dh_w_effect *e)
{
    op->size_arg = (u8)(e->length_arg + 1);
    op->count_arg = (u8)(e->count_arg + 1);
}

static void apply(struct dh_w_reader *r, LLVMValueRef inst, const struct dh_w_effect *e)
{
    dh_w_value dst = dh_w_result(r, inst), n = dh_w_argument(r, inst, e->n);
    u32 length = length_of(inst, e);
    switch (e->kind) {
    case DH_W_EFFECT_READ:
    case DH_W_EFFECT_WRITE:
        touch_effect(r, inst, e, length);
        break;
    case DH_W_EFFECT_SCAN:
        scan(r, inst, e);
        break;
    case DH_W_EFFECT_MAP:
        dh_w_op_unary(r, inst, maps_shared_file(inst) ? DH_W_FOREIGN : DH_W_ALLOC, dst, DH_W_NONE);
        break;
    case DH_W_EFFECT_COPY:
        copy_memory(r, inst, e, length);
        break;
    case DH_W_EFFECT_RETURN:
        n = target(r, inst, e, e->n);
        dh_w_op_copy(r, inst, dst, n != DH_W_NONE && e->inside ? inside(r, inst, n) : n);
        break;
    case DH_W_EFFECT_USE:
        touch(r, inst, dst, DH_PAIRS_WRITE, DH_PTS_ANY);
        break;
    case DH_W_EFFECT_NEW:
        size(dh_w_op_unary(r, inst, DH_W_ALLOC, dst, DH_W_NONE), e);
        break;
    case DH_W_EFFECT_NEW_AT:
        touch(r, inst, n, DH_PAIRS_WRITE, 8);
        size(dh_w_op_unary(r, inst, DH_W_ALLOC_AT, DH_W_NONE, n), e);
        break;
    case DH_W_EFFECT_FOREIGN:
        dh_w_op_unary(r, inst, DH_W_FOREIGN, dst, DH_W_NONE);
        break;
    case DH_W_EFFECT_FREE:
        touch(r, inst, n, DH_PAIRS_FREE, DH_PTS_ANY);
        break;
    case DH_W_EFFECT_SEND:
    case DH_W_EFFECT_RECEIVE:
        transfer(r, inst, e, length);
        break;
    case DH_W_EFFECT_POST:
        dh_w_read_post(r, inst, n);
        break;
    case DH_W_EFFECT_HELD:
        dh_w_op_copy(r, inst, dst, dh_w_read_channel(r, inst));
        break;
    case DH_W_EFFECT_LEND:
    case DH_W_EFFECT_LENT:
        lend(r, inst, e);
        break;
    case DH_W_EFFECT_PUT:
        put(r, inst, e);
        break;
    case DH_W_EFFECT_POINT:
        point(r, inst, e);
        break;
    case DH_W_EFFECT_LIST:
    case DH_W_EFFECT_TREE:
    case DH_W_EFFECT_WALK:
        nodes(r, inst, e);
        break;
    case DH_W_EFFECT_SET:
        dh_w_op_unary(r, inst, DH_W_SET, DH_W_NONE, n != DH_W_NONE && e->inside ? inside(r, inst, n) : n);
        break;
    case DH_W_EFFECT_GET:
        dh_w_op_unary(r, inst, DH_W_GET, dst, DH_W_NONE);
        break;
    case DH_W_EFFECT_LOCAL:
        dh_w_op_unary(r, inst, DH_W_OWN, dst, DH_W_NONE);
        break;
    case DH_W_EFFECT_THROW:
        dh_w_op_unary(r, inst, DH_W_THROW, DH_W_NONE, n);
        break;
    case DH_W_EFFECT_CATCH:
        dh_w_op_unary(r, inst, DH_W_CATCH, dst, DH_W_NONE);
        break;
    default:
        DH_CHECK(!"an effect that nobody reads");
    }
}

void dh_w_read_effects(struct dh_w_reader *r, LLVMValueRef inst, const char *effects)
{
    struct dh_w_effect e;
    while (dh_w_effect_next(&effects, &e))
        if (!dh_w_read_sync(r, inst, &e))
            apply(r, inst, &e);
}
