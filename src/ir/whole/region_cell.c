/*
 * region_cell.c - the cells that heap structures hang from, and how long an address denotes the same one. See
 * region.h.
 */
#include "ir/whole/counted.h"
#include "ir/whole/region.h"

enum { MAX_STRIDE = 4096 };

/* ---- which ---- */

static u32 object_of(const struct dh_w_regions *g, const struct dh_w_address *a)
{
    if (a->global == NULL || a->content != 0)
        return DH_W_NONE;
    dh_pts_object object = dh_w_object_of(g->r->w, a->global);
    return object != DH_PTS_NONE && g->has_cells[object] ? object : DH_W_NONE;
}

void dh_w_region_lose(struct dh_w_regions *g, u32 object)
{
    g->changed |= g->in[object];
    g->in[object] = g->has_cells[object] = false;
}

/* Arrays of one variable that overlap are one. */
static void note_array(struct dh_w_regions *g, u32 object, const struct dh_w_term *t)
{
    u32 size = dh_pts_size(g->r->w->pts, object);
    u32 bytes = t->bytes != 0 ? t->bytes : size - (u32)t->begin;
    if (t->begin < 0 || t->stride == 0 || t->begin + bytes > size) {
        dh_w_region_lose(g, object);
        return;
    }
    for (size_t i = 0; i < g->n_cells; i++) {
        struct dh_w_cells *c = &g->cells[i];
        if (c->object != object || c->stride == 0 || c->begin + c->bytes <= t->begin ||
            t->begin + bytes <= c->begin)
            continue;
        if (c->begin != t->begin || c->stride != t->stride || c->bytes != bytes)
            dh_w_region_lose(g, object);
        return;
    }
    g->cells = dh_util_grow(g->cells, g->n_cells, &g->cap_cells, sizeof *g->cells);
    g->cells[g->n_cells++] = (struct dh_w_cells){object, t->begin, t->stride, bytes};
}

static void note_value(struct dh_w_regions *g, const struct dh_w_fn *fn, dh_w_value v)
{
    struct dh_w_address a = dh_w_address_of(g->r->w, &g->r->flow->locks.expressions, fn, v);
    u32 object = object_of(g, &a);
    if (object == DH_W_NONE)
        return;
    if (a.terms == 1)
        note_array(g, object, &a.term[0]);
    else if (a.terms > 1)
        dh_w_region_lose(g, object);
}

void dh_w_cells_find(struct dh_w_regions *g)
{
    const struct dh_w *w = g->r->w;
    g->n_cells = 0;
    for (u32 i = 0; i < w->n_fns; i++)
        for (u32 o = 0; o < w->fns[i].n_ops; o++)
            if (w->fns[i].ops[o].kind == DH_W_ELEMENT && w->fns[i].ops[o].dst != DH_W_NONE)
                note_value(g, &w->fns[i], w->fns[i].ops[o].dst);
    for (u32 i = 0; i < w->n_objects; i++)
        if (g->has_cells[i]) {
            g->cells = dh_util_grow(g->cells, g->n_cells, &g->cap_cells, sizeof *g->cells);
            g->cells[g->n_cells++] = (struct dh_w_cells){.object = i};
        }
}

bool dh_w_cell_at(struct dh_w_regions *g, const struct dh_w_address *a, struct dh_w_cell *ret)
{
    u32 object = object_of(g, a);
    *ret = (struct dh_w_cell){.cells = DH_W_NONE, .at = *a};
    if (object == DH_W_NONE)
        return false;
    for (u32 i = 0; i < g->n_cells; i++) {
        const struct dh_w_cells *c = &g->cells[i];
        bool in_array = a->terms == 1 ? c->stride != 0 && c->begin == a->term[0].begin
                                      : a->off >= c->begin && a->off < c->begin + c->bytes;
        if (c->object != object || (c->stride != 0 && !in_array))
            continue;
        ret->cells = i;
        if (c->stride == 0) { /* it is in none of the arrays, which come first in the list */
            ret->cells = a->terms == 0 ? i : DH_W_NONE;
            ret->at.off = 0;
            return true;
        }
        int64_t into = a->off - c->begin;
        if (a->terms == 1 && (into < 0 || into >= c->stride || a->term[0].stride != c->stride))
            ret->cells = DH_W_NONE;
        ret->at.off = a->terms == 1 ? c->begin : a->off - into % c->stride;
        return true;
    }
    return true;
}

bool dh_w_cell_is_exact(const struct dh_w_regions *g, const struct dh_w_cells *c, u32 offset)
{
    const struct dh_pts *pts = g->r->w->pts;
    if (c->stride == 0)
        return !dh_pts_folded(pts, c->object, offset);
    if (c->stride > MAX_STRIDE ||
        (c->bytes > c->stride && dh_pts_canonical(pts, c->object, offset + c->stride) != offset))
        return false;
    for (u32 x = (u32)c->begin; x < c->begin + c->stride; x++)
        if (x != offset && dh_pts_canonical(pts, c->object, x) == offset)
            return false;
    return true;
}

