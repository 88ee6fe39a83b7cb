/*
 * typed.c - assumes that pointers to structures point to such structures.
 *
 * Where functions of many modules have one type (`int code(void *coder, ...)`) and are called through one
 * pointer, the points-to sets give each of them the objects of all. Each function keeps its argument in a
 * variable that is declared to point to its own structure, and debug information knows the variable. So what
 * arrives at such a value is let through only if the object can have that structure there: if its type is not
 * known, or has the structure at that offset, or a union or an array of scalars, or the structures begin
 * alike (shim_fit.cpp). Of an object that is pointed to somewhere, only the places count where the structure
 * lies.
 *
 * A variable counts only if it gets the value in the block in which the value is defined: further on, the
 * variable may be one of a function that was inlined behind a test of what the value is. Objects that are
 * ruled out are counted.
 *
 * Each such local has two nodes: what is given to it, watched here, and what of that fits, which is all that
 * others see (dh_w_node).
 */
#include <stdlib.h>
#include <string.h>

#include "ir/whole/model.h"
#include "ir/whole/shim_types.h"

enum { MAX_PLACES = 8 };

/* ---- which locals ---- */

const void *dh_w_typed_base(const struct dh_w_fn *f, dh_w_value v, int64_t *ret_offset)
{
    int64_t offset = 0;
    for (size_t steps = 0; v < DH_W_CONSTANT && f->as != NULL; steps++) {
        if (f->as[v] != 0) {
            const struct dh_w_typed *t = &f->typed[f->as[v] - 1];
            for (u32 i = 1; i < t->n; i++)
                if (!dh_shim_type_same(t->type[0], t->type[i]))
                    return NULL;
            *ret_offset = offset;
            return t->type[0];
        }
        const struct dh_w_op *op = f->def[v] < f->n_ops ? &f->ops[f->def[v]] : NULL;
        if (op == NULL || steps > f->n_ops || /* it goes in a circle */
            (op->kind != DH_W_COPY && op->kind != DH_W_OFFSET))
            return NULL;
        offset += op->kind == DH_W_OFFSET ? op->off : 0;
        v = op->a;
    }
    return NULL;
}

/* No variable holds it, but it is read from a member, or from a global, that is declared as such a pointer.
 */
static u32 loaded(const struct dh_w *w, const struct dh_w_fn *f, const struct dh_w_op *op, const void **ret)
{
    int64_t offset = 0;
    const void *base = dh_w_typed_base(f, op->a, &offset);
    if (offset < 0)
        base = NULL;
    *ret = dh_shim_types_loaded(w->known, op->inst, base, (unsigned long long)offset);
    return *ret != NULL;
}

static void add_typed(struct dh_w *w, struct dh_w_fn *f, dh_w_value local, LLVMValueRef value,
                      const struct dh_w_op *op)
{
    struct dh_w_typed t = {.local = local};
    if (f->as[local] != 0 || LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMPointerTypeKind)
        return;
    t.n = (u32)dh_shim_types_declared(w->known, value, t.type, DH_W_MAX_DECLARED);
    if (t.n == 0 && op != NULL && op->kind == DH_W_LOAD)
        t.n = loaded(w, f, op, &t.type[0]);
    if (t.n == 0 || t.n == DH_W_MAX_DECLARED) /* perhaps more */
        return;
    f->typed = dh_util_grow(f->typed, f->n_typed, &f->cap_typed, sizeof *f->typed);
    f->typed[f->n_typed++] = t;
    f->as[local] = (u32)f->n_typed;
}

/* The op that gives an instruction's value its last touch: some are computed in several steps. */
static bool defines(const struct dh_w_fn *f, size_t n)
{
    const struct dh_w_op *op = &f->ops[n];
    switch (op->kind) {
    case DH_W_COPY:
    case DH_W_OFFSET:
    case DH_W_ELEMENT:
    case DH_W_LOAD:
    case DH_W_CALL:
        break;
    default:
        return false;
    }
    return op->dst != DH_W_NONE && op->dst != f->ret && op->dst != f->var && op->inst != NULL &&
           LLVMIsAInstruction(op->inst) != NULL &&
           (n + 1 == f->n_ops || f->ops[n + 1].inst != op->inst || f->ops[n + 1].dst == op->dst);
}

