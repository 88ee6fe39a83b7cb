/*
 * region_guard.c - the lock of the cell that a node hangs from. See region.h.
 *
 * If two accesses are to one node, both are in the region of one cell. So they are apart if their cells are
 * two for sure, and exclude each other if the lock that is held at each has one rank with its cell (guard.c):
 * equal cells are equal indices, and equal indices equal locks. That the region is known in a function, and
 * the lock only in the one that calls it, does not matter if nothing is released in between.
 */
#include <string.h>

#include "ir/whole/counted.h"
#include "ir/whole/region.h"

enum { MAX_LOCKS = 4, MAX_STEPS = 8 };

struct guard {
    struct dh_w_rank lock[MAX_LOCKS];
    bool shared[MAX_LOCKS];
    u32 n;
    u32 cells;
    u32 indexed, zero; /* the cell is not a constant one */
    int64_t off;       /* of a constant one */
};

/* The locks held at an op, in all states in which other threads may run. */
static u32 held_at(struct dh_w_races *r, u32 inst, u32 op)
{
    struct dh_w_flow *f = r->flow;
    const struct dh_w_change *c = dh_w_flow_change(f, inst, op);
    u32 held = 0;
    bool any = false;
    for (size_t s = 0; s < f->states[inst].n && c->reached; s++) {
        struct dh_w_state at = dh_w_flow_apply(f, &f->states[inst].at[s], c);
        if (r->w->insts[inst].root == 0 && at.alive[DH_W_SOUND] == 0)
            continue;
        held = any ? dh_w_set_meet(&f->locks, held, at.locks) : at.locks;
        any = true;
    }
    return held;
}

static void add_locks(struct dh_w_races *r, u32 held, const struct dh_w_address *cell, struct guard *ret)
{
    size_t n;
    const u32 *at = dh_w_set(&r->flow->locks, held, &n);
    for (size_t i = 0; i < n && ret->n < MAX_LOCKS; i++) {
        const struct dh_w_held *h = dh_w_held(&r->flow->locks, at[i]);
        if (!dh_w_rank_of(cell, &h->address, 1, &ret->lock[ret->n]))
            continue;
        ret->shared[ret->n++] = h->shared;
    }
}

/* The class of a value has no root here: what it is where the function is called. false: it is known
 * nowhere, or something was released in between. */
static bool to_caller(struct dh_w_races *r, u32 *inst, u32 *op, dh_w_value *v)
{
    const struct dh_w *w = r->w;
    const struct dh_w_classes *c = &r->regions->of[*inst];
    const struct dh_w_change *since = dh_w_flow_change(r->flow, *inst, *op);
    u32 args = w->fns[w->insts[*inst].fn].args, class = dh_w_region_class(c, *v), caller, at;
    if (since->minus != 0 || since->releases_all || !dh_w_only_call(w, *inst, &caller, &at))
        return false;
    const struct dh_w_fn *fn = &w->fns[w->insts[caller].fn];
    const struct dh_w_call *call = &fn->calls[fn->ops[at].call];
    for (u32 i = 0; i < args && i < call->n; i++)
        if (dh_w_region_class(c, i) == class && call->args[i] < DH_W_CONSTANT) {
            *inst = caller;
            *op = at;
            *v = call->args[i];
            return true;
        }
    return false;
}

u32 dh_w_region_guard(struct dh_w_races *r, u32 inst, u32 op, dh_w_value pointer)
{
    struct dh_w_regions *g = r->regions;
    struct guard to;
    memset(&to, 0, sizeof to);
    for (u32 steps = 0; steps < MAX_STEPS && g != NULL && pointer < DH_W_CONSTANT; steps++) {
        const struct dh_w_fn *fn = &r->w->fns[r->w->insts[inst].fn];
        const struct dh_w_classes *c = &g->of[inst];
        u32 root = c->known ? c->root[dh_w_region_class(c, pointer)] : 0;
        if (root == 0) {
            if (!c->known || !to_caller(r, &inst, &op, &pointer))
                return 0;
            continue;
        }
        const struct dh_w_cell *cell = &c->roots[root - 1];
        if (cell->cells == DH_W_NONE || !dh_w_cell_is_known_at(g, fn, cell, op))
            return 0;
        to.cells = cell->cells;
        to.indexed = cell->at.terms > 0;
        to.off = cell->at.off;
        add_locks(r, held_at(r, inst, op), &cell->at, &to);
        return dh_w_pool_add(&g->guards, &to, sizeof to);
    }
    return 0;
}

bool dh_w_region_excludes(const struct dh_w_races *r, u32 object, u32 a, u32 b)
{
    const struct dh_w_regions *g = r->regions;
    if (g == NULL || a == 0 || b == 0 || !g->in[object] || g->has_cells[object])
        return false;
    const struct guard *x = g->guards.item[a], *y = g->guards.item[b];
    if (x->cells != y->cells || (!x->indexed && !y->indexed && x->off != y->off))
        return true;
    for (u32 i = 0; i < x->n; i++)
        for (u32 j = 0; j < y->n; j++)
            if (!(x->shared[i] && y->shared[j]) && dh_w_same_rank(&x->lock[i], &y->lock[j]))
                return true;
    return false;
}
