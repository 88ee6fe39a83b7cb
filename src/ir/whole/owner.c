/*
 * owner.c - which objects may be handed from thread to thread, which code has them without owning them, and
 * whether the results confirm it. See owner.h.
 */
#include "ir/whole/owner.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is handed over ---- */

/* Whether a points-to set has a property, remembered: many values share a set. */
bool dh_w_owner_holds(struct dh_w_owner *o, dh_pts_node node)
{
    struct dh_pts *pts = o->r->w->pts;
    dh_pts_location l;
    if (node == DH_PTS_NONE)
        return false;
    struct dh_w_key key = DH_W_KEY(dh_pts_representative(pts, node));
    u32 known = dh_w_table_get(&o->holding, key);
    if (known != DH_W_TABLE_NONE)
        return known;
    bool holds = false;
    for (struct dh_pts_iter it = dh_pts_iter(pts, node); dh_pts_next(&it, &l) && !holds;)
        holds = o->handed[dh_pts_place(pts, l).object];
    dh_w_table_put(&o->holding, key, holds);
    return holds;
}

static bool is_read(const struct dh_w_op *op)
{
    return (op->kind == DH_W_LOAD || op->kind == DH_W_UPDATE) && op->dst != DH_W_NONE &&
           op->access != DH_W_NO_ACCESS;
}

static bool from_shared(const struct dh_w *w, u32 inst, dh_w_value a)
{
    dh_pts_location l;
    dh_pts_node node = dh_w_node(w, inst, a);
    if (node == DH_PTS_NONE)
        return false;
    for (struct dh_pts_iter it = dh_pts_iter(w->pts, node); dh_pts_next(&it, &l);)
        if (dh_w_owner_shared(w, dh_pts_place(w->pts, l).object))
            return true;
    return false;
}

static void hand_over(struct dh_w_owner *o, dh_pts_node node, u32 *stack, size_t *n)
{
    struct dh_w *w = o->r->w;
    dh_pts_location l;
    if (node == DH_PTS_NONE)
        return;
    for (struct dh_pts_iter it = dh_pts_iter(w->pts, node); dh_pts_next(&it, &l);) {
        u32 object = dh_pts_place(w->pts, l).object;
        if (w->objects[object].kind == DH_W_HEAP && !o->handed[object]) {
            o->handed[object] = true;
            stack[(*n)++] = object;
        }
    }
}

/* What is taken somewhere, and what is reached from there: it goes along. */
static void find_handed(struct dh_w_owner *o)
{
    struct dh_w *w = o->r->w;
    u32 *stack = calloc(w->n_objects + 1, sizeof *stack);
    size_t n = 0;
    if (stack == NULL)
        dh_util_no_memory();
    for (u32 i = 0; i < w->n_insts; i++) {
        const struct dh_w_fn *fn = &w->fns[w->insts[i].fn];
        for (u32 p = 0; p < fn->n_ops && o->r->flow->states[i].n > 0; p++) {
            if (!is_read(&fn->ops[p]) || dh_pts_count(w->pts, dh_w_node(w, i, fn->ops[p].dst)) == 0 ||
                !from_shared(w, i, fn->ops[p].a) || !dh_w_takes(o->r, i, p))
                continue;
            dh_w_table_put(&o->taking, DH_W_KEY(i, p), 1);
            hand_over(o, dh_w_node(w, i, fn->ops[p].dst), stack, &n);
        }
    }
    while (n > 0) {
        const dh_pts_location *fields;
        u32 count = dh_pts_fields(w->pts, stack[--n], &fields);
        for (u32 k = 0; k < count; k++)
            hand_over(o, dh_pts_contents(w->pts, fields[k]), stack, &n);
    }
    free(stack);
    for (u32 i = 0; i < w->n_objects && !o->any; i++)
        o->any = o->handed[i];
}

/* ---- who borrows ---- */

static bool borrowed(const struct dh_w_owner *o, u32 inst, dh_w_value v)
{
    return v < DH_W_CONSTANT && o->borrows[inst][v];
}

