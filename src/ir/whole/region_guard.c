/*
 * region_guard.c - the lock of the cell that a node hangs from. See region.h.
 *
 * If two accesses are to the same node, both are in the region of the same cell. So they are apart if their
 * cells certainly differ, and exclude each other if the lock held at each has the same rank as its cell
 * (guard.c): equal cells mean equal indices, and equal indices mean equal locks. That the region is known in
 * a function, and the lock only in the one that calls it, does not matter if nothing is released in between.
 */
#include <string.h>

#include "ir/whole/counted.h"
#include "ir/whole/region.h"

enum { MAX_LOCKS = 4, MAX_STEPS = 8 };

struct guard {
    struct dh_w_rank lock[MAX_LOCKS];
    bool shared[MAX_LOCKS];
    u32 n, cells;
    u32 indexed; /* the cell is not a constant one */
    u32 touches; /* enum dh_w_touches */
    u32 known;   /* the cells are */
    int64_t off; /* of a constant one */
};

/* An access, seen from the function in which it is done, or from one that calls that. */
struct view {
    u32 inst, op;
    dh_w_value pointer;
    struct lock {
        struct dh_w_address at;
        bool shared;
    } lock[MAX_LOCKS];
    u32 n;
};

static void see_locks(struct dh_w_races *r, struct view *v)
{
    size_t n;
    const u32 *at = dh_w_set(&r->flow->locks, dh_w_held_at(r, v->inst, v->op, DH_W_SOUND), &n);
    for (size_t i = 0; i < n && v->n < MAX_LOCKS; i++) {
        const struct dh_w_held *h = dh_w_held(&r->flow->locks, at[i]);
        if (dh_w_address_known(&h->address))
            v->lock[v->n++] = (struct lock){h->address, h->shared};
    }
}

/* The class of the pointer has no root here: what it is where the function is called. false: it is known
 * nowhere, or something was released in between. */
static bool go_to_caller(struct dh_w_races *r, struct view *v)
{
    struct dh_w *w = r->w;
    const struct dh_w_classes *c = &r->regions->of[v->inst];
    const struct dh_w_change *since = dh_w_flow_change(r->flow, v->inst, v->op);
    u32 args = w->fns[w->insts[v->inst].fn].args, class = dh_w_region_class(c, v->pointer), k = 0;
    u32 caller = r->only[v->inst].caller, op = r->only[v->inst].op;
    if (since->minus != 0 || since->releases_all || caller == DH_W_NONE)
        return false;
    const struct dh_w_fn *fn = &w->fns[w->insts[caller].fn];
    const struct dh_w_call *call = &fn->calls[fn->ops[op].call];
    while (k < args && k < call->n && (dh_w_region_class(c, k) != class || call->args[k] >= DH_W_CONSTANT))
        k++;
    if (k >= args || k >= call->n)
        return false;
    u32 n = v->n;
    v->n = 0;
    for (u32 i = 0; i < n; i++) {
        struct dh_w_address at =
            dh_w_address_in_caller(w, &r->flow->locks.expressions, &v->lock[i].at, fn, call);
        if (dh_w_address_known(&at))
            v->lock[v->n++] = (struct lock){at, v->lock[i].shared};
    }
    v->inst = caller;
    v->op = op;
    v->pointer = call->args[k];
    see_locks(r, v);
    return true;
}

/* The root of the class is a cell, and locks have one rank with it. */
static bool guard_by_root(struct dh_w_races *r, const struct view *v, struct guard *to)
{
    struct dh_w_regions *g = r->regions;
    const struct dh_w_classes *c = &g->of[v->inst];
    u32 root = c->root[dh_w_region_class(c, v->pointer)];
    if (root == 0)
        return false;
    const struct dh_w_cell *cell = &c->roots[root - 1];
    if (cell->cells == DH_W_NONE ||
        !dh_w_cell_is_known_at(g, &r->w->fns[r->w->insts[v->inst].fn], cell, v->op))
        return false;
    to->known = true;
    to->cells = cell->cells;
    to->indexed = cell->at.terms > 0;
    to->off = cell->at.off;
    for (u32 i = 0; i < v->n; i++)
        if (dh_w_rank_of(&cell->at, &v->lock[i].at, 1, &to->lock[to->n]))
            to->shared[to->n++] = v->lock[i].shared;
    return true;
}

