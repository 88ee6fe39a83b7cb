/*
 * begin.c - the distance of a pointer from the beginning of its object, whichever object that is.
 *
 * A structure passed to threads by pointer holds locks and the data they protect: p->lock[i] and p->data[i].
 * Two accesses that have a byte in common are to the same object; if the distance of p from the beginning of
 * that object is known for both, they have the same p (guard.c).
 *
 * It is known for pointers that have a single offset in the points-to sets, if that stands for no other, and
 * for those derived from a variable or an allocation through arguments of calls and threads by constants
 * only. The latter distinguishes &pool from &pool.lock[2], which the sets do not.
 *
 * Where p may be an element of an array of such structures, p->data[i] is in p's element as long as the index
 * is in the array, and no two elements have a byte of it in common: two accesses that have one in common have
 * the same p, and the same i.
 */
#include "ir/whole/race.h"

enum { MAX_STEPS = 8, MAX_SIZE = 1 << 16 };

/* Whether all offsets of an object that a canonical one stands for are so many bytes from each other. */
static bool are_apart(const struct dh_w *w, u32 object, u32 offset, u32 bytes)
{
    u32 size = dh_pts_size(w->pts, object), last = DH_W_NONE;
    if (size > MAX_SIZE || offset >= size)
        return false;
    for (u32 x = 0; x < size; x++) {
        if (dh_pts_canonical(w->pts, object, x) != offset)
            continue;
        if (last != DH_W_NONE && x - last < bytes)
            return false;
        last = x;
    }
    return true;
}

/* All that the value may point to is at one offset; if `bytes` is not 0, of an element, whichever that is,
 * and so many bytes from the next. */
static bool find_offset(const struct dh_w *w, u32 inst, dh_w_value v, u32 bytes, int64_t *ret_off)
{
    dh_pts_node node = dh_w_node(w, inst, v);
    dh_pts_location l;
    u32 n = 0, first = 0;
    if (node == DH_PTS_NONE)
        return false;
    for (struct dh_pts_iter it = dh_pts_iter(w->pts, node); dh_pts_next(&it, &l); n++) {
        struct dh_pts_place at = dh_pts_place(w->pts, l);
        u8 kind = w->objects[at.object].kind;
        if ((kind != DH_W_GLOBAL && kind != DH_W_STACK && kind != DH_W_HEAP) || at.offset == DH_PTS_ANY ||
            (n > 0 && at.offset != first) ||
            (bytes ? !are_apart(w, at.object, at.offset, bytes)
                   : dh_pts_folded(w->pts, at.object, at.offset)))
            return false;
        first = at.offset;
    }
    *ret_off = first;
    return n > 0;
}

static bool is_allocated(const struct dh_w_fn *fn, dh_w_value v)
{
    const struct dh_w_op *op = fn->def[v] < fn->n_ops ? &fn->ops[fn->def[v]] : NULL;
    return op != NULL && (op->kind == DH_W_ALLOC || op->kind == DH_W_ALLOCA);
}

/* What a parameter is where the function is called, or the thread created, if that is one place; and the
 * instance that does it. */
static struct dh_w_address given(struct dh_w_races *r, dh_w_value parameter, u32 *inst)
{
    struct dh_w *w = r->w;
    struct dh_w_pool *expressions = &r->flow->locks.expressions;
    struct dh_w_address a = {.base = parameter}, unknown = {.base = DH_W_NONE};
    u32 number = w->insts[*inst].root, op;
    const struct dh_w_root *root = &w->roots[number];
    if (root->inst != *inst) {
        if (!dh_w_only_call(w, *inst, inst, &op))
            return unknown;
        const struct dh_w_fn *caller = &w->fns[w->insts[*inst].fn];
        return dh_w_address_in_caller(w, expressions, &a, caller, &caller->calls[caller->ops[op].call]);
    }
    if (root->kind != DH_PAIRS_THREAD || root->many || root->creator == DH_W_NONE ||
        r->flow->is_called[*inst])
        return unknown;
    *inst = root->creator;
    op = dh_w_only_fork(w, *inst, number);
    if (op == DH_W_NONE)
        return unknown;
    const struct dh_w_fn *creator = &w->fns[w->insts[*inst].fn];
    return dh_w_address_in_creator(w, expressions, &a, creator, &creator->ops[op], NULL);
}