/* true: it was not known. */
static bool borrow(struct dh_w_owner *o, u32 inst, dh_w_value v)
{
    if (v >= DH_W_CONSTANT || o->borrows[inst][v] || !dh_w_owner_holds(o, dh_w_node(o->r->w, inst, v)))
        return false;
    o->borrows[inst][v] = true;
    return true;
}

/* Memory of one thread that holds borrowed pointers beside its own: as one. */
static bool mix(struct dh_w_owner *o, u32 inst, dh_w_value to)
{
    struct dh_w *w = o->r->w;
    dh_pts_location l;
    bool changed = false;
    dh_pts_node node = dh_w_node(w, inst, to);
    if (node == DH_PTS_NONE)
        return false;
    for (struct dh_pts_iter it = dh_pts_iter(w->pts, node); dh_pts_next(&it, &l);) {
        u32 object = dh_pts_place(w->pts, l).object;
        if (!dh_w_owner_shared(w, object) && !o->mixed[object])
            o->mixed[object] = o->any_mixed = changed = true;
    }
    return changed;
}

static bool has_handed(struct dh_w_owner *o, u32 object)
{
    const dh_pts_location *fields;
    u32 n = dh_pts_fields(o->r->w->pts, object, &fields);
    for (u32 i = 0; i < n; i++)
        if (dh_w_owner_holds(o, dh_pts_contents(o->r->w->pts, fields[i])))
            return true;
    return false;
}

/* Whether a pointer that is read there is borrowed: from shared memory that is not handed over itself. That
 * does not change once it is known what is handed over, so it is remembered. */
static bool lends_shared(struct dh_w_owner *o, dh_pts_node node)
{
    const struct dh_w *w = o->r->w;
    struct dh_w_key key = DH_W_KEY(dh_pts_representative(w->pts, node));
    u32 known = dh_w_table_get(&o->lending, key);
    dh_pts_location l;
    if (known != DH_W_TABLE_NONE)
        return known;
    bool lends = false;
    for (struct dh_pts_iter it = dh_pts_iter(w->pts, node); dh_pts_next(&it, &l) && !lends;) {
        u32 object = dh_pts_place(w->pts, l).object;
        lends = dh_w_owner_shared(w, object) && !o->handed[object] && has_handed(o, object);
    }
    dh_w_table_put(&o->lending, key, lends);
    return lends;
}

/* ... or from memory of this thread in which borrowed pointers are. */
static bool lends(struct dh_w_owner *o, u32 inst, dh_w_value a)
{
    const struct dh_w *w = o->r->w;
    dh_pts_location l;
    dh_pts_node node = dh_w_node(w, inst, a);
    if (borrowed(o, inst, a))
        return true;
    if (node == DH_PTS_NONE)
        return false;
    if (lends_shared(o, node))
        return true;
    for (struct dh_pts_iter it = dh_pts_iter(w->pts, node); o->any_mixed && dh_pts_next(&it, &l);)
        if (o->mixed[dh_pts_place(w->pts, l).object])
            return true;
    return false;
}

static bool to_callees(struct dh_w_owner *o, u32 i, u32 op)
{
    const struct dh_w *w = o->r->w;
    const struct dh_w_inst *inst = &w->insts[i];
    const struct dh_w_fn *fn = &w->fns[inst->fn];
    const struct dh_w_call *c = &fn->calls[fn->ops[op].call];
    bool changed = false;
    for (size_t e = 0; e < inst->n_edges; e++) {
        if (inst->edges[e].op != op)
            continue;
        u32 callee = inst->edges[e].inst;
        const struct dh_w_fn *to = &w->fns[w->insts[callee].fn];
        for (u32 k = 0; k < c->n && k < to->args; k++)
            changed |= borrowed(o, i, c->args[k]) && borrow(o, callee, k);
        changed |= borrowed(o, callee, to->ret) && borrow(o, i, fn->ops[op].dst);
    }
    return changed;
}