/* A pointer in the class is to a cell, whichever, and the lock at a constant distance from it. */
static bool guard_by_pointer(struct dh_w_races *r, const struct view *v, struct guard *to)
{
    struct dh_w_regions *g = r->regions;
    const struct dh_w_classes *c = &g->of[v->inst];
    u32 class = dh_w_region_class(c, v->pointer), cells, offset;
    for (u32 i = 0; i < v->n; i++) {
        const struct dh_w_address *at = &v->lock[i].at;
        if (at->base == DH_W_NONE || at->terms > 0 || dh_w_region_class(c, at->base) != class ||
            !dh_w_place_is_in(g, v->inst, at->base) ||
            !dh_w_cell_pointed(g, v->inst, at->base, &cells, &offset) || to->n == MAX_LOCKS ||
            (to->known && cells != to->cells))
            continue;
        const struct dh_w_cells *all = &g->cells[cells];
        LLVMValueRef variable = r->w->objects[all->object].value;
        to->known = true;
        to->cells = cells;
        to->indexed = all->stride != 0;
        to->lock[to->n] = (struct dh_w_rank){.data = variable,
                                             .lock = variable,
                                             .data_off = all->begin,
                                             .lock_off = offset + at->off,
                                             .data_stride = all->stride,
                                             .lock_stride = all->stride,
                                             .length = 1};
        to->shared[to->n++] = v->lock[i].shared;
    }
    return to->n > 0;
}

u32 dh_w_region_guard(struct dh_w_races *r, u32 inst, u32 op, dh_w_value pointer)
{
    struct dh_w_regions *g = r->regions;
    struct guard to;
    struct view v = {.inst = inst, .op = op, .pointer = pointer};
    memset(&to, 0, sizeof to);
    if (g == NULL || pointer >= DH_W_CONSTANT || !g->of[inst].known)
        return 0;
    to.touches = dh_w_place_touches(g, inst, op, pointer, r->w->fns[r->w->insts[inst].fn].ops[op].length);
    see_locks(r, &v);
    for (u32 steps = 0; steps < MAX_STEPS && g->of[v.inst].known; steps++) {
        bool by_root = guard_by_root(r, &v, &to);
        if (guard_by_pointer(r, &v, &to) || by_root)
            break;
        if (g->of[v.inst].root[dh_w_region_class(&g->of[v.inst], v.pointer)] != 0 || !go_to_caller(r, &v))
            return to.touches != DH_W_TOUCHES_NONE ? 0 : dh_w_pool_add(&g->guards, &to, sizeof to);
    }
    return dh_w_pool_add(&g->guards, &to, sizeof to);
}

bool dh_w_region_excludes(const struct dh_w_races *r, u32 object, u32 a, u32 b)
{
    const struct dh_w_regions *g = r->regions;
    if (g == NULL || !g->in[object])
        return false;
    const struct guard *x = a == 0 ? NULL : g->guards.item[a], *y = b == 0 ? NULL : g->guards.item[b];
    if (g->has_cells[object] &&
        ((x != NULL && x->touches == DH_W_TOUCHES_NONE) || (y != NULL && y->touches == DH_W_TOUCHES_NONE)))
        return true;
    if (x == NULL || y == NULL || !x->known || !y->known ||
        (g->has_cells[object] && (x->touches != DH_W_TOUCHES_OWN || y->touches != DH_W_TOUCHES_OWN)))
        return false;
    if (x->cells != y->cells || (!x->indexed && !y->indexed && x->off != y->off))
        return true;
    for (u32 i = 0; i < x->n; i++)
        for (u32 j = 0; j < y->n; j++)
            if (!(x->shared[i] && y->shared[j]) && dh_w_same_rank(&x->lock[i], &y->lock[j]))
                return true;
    return false;
}