static bool find_begin(struct dh_w_races *r, u32 inst, dh_w_value base, int64_t *ret_off)
{
    int64_t way = 0, off;
    for (u32 steps = 0; steps < MAX_STEPS; steps++) {
        const struct dh_w_fn *fn = &r->w->fns[r->w->insts[inst].fn];
        if (find_offset(r->w, inst, base, 0, &off)) {
            *ret_off = way + off;
            return true;
        }
        if (is_allocated(fn, base)) {
            *ret_off = way;
            return true;
        }
        if (base >= fn->args)
            return false;
        struct dh_w_address a = given(r, base, &inst);
        if (!dh_w_address_known(&a) || a.terms > 0 || a.content != 0)
            return false;
        way += a.off;
        if (a.global != NULL) {
            *ret_off = way;
            return true;
        }
        base = a.base;
    }
    return false;
}

bool dh_w_begin(struct dh_w_races *r, u32 inst, const struct dh_w_address *a, int64_t *ret_off)
{
    if (a->global != NULL && a->content != 0)
        return false;
    *ret_off = 0;
    return a->global != NULL || find_begin(r, inst, a->base, ret_off);
}

/* The only object that a value may point to, if there is one of it at run time. */
static bool only_object(const struct dh_w *w, u32 inst, dh_w_value v, u32 *ret_object)
{
    dh_pts_node node = dh_w_node(w, inst, v);
    dh_pts_location l;
    u32 n = 0;
    if (node == DH_PTS_NONE)
        return false;
    for (struct dh_pts_iter it = dh_pts_iter(w->pts, node); dh_pts_next(&it, &l); n++)
        *ret_object = dh_pts_place(w->pts, l).object;
    return n == 1 && dh_w_single(w, *ret_object);
}

bool dh_w_in_one_object(const struct dh_w *w, u32 inst, const struct dh_w_address *a,
                        const struct dh_w_address *b)
{
    u32 x, y;
    if (a->global != NULL || b->global != NULL)
        return a->global == b->global && a->content == b->content;
    return a->base == b->base ||
           (only_object(w, inst, a->base, &x) && only_object(w, inst, b->base, &y) && x == y);
}

/* ---- elements ---- */

dh_pts_object dh_w_object_of(const struct dh_w *w, LLVMValueRef global)
{
    u32 number = dh_w_table_get(&w->global_of, DH_W_KEY((u64)(uptr)global));
    return number == DH_W_TABLE_NONE ? DH_PTS_NONE : w->globals[number].object;
}

/* The same for an element of an array in a global variable. */
static bool is_of_array(const struct dh_w *w, LLVMValueRef global, const struct dh_w_term *outer, u32 bytes)
{
    dh_pts_object object = dh_w_object_of(w, global);
    if (object == DH_PTS_NONE)
        return false;
    u32 size = dh_pts_size(w->pts, object);
    if (outer->begin < 0 || outer->stride == 0 || outer->begin >= size || size > MAX_SIZE)
        return false;
    u32 first = (u32)outer->begin, end = outer->bytes == 0 ? size : first + outer->bytes;
    for (u32 x = first; x < end && x < size; x += outer->stride)
        if (dh_pts_canonical(w->pts, object, x) != first)
            return false;
    return are_apart(w, object, first, bytes);
}

bool dh_w_in_element(const struct dh_w *w, u32 inst, struct dh_w_address *a, struct dh_w_address *b)
{
    const struct dh_w_term *x = a->term, *y = b->term;
    if (a->base != b->base || a->global != b->global || a->content != 0 || b->content != 0 ||
        a->terms != b->terms || a->terms == 0)
        return false;
    u32 last = a->terms - 1;
    if (x[last].index != y[last].index || x[last].bytes == 0)
        return false;
    int64_t off = 0;
    if (a->terms == 2) {
        if (a->global == NULL || x[0].index != y[0].index || x[0].stride != y[0].stride ||
            !is_of_array(w, a->global, &x[0], x[last].bytes))
            return false;
    } else if (a->global != NULL || !find_offset(w, inst, a->base, x[last].bytes, &off)) {
        return false;
    }
    a->off += off;
    b->off += off;
    return true;
}