bool dh_w_cell_pointed(const struct dh_w_regions *g, u32 inst, dh_w_value v, u32 *ret_cells, u32 *ret_offset)
{
    const struct dh_w *w = g->r->w;
    dh_pts_node node = dh_w_node(w, inst, v);
    dh_pts_location l;
    u32 n = 0;
    struct dh_pts_place at = {DH_PTS_NONE, 0};
    if (node == DH_PTS_NONE)
        return false;
    for (struct dh_pts_iter it = dh_pts_iter(w->pts, node); dh_pts_next(&it, &l); n++)
        at = dh_pts_place(w->pts, l);
    if (n != 1 || !g->has_cells[at.object] || at.offset == DH_PTS_ANY)
        return false;
    for (u32 i = 0; i < g->n_cells; i++) {
        const struct dh_w_cells *c = &g->cells[i];
        if (c->object != at.object ||
            (c->stride != 0 && (at.offset < c->begin || at.offset >= c->begin + c->bytes)))
            continue;
        *ret_cells = i;
        *ret_offset = at.offset;
        return dh_w_cell_is_exact(g, c, at.offset);
    }
    return false;
}

bool dh_w_cell_equal(const struct dh_w_cell *a, const struct dh_w_cell *b)
{
    if (a->cells != b->cells)
        return false;
    return a->cells == DH_W_NONE ? a->op == b->op && a->part == b->part : dh_w_address_equal(&a->at, &b->at);
}

/* ---- as long as what ---- */

/* Where a value gets what it is. */
struct moment {
    u32 block; /* DH_W_NONE: before the function begins */
    LLVMValueRef inst;
    bool merges; /* it is a phi */
};

static struct moment moment_of(const struct dh_w_fn *fn, LLVMValueRef inst)
{
    if (inst == NULL || LLVMIsAInstruction(inst) == NULL)
        return (struct moment){.block = DH_W_NONE};
    return (struct moment){dh_w_block_number(fn, LLVMGetInstructionParent(inst)), inst,
                           LLVMIsAPHINode(inst) != NULL};
}

static bool is_before_in_block(const struct moment *a, const struct moment *b)
{
    if (a->merges && b->merges)
        return false; /* at the same time */
    for (LLVMValueRef i = LLVMGetNextInstruction(a->inst); i != NULL; i = LLVMGetNextInstruction(i))
        if (i == b->inst)
            return true;
    return false;
}

static bool dominates(const struct dh_w_fn *fn, const struct moment *a, const struct moment *b)
{
    if (a->block == DH_W_NONE)
        return true;
    if (b->block == DH_W_NONE)
        return false;
    if (a->block == b->block)
        return is_before_in_block(a, b);
    return !dh_w_reaches(fn, 0, b->block, a->block, NULL);
}

/* Whether a is passed again without b in between, which comes before it. */
static bool repeats_without(const struct dh_w_fn *fn, const struct moment *a, const struct moment *b)
{
    const struct dh_w_block *block = &fn->blocks[a->block];
    for (u32 i = 0; i < block->succs && a->block != b->block; i++)
        if (dh_w_reaches(fn, fn->succ[block->succ + i], a->block, b->block, NULL))
            return true;
    return false;
}

struct question {
    const struct dh_w_fn *fn;
    struct moment at;
    bool first; /* the value is there before one of the leaves */
};

static bool leaf_dominates(void *arg, LLVMValueRef leaf)
{
    struct question *q = arg;
    struct moment m = moment_of(q->fn, leaf);
    return dominates(q->fn, &m, &q->at);
}

static bool leaf_is_steady(void *arg, LLVMValueRef leaf)
{
    struct question *q = arg;
    struct moment m = moment_of(q->fn, leaf);
    if (m.inst == q->at.inst && m.inst != NULL)
        return true;
    if (dominates(q->fn, &m, &q->at))
        return true;
    q->first = true;
    return dominates(q->fn, &q->at, &m) &&
           (q->at.block == DH_W_NONE ? !dh_w_repeats(q->fn, m.block) : !repeats_without(q->fn, &m, &q->at));
}

static bool each_leaf(const struct dh_w_regions *g, struct question *q, const struct dh_w_cell *c,
                      bool (*holds)(void *, LLVMValueRef))
{
    if (c->cells == DH_W_NONE)
        return holds(q, q->fn->ops[c->op].inst);
    return c->at.terms == 0 ||
           dh_w_expression_leaves(&g->r->flow->locks.expressions, c->at.term[0].index, holds, q);
}

/* The instruction that gives a local its value; NULL: it is an argument. */
static LLVMValueRef instruction_of(const struct dh_w_fn *fn, dh_w_value v)
{
    if (fn->def[v] < fn->n_ops)
        return fn->ops[fn->def[v]].inst;
    for (u32 o = 0; o < fn->n_ops && fn->def[v] == DH_W_MANY; o++)
        if (fn->ops[o].dst == v)
            return fn->ops[o].inst;
    return NULL;
}

bool dh_w_cell_is_steady(const struct dh_w_regions *g, const struct dh_w_fn *fn, const struct dh_w_cell *c,
                         dh_w_value v, bool *ret_first)
{
    struct question q = {.fn = fn, .at = moment_of(fn, instruction_of(fn, v))};
    bool steady = each_leaf(g, &q, c, leaf_is_steady);
    *ret_first = q.first;
    return steady;
}

bool dh_w_cell_is_known_at(const struct dh_w_regions *g, const struct dh_w_fn *fn, const struct dh_w_cell *c,
                           u32 op)
{
    struct question q = {.fn = fn, .at = moment_of(fn, fn->ops[op].inst)};
    return each_leaf(g, &q, c, leaf_dominates);
}