static bool step(struct dh_w_owner *o, u32 i, u32 n)
{
    const struct dh_w_op *op = &o->r->w->fns[o->r->w->insts[i].fn].ops[n];
    switch ((enum dh_w_kind)op->kind) {
    case DH_W_COPY:
    case DH_W_OFFSET:
    case DH_W_ELEMENT:
    case DH_W_ANY:
        return borrowed(o, i, op->a) && borrow(o, i, op->dst);
    case DH_W_LOAD:
        return op->dst < DH_W_CONSTANT && !o->borrows[i][op->dst] &&
               dh_w_owner_holds(o, dh_w_node(o->r->w, i, op->dst)) &&
               dh_w_table_get(&o->taking, DH_W_KEY(i, n)) == DH_W_TABLE_NONE && lends(o, i, op->a) &&
               borrow(o, i, op->dst);
    case DH_W_STORE:
        return borrowed(o, i, op->b) && mix(o, i, op->a);
    case DH_W_MEMCPY:
        return !(op->flags & DH_W_BYTES) && lends(o, i, op->b) && mix(o, i, op->a);
    case DH_W_CALL:
    case DH_W_BACK:
        return to_callees(o, i, n);
    default:
        return false;
    }
}

static void find_borrowed(struct dh_w_owner *o)
{
    const struct dh_w *w = o->r->w;
    for (u32 i = 0; i < w->n_insts; i++)
        for (size_t k = 0; k < w->insts[i].n_forks; k++)
            if (w->fns[w->insts[w->insts[i].forks[k].inst].fn].args > 0)
                borrow(o, w->insts[i].forks[k].inst, 0);
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 i = 0; i < w->n_insts; i++)
            for (u32 n = 0; n < w->fns[w->insts[i].fn].n_ops; n++)
                changed |= step(o, i, n);
    }
}

static void find_callers(struct dh_w_owner *o)
{
    const struct dh_w *w = o->r->w;
    size_t n = 0;
    o->first_caller = dh_arena_array(&o->r->w->arena, w->n_insts + 2, sizeof *o->first_caller);
    for (u32 i = 0; i < w->n_insts; i++)
        for (size_t e = 0; e < w->insts[i].n_edges; e++, n++)
            o->first_caller[w->insts[i].edges[e].inst + 2]++;
    for (size_t i = 2; i < w->n_insts + 2; i++)
        o->first_caller[i] += o->first_caller[i - 1];
    o->callers = dh_arena_array(&o->r->w->arena, n + 1, sizeof *o->callers);
    for (u32 i = 0; i < w->n_insts; i++)
        for (size_t e = 0; e < w->insts[i].n_edges; e++)
            o->callers[o->first_caller[w->insts[i].edges[e].inst + 1]++] =
                (struct caller){i, w->insts[i].edges[e].op};
}

void dh_w_owner_find(struct dh_w_races *r)
{
    struct dh_w *w = r->w;
    struct dh_w_owner *o = dh_arena_alloc(&w->arena, sizeof *o);
    *o = (struct dh_w_owner){.r = r};
    o->handed = dh_arena_array(&w->arena, w->n_objects + 1, sizeof *o->handed);
    r->owner = o;
    if (w->large)
        return;
    find_handed(o);
    if (!o->any)
        return;
    o->mixed = dh_arena_array(&w->arena, w->n_objects + 1, sizeof *o->mixed);
    o->borrows = dh_arena_array(&w->arena, w->n_insts + 1, sizeof *o->borrows);
    for (u32 i = 0; i < w->n_insts; i++)
        o->borrows[i] = dh_arena_array(&w->arena, w->fns[w->insts[i].fn].locals + 1, 1);
    find_callers(o);
    dh_w_kept_find(o);
    find_borrowed(o);
}

void dh_w_owner_done(struct dh_w_races *r)
{
    struct dh_w_owner *o = r->owner;
    dh_w_table_done(&o->kept);
    dh_w_table_done(&o->taking);
    dh_w_table_done(&o->holding);
    dh_w_table_done(&o->lending);
    dh_w_table_done(&o->raced_of);
    free(o->raced);
    free(o->ways);
}

/* ---- what follows for pairs ---- */

bool dh_w_owner_strange(const struct dh_w_races *r, u32 inst, u32 op, dh_w_value pointer)
{
    const struct dh_w_owner *o = r->owner;
    return o->any &&
           (borrowed(o, inst, pointer) || dh_w_table_get(&o->kept, DH_W_KEY(inst, op)) != DH_W_TABLE_NONE);
}

bool dh_w_owner_handed(const struct dh_w_races *r, u32 object)
{
    return r->owner->handed[object];
}

