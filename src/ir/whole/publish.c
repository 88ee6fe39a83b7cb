/*
 * publish.c - memory that is written before its address is properly published to other threads.
 *
 *     p = malloc(sizeof *p);
 *     p->key = key;                      and others: lock(&m); for (p = head; p; p = p->next) ... p->key ...
 *     lock(&m); p->next = head; head = p; unlock(&m);
 *
 * Another thread gets the address from memory: from a place in which this one, or one that got it from there,
 * has stored it. If no place that may hold the address has a pair, and none is accessed by atomic operations,
 * which may order nothing, or by assembly and functions of libraries, whose accesses are not all known, each
 * of these loads is ordered after the store that it reads from; so what was done before the first store
 * (DH_W_MARK_FRESH) is ordered before everything that others do.
 *
 * That a place has no pair may itself depend on this reasoning. So pairs with fresh accesses are postponed,
 * and all objects are assumed to be properly published; an object in a place that has a pair is not, so its
 * pairs are emitted, and so on. What remains is consistent: consider the first race in an execution; each
 * load of the address came before it, without a race.
 */
#include <stdlib.h>

#include "ir/whole/race.h"

struct dh_w_publish {
    bool *proper;  /* by object */
    bool *loose;   /* by object: some of it is accessed in a way that may order nothing and has no pairs */
    u32 *raced_in; /* by object: 1 + the last of its places in pairs */
    struct raced {
        dh_pts_location at;
        u32 length, before; /* 1 + the one before of the same object */
    } *raced;
    size_t n_raced, cap_raced;
    struct dh_w_table raced_of; /* by location and length */
    struct dh_w_postponed *later;
    size_t n_later, cap_later;
};

static bool is_loose(const struct dh_w_op *op)
{
    if (op->access == DH_PAIRS_ATOMIC_READ || op->access == DH_PAIRS_ATOMIC_WRITE ||
        op->access == DH_PAIRS_ATOMIC_UPDATE)
        return true;
    return op->access == DH_W_NO_ACCESS && (op->kind == DH_W_LOAD || op->kind == DH_W_STORE) &&
           op->inst != NULL && LLVMIsACallInst(op->inst) != NULL;
}

static void find_loose(struct dh_w_publish *p, const struct dh_w *w)
{
    dh_pts_location l;
    for (u32 i = 0; i < w->n_insts; i++) {
        const struct dh_w_fn *fn = &w->fns[w->insts[i].fn];
        for (u32 o = 0; o < fn->n_ops; o++) {
            dh_pts_node node = is_loose(&fn->ops[o]) ? dh_w_node(w, i, fn->ops[o].a) : DH_PTS_NONE;
            if (node == DH_PTS_NONE)
                continue;
            for (struct dh_pts_iter it = dh_pts_iter(w->pts, node); dh_pts_next(&it, &l);)
                p->loose[dh_pts_place(w->pts, l).object] = true;
        }
    }
}

void dh_w_publish_find(struct dh_w_races *r)
{
    struct dh_w *w = r->w;
    if (w->large)
        return;
    struct dh_w_publish *p = dh_arena_alloc(&w->arena, sizeof *p);
    *p = (struct dh_w_publish){.proper = dh_arena_array(&w->arena, w->n_objects + 1, sizeof *p->proper),
                               .loose = dh_arena_array(&w->arena, w->n_objects + 1, sizeof *p->loose),
                               .raced_in = dh_arena_array(&w->arena, w->n_objects + 1, sizeof *p->raced_in)};
    for (u32 i = 0; i < w->n_objects; i++)
        p->proper[i] = w->objects[i].kind == DH_W_HEAP;
    find_loose(p, w);
    r->publish = p;
}

void dh_w_publish_done(struct dh_w_races *r)
{
    if (r->publish == NULL)
        return;
    dh_w_table_done(&r->publish->raced_of);
    free(r->publish->raced);
    free(r->publish->later);
}

bool dh_w_publish_postpone(struct dh_w_races *r, const struct dh_w_class *a, const struct dh_w_class *b,
                           const struct dh_w_postponed *way)
{
    struct dh_w_publish *p = r->publish;
    if (p == NULL || !((a->marks | b->marks) & DH_W_MARK_FRESH) || !p->proper[way->object])
        return false;
    p->later = dh_util_grow(p->later, p->n_later, &p->cap_later, sizeof *p->later);
    p->later[p->n_later++] = *way;
    return true;
}

void dh_w_publish_raced(struct dh_w_races *r, const struct dh_w_place *place)
{
    struct dh_w_publish *p = r->publish;
    for (int side = 0; side < 2 && p != NULL; side++) {
        struct dh_w_key key = DH_W_KEY(place->at[side], place->length[side]);
        if (dh_w_table_get(&p->raced_of, key) != DH_W_TABLE_NONE)
            continue;
        dh_w_table_put(&p->raced_of, key, 0);
        p->raced = dh_util_grow(p->raced, p->n_raced, &p->cap_raced, sizeof *p->raced);
        p->raced[p->n_raced++] =
            (struct raced){place->at[side], place->length[side], p->raced_in[place->object]};
        p->raced_in[place->object] = (u32)p->n_raced;
    }
}

/* Whether an address that is held there may come to another thread without order. */
static bool is_improper(const struct dh_w_publish *p, const struct dh_w *w, u32 container,
                        dh_pts_location place)
{
    u8 kind = w->objects[container].kind;
    if ((kind != DH_W_GLOBAL && kind != DH_W_STACK && kind != DH_W_HEAP) || p->loose[container])
        return true;
    for (u32 n = p->raced_in[container]; n != 0; n = p->raced[n - 1].before)
        if (dh_pts_locations_overlap(w->pts, place, sizeof(void *), p->raced[n - 1].at,
                                     p->raced[n - 1].length))
            return true;
    return false;
}

static bool refute(struct dh_w_publish *p, const struct dh_w *w, dh_pts_node node)
{
    dh_pts_location l;
    bool changed = false;
    if (node == DH_PTS_NONE)
        return false;
    for (struct dh_pts_iter it = dh_pts_iter(w->pts, node); dh_pts_next(&it, &l);) {
        u32 object = dh_pts_place(w->pts, l).object;
        changed |= p->proper[object];
        p->proper[object] = false;
    }
    return changed;
}

static bool refute_all(struct dh_w_publish *p, const struct dh_w *w)
{
    bool changed = refute(p, w, w->given);
    changed |= refute(p, w, w->thrown);
    changed |= refute(p, w, w->kept);
    for (u32 c = 0; c < w->n_objects; c++) {
        const dh_pts_location *fields;
        u32 n = dh_pts_fields(w->pts, c, &fields);
        for (u32 k = 0; k < n; k++)
            if (is_improper(p, w, c, fields[k]))
                changed |= refute(p, w, dh_pts_contents(w->pts, fields[k]));
    }
    return changed;
}

void dh_w_publish_settle(struct dh_w_races *r, void (*name)(void *, const struct dh_w_postponed *), void *arg)
{
    struct dh_w_publish *p = r->publish;
    if (p == NULL)
        return;
    while (p->n_later > 0 && refute_all(p, r->w)) {
        size_t kept = 0;
        for (size_t i = 0; i < p->n_later; i++)
            if (p->proper[p->later[i].object])
                p->later[kept++] = p->later[i];
            else
                name(arg, &p->later[i]);
        p->n_later = kept;
    }
}