void dh_w_typed_find(struct dh_w *w)
{
    for (size_t i = 0; i < w->n_fns && !w->large; i++) {
        struct dh_w_fn *f = &w->fns[i];
        if (!f->defined || f->locals == 0)
            continue;
        f->as = dh_arena_array(&w->arena, f->locals, sizeof *f->as);
        for (u32 k = 0; k < f->args && k < LLVMCountParams(f->value); k++)
            add_typed(w, f, k, LLVMGetParam(f->value, k), NULL);
        for (size_t n = 0; n < f->n_ops; n++)
            if (defines(f, n))
                add_typed(w, f, f->ops[n].dst, f->ops[n].inst, &f->ops[n]);
    }
}

/* ---- what fits ---- */

void dh_w_typed_begin(struct dh_w *w, u32 inst)
{
    const struct dh_w_fn *f = &w->fns[w->insts[inst].fn];
    for (u32 i = 0; i < f->n_typed; i++) {
        u32 *at = dh_arena_array(&w->arena, 3, sizeof *at);
        at[0] = inst;
        at[1] = DH_W_NONE;
        at[2] = i;
        w->insts[inst].node[f->locals + i] = dh_pts_value(w->pts);
        dh_pts_watch(w->pts, w->insts[inst].node[f->typed[i].local], at);
    }
}

/* Where the structure can be; n is DH_SHIM_ANYWHERE: right there. */
struct places {
    unsigned long long at[MAX_PLACES];
    size_t n;
};

/* In an object of known type. An offset in what was made an array stands for the same place in all its
 * elements: then one of the structure's places has to be among these. */
static struct places places_of(const struct dh_w *w, dh_pts_object object, const struct dh_w_shape *shape,
                               u32 offset, const void *declared)
{
    const struct places here = {.n = DH_SHIM_ANYWHERE}, nowhere = {.n = 0};
    struct places all = {.n = 0};
    bool open = shape->stride == 0;
    u32 in_type = shape->stride == 0 ? offset : offset % shape->stride;
    if (offset != DH_PTS_ANY && dh_shim_type_fits(w->known, shape->type, open, in_type, declared))
        return here;
    if (offset != DH_PTS_ANY && !dh_pts_folded(w->pts, object, offset))
        return nowhere;
    all.n = dh_shim_type_places(w->known, shape->type, open, declared, all.at, MAX_PLACES);
    if (offset == DH_PTS_ANY || all.n == DH_SHIM_ANYWHERE)
        return all;
    for (size_t i = 0; i < all.n; i++)
        if (dh_pts_canonical(w->pts, object, (u32)all.at[i]) == offset)
            return here;
    return nowhere;
}

/* Of an object of no known type: whether it is too small, even if the last member was left out when it was
 * allocated. */
static bool has_room(const struct dh_w *w, dh_pts_object object, uint32_t offset, const void *declared)
{
    u32 size = dh_pts_size(w->pts, object), from = offset == DH_PTS_ANY ? 0 : offset;
    return size == DH_PTS_ANY || from >= size || dh_shim_type_least(w->known, declared) < size - from;
}

void dh_w_typed_flow(struct dh_w *w, const u32 *at, dh_pts_object object, uint32_t offset)
{
    const struct dh_w_fn *f = &w->fns[w->insts[at[0]].fn];
    const struct dh_w_typed *t = &f->typed[at[2]];
    dh_pts_node to = w->insts[at[0]].node[f->locals + at[2]];
    struct dh_w_shape shape = dh_w_shape_of_object(w, object);
    bool fits = false, as_it_is = false;
    for (u32 i = 0; i < t->n && !as_it_is; i++) {
        struct places p = {.n = 0};
        if (shape.type != NULL)
            p = places_of(w, object, &shape, offset, t->type[i]);
        else if (has_room(w, object, offset, t->type[i]))
            p.n = DH_SHIM_ANYWHERE;
        as_it_is = p.n == DH_SHIM_ANYWHERE;
        fits |= p.n > 0;
        for (size_t k = 0; k < p.n && !as_it_is; k++)
            dh_pts_address(w->pts, to, object, (u32)p.at[k]);
    }
    if (as_it_is)
        dh_pts_address(w->pts, to, object, offset);
    else if (!fits)
        dh_w_assume(w, DH_W_ASSUME_DECLARED, 1, NULL);
}