static void note_raced(struct dh_w_owner *o, const struct dh_w_place *p, int side, bool soft)
{
    struct dh_w_key key = DH_W_KEY(p->at[side], p->length[side], soft);
    if (dh_w_table_get(&o->raced_of, key) != DH_W_TABLE_NONE)
        return;
    dh_w_table_put(&o->raced_of, key, 0);
    o->raced = dh_util_grow(o->raced, o->n_raced, &o->cap_raced, sizeof *o->raced);
    o->raced[o->n_raced++] = (struct dh_w_raced){p->at[side], p->length[side], p->object, soft};
}

void dh_w_owner_raced(struct dh_w_races *r, const struct dh_w_place *place, const struct dh_w_class *a,
                      const struct dh_w_class *b, const struct dh_w_verdict *v)
{
    /* The end of an object is no write of what it holds. */
    bool ends = a->access == DH_PAIRS_FREE || b->access == DH_PAIRS_FREE;
    if (!r->owner->any || ends || !(v->flags & DH_PAIRS_RELAY) || !(v->unless[DH_W_RELAY] & DH_PAIRS_IF_EXIT))
        return;
    bool soft = !(v->unless[DH_W_RELAY] & DH_PAIRS_IF_OWNED);
    note_raced(r->owner, place, 0, soft);
    note_raced(r->owner, place, 1, soft);
}

void dh_w_owner_found(struct dh_w_races *r, u32 object, u32 found)
{
    struct dh_w_owner *o = r->owner;
    if (!o->any || !o->handed[object])
        return;
    o->ways = dh_util_grow(o->ways, o->n_ways, &o->cap_ways, sizeof *o->ways);
    o->ways[o->n_ways++] = (struct dh_w_way){object, found};
}

static int by_object(const void *a, const void *b)
{
    const struct dh_w_raced *x = a, *y = b;
    return (x->object > y->object) - (x->object < y->object);
}

static size_t first_raced(const struct dh_w_owner *o, u32 object)
{
    size_t low = 0, high = o->n_raced;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (o->raced[middle].object < object)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A place in `container` that holds pointers to handed objects: pairs on it mean that they are not. */
static bool judge_place(struct dh_w_owner *o, u32 container, dh_pts_location place)
{
    struct dh_w *w = o->r->w;
    bool raced = false, changed = false;
    dh_pts_location l;
    dh_pts_node contents = dh_pts_contents(w->pts, place);
    if (!dh_w_owner_holds(o, contents))
        return false;
    for (size_t i = first_raced(o, container); i < o->n_raced && o->raced[i].object == container && !raced;
         i++)
        raced =
            !(o->raced[i].soft && o->handed[container]) &&
            dh_pts_locations_overlap(w->pts, place, sizeof(void *), o->raced[i].location, o->raced[i].length);
    for (struct dh_pts_iter it = dh_pts_iter(w->pts, contents); raced && dh_pts_next(&it, &l);) {
        u32 object = dh_pts_place(w->pts, l).object;
        changed |= o->handed[object];
        o->handed[object] = false;
    }
    return changed;
}

void dh_w_owner_settle(struct dh_w_races *r)
{
    struct dh_w_owner *o = r->owner;
    struct dh_w *w = r->w;
    if (o->n_raced > 1)
        qsort(o->raced, o->n_raced, sizeof *o->raced, by_object);
    for (bool changed = o->any; changed;) {
        changed = false;
        for (u32 c = 0; c < w->n_objects; c++) {
            const dh_pts_location *fields;
            u32 n = dh_w_owner_shared(w, c) ? dh_pts_fields(w->pts, c, &fields) : 0;
            for (u32 k = 0; k < n; k++)
                changed |= judge_place(o, c, fields[k]);
        }
    }
    for (size_t i = 0; i < o->n_ways; i++)
        for (int s = 0; s < DH_W_STYLES && !o->handed[o->ways[i].object]; s++)
            r->found[o->ways[i].found].unless[s] |= DH_PAIRS_IF_OWNED;
    u64 n = 0;
    for (u32 i = 0; i < w->n_objects; i++)
        n += o->handed[i];
    dh_pairs_add_counter(w->pairs, "objects handed over", n);
}
