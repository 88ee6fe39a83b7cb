/*
 * region_place.c - whether a pointer to a cell points to the cell of its own region. See region.h.
 *
 * Offsets in a node stay in the node. An offset from &slot[i] may lead to slot[i + 1], and the points-to sets
 * do not distinguish these. So a value that may point into an array of cells is IN PLACE if it stays in the
 * element, as offsets in the first element tell; what is loaded, given or returned is in place, since nothing
 * else may be stored, given or returned. Or it is OUT of it by a known distance: container_of() of the head
 * of a list. From there another offset may lead back. To access memory there is no access to a cell, where a
 * branch has found that the pointer is not that of the head:
 *
 *     for (e = container_of(head->next); &e->link != head; e = container_of(e->link.next)) e->value++;
 */
#include "ir/whole/counted.h"
#include "ir/whole/region.h"

enum { UNKNOWN, IN, OUT, BAD };

/* ---- in arrays ---- */

/* The array of cells at an offset of an object; NULL: there is none. */
static const struct dh_w_cells *array_at(const struct dh_w_regions *g, struct dh_pts_place at)
{
    for (size_t i = 0; i < g->n_cells; i++) {
        const struct dh_w_cells *c = &g->cells[i];
        if (c->stride != 0 && c->object == at.object &&
            (at.offset == DH_PTS_ANY || (at.offset >= c->begin && at.offset < c->begin + c->bytes)))
            return c;
    }
    return NULL;
}

static bool has_array(const struct dh_w_regions *g, u32 object)
{
    return array_at(g, (struct dh_pts_place){object, DH_PTS_ANY}) != NULL;
}

/* Whether `length` bytes at some distance from an offset stay where they are: in the element, or outside of
 * all arrays. */
static bool stays(const struct dh_w_regions *g, struct dh_pts_place at, int64_t distance, u32 length)
{
    const struct dh_w_cells *c = array_at(g, at);
    int64_t to = (int64_t)at.offset + distance;
    if (at.offset == DH_PTS_ANY || length == DH_PTS_ANY)
        return false;
    if (c != NULL)
        return dh_w_cell_is_exact(g, c, at.offset) && to >= c->begin && to + length <= c->begin + c->stride;
    for (u32 i = 0; i < g->n_cells; i++)
        if (g->cells[i].object == at.object && to < g->cells[i].begin + g->cells[i].bytes &&
            to + length > g->cells[i].begin)
            return false;
    return to >= 0 && to + length <= dh_pts_size(g->r->w->pts, at.object);
}

/* All places of a value in variables that have arrays of cells stay so. */
static bool all_stay(const struct dh_w_regions *g, u32 inst, dh_w_value v, int64_t distance, u32 length)
{
    const struct dh_w *w = g->r->w;
    dh_pts_node node = dh_w_node(w, inst, v);
    dh_pts_location l;
    for (struct dh_pts_iter it = dh_pts_iter(w->pts, node); dh_pts_next(&it, &l);) {
        struct dh_pts_place at = dh_pts_place(w->pts, l);
        if (has_array(g, at.object) && !stays(g, at, distance, length))
            return false;
    }
    return true;
}

/* The only place of a value in variables that have arrays of cells, if it is in one. */
static bool only_place(const struct dh_w_regions *g, u32 inst, dh_w_value v, struct dh_pts_place *ret)
{
    const struct dh_w *w = g->r->w;
    dh_pts_location l;
    u32 n = 0;
    for (struct dh_pts_iter it = dh_pts_iter(w->pts, dh_w_node(w, inst, v)); dh_pts_next(&it, &l);) {
        struct dh_pts_place at = dh_pts_place(w->pts, l);
        if (!has_array(g, at.object))
            continue;
        *ret = at;
        n++;
    }
    return n == 1 && ret->offset != DH_PTS_ANY && array_at(g, *ret) != NULL &&
           dh_w_cell_is_exact(g, array_at(g, *ret), ret->offset);
}

bool dh_w_place_matters(struct dh_w_regions *g, u32 inst, dh_w_value v)
{
    const struct dh_w *w = g->r->w;
    dh_pts_node node = dh_w_node(w, inst, v);
    dh_pts_location l;
    if (node == DH_PTS_NONE)
        return false;
    struct dh_w_key key = DH_W_KEY(dh_pts_representative(w->pts, node));
    u32 known = dh_w_table_get(&g->arrays, key);
    if (known != DH_W_TABLE_NONE)
        return known;
    bool matters = false;
    for (struct dh_pts_iter it = dh_pts_iter(w->pts, node); dh_pts_next(&it, &l) && !matters;)
        matters = has_array(g, dh_pts_place(w->pts, l).object);
    dh_w_table_put(&g->arrays, key, matters);
    return matters;
}

/* ---- of values ---- */

static const struct dh_w_where in_place = {.state = IN}, bad = {.state = BAD};

static struct dh_w_where where_is(struct dh_w_regions *g, u32 inst, dh_w_value v)
{
    return v < DH_W_CONSTANT && dh_w_place_matters(g, inst, v) ? g->of[inst].where[v] : in_place;
}

static bool is_same_place(const struct dh_w_where *a, const struct dh_w_where *b)
{
    return a->state == b->state &&
           (a->state != OUT ||
            (a->at.object == b->at.object && a->at.offset == b->at.offset && a->distance == b->distance));
}

static struct dh_w_where shifted(struct dh_w_regions *g, u32 inst, const struct dh_w_op *op)
{
    struct dh_w_where to = where_is(g, inst, op->a);
    int64_t distance = op->kind == DH_W_COPY ? 0 : op->off;
    if (op->kind == DH_W_ANY || (op->kind == DH_W_ELEMENT && to.state != UNKNOWN))
        return bad;
    if (distance == 0 || to.state == UNKNOWN || to.state == BAD)
        return to;
    if (to.state == IN) {
        if (all_stay(g, inst, op->a, distance, 1))
            return in_place;
        to = (struct dh_w_where){.state = OUT};
        if (!only_place(g, inst, op->a, &to.at))
            return bad;
    }
    to.distance += distance;
    return stays(g, to.at, to.distance, 1) ? in_place : to;
}

static struct dh_w_where computed(struct dh_w_regions *g, u32 inst, const struct dh_w_op *op)
{
    const struct dh_w_fn *fn = &g->r->w->fns[g->r->w->insts[inst].fn];
    struct dh_w_address a = dh_w_address_of(g->r->w, &g->r->flow->locks.expressions, fn, op->dst);
    struct dh_w_cell cell;
    bool moves =
        op->kind == DH_W_COPY || op->kind == DH_W_OFFSET || op->kind == DH_W_ELEMENT || op->kind == DH_W_ANY;
    if (!moves)
        return in_place;
    if (dh_w_cell_at(g, &a, &cell))
        return cell.cells == DH_W_NONE ? bad : in_place;
    return shifted(g, inst, op);
}

void dh_w_places_find(struct dh_w_regions *g, u32 inst)
{
    const struct dh_w_fn *fn = &g->r->w->fns[g->r->w->insts[inst].fn];
    struct dh_w_where *where = g->of[inst].where;
    for (u32 v = 0; v < fn->locals; v++)
        where[v] = v < fn->args ? in_place : (struct dh_w_where){.state = UNKNOWN};
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 o = 0; o < fn->n_ops; o++) {
            const struct dh_w_op *op = &fn->ops[o];
            if (op->dst == DH_W_NONE || !dh_w_place_matters(g, inst, op->dst))
                continue;
            struct dh_w_where to = computed(g, inst, op), *at = &where[op->dst];
            if (to.state == UNKNOWN || is_same_place(at, &to) || at->state == BAD)
                continue;
            *at = at->state == UNKNOWN ? to : bad;
            changed = true;
        }
    }
}

/* ---- branches ---- */

/* The local, argument or constant that an operand of a comparison is. */
static dh_w_value value_of(const struct dh_w *w, const struct dh_w_fn *fn, LLVMValueRef v)
{
    for (u32 i = 0; i < fn->args; i++)
        if (LLVMGetParam(fn->value, i) == v)
            return i;
    for (u32 o = 0; o < fn->n_ops && LLVMIsAInstruction(v) != NULL; o++)
        if (fn->ops[o].inst == v && fn->ops[o].dst != DH_W_NONE)
            return fn->ops[o].dst;
    u32 constant = dh_w_table_get(&w->constant_of, DH_W_KEY((u64)(uptr)v));
    return constant == DH_W_TABLE_NONE ? DH_W_NONE : constant | DH_W_CONSTANT;
}

/* Whether y is the cell of a class, at an offset of the element: its address, or in the class a pointer that
 * leads to no node. */
static bool is_cell_of(struct dh_w_regions *g, u32 inst, u32 class, dh_w_value y, struct dh_pts_place at)
{
    const struct dh_w *w = g->r->w;
    const struct dh_w_classes *c = &g->of[inst];
    struct dh_w_address a = dh_w_address_of(w, &g->r->flow->locks.expressions, &w->fns[w->insts[inst].fn], y);
    struct dh_w_cell cell;
    u32 cells, offset;
    if (dh_w_cell_at(g, &a, &cell))
        return cell.cells != DH_W_NONE && g->cells[cell.cells].object == at.object && a.terms == 1 &&
               a.off == at.offset && c->root[class] != 0 &&
               dh_w_cell_equal(&cell, &c->roots[c->root[class] - 1]);
    return y < DH_W_CONSTANT && dh_w_region_class(c, y) == class && where_is(g, inst, y).state == IN &&
           dh_w_cell_pointed(g, inst, y, &cells, &offset) && g->cells[cells].object == at.object &&
           offset == at.offset;
}

/* Whether x, at this distance from a value of the class, is its cell if it leads to any. */
static bool tells(struct dh_w_regions *g, u32 inst, dh_w_value base, LLVMValueRef x, LLVMValueRef y)
{
    const struct dh_w *w = g->r->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn];
    dh_w_value u = value_of(w, fn, x), head = value_of(w, fn, y);
    if (u == DH_W_NONE || head == DH_W_NONE)
        return false;
    struct dh_w_address a = dh_w_address_of(w, &g->r->flow->locks.expressions, fn, u);
    struct dh_w_where at = where_is(g, inst, base);
    if (a.base != base || a.terms > 0 || (at.state != OUT && at.state != IN) ||
        (at.state == IN && !only_place(g, inst, base, &at.at)))
        return false;
    int64_t offset = at.at.offset + at.distance + a.off;
    if (offset < 0 || offset >= DH_PTS_ANY)
        return false;
    return is_cell_of(g, inst, dh_w_region_class(&g->of[inst], base), head,
                      (struct dh_pts_place){at.at.object, (u32)offset});
}

static bool is_only_way(const struct dh_w_fn *fn, u32 from, u32 to)
{
    u32 n = 0;
    for (u32 b = 0; b < fn->n_blocks; b++)
        for (u32 i = 0; i < fn->blocks[b].succs; i++)
            n += fn->succ[fn->blocks[b].succ + i] == to;
    for (u32 i = 0; i < fn->blocks[from].succs && n == 1; i++)
        if (fn->succ[fn->blocks[from].succ + i] == to)
            return true;
    return false;
}

bool dh_w_place_is_no_cell(struct dh_w_regions *g, u32 inst, u32 op, dh_w_value v)
{
    const struct dh_w *w = g->r->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn];
    struct dh_w_address a = dh_w_address_of(w, &g->r->flow->locks.expressions, fn, v);
    u32 at = dh_w_block_of(fn, op);
    if (a.base == DH_W_NONE || a.terms > 0)
        return false;
    for (u32 b = 0; b < fn->n_blocks; b++) {
        LLVMValueRef branch = LLVMGetBasicBlockTerminator(fn->blocks[b].value);
        LLVMValueRef test = branch != NULL && LLVMIsABranchInst(branch) != NULL && LLVMIsConditional(branch)
                                ? LLVMGetCondition(branch)
                                : NULL;
        if (test == NULL || LLVMIsAICmpInst(test) == NULL)
            continue;
        LLVMIntPredicate by = LLVMGetICmpPredicate(test);
        if (by != LLVMIntEQ && by != LLVMIntNE)
            continue;
        u32 differ = dh_w_block_number(fn, LLVMGetSuccessor(branch, by == LLVMIntEQ));
        LLVMValueRef x = LLVMGetOperand(test, 0), y = LLVMGetOperand(test, 1);
        if (is_only_way(fn, b, differ) && !dh_w_reaches(fn, 0, at, differ, NULL) &&
            (tells(g, inst, a.base, x, y) || tells(g, inst, a.base, y, x)))
            return true;
    }
    return false;
}

bool dh_w_place_is_in(struct dh_w_regions *g, u32 inst, dh_w_value v)
{
    return where_is(g, inst, v).state == IN;
}

bool dh_w_place_is_proper(struct dh_w_regions *g, u32 inst, u32 op, dh_w_value v)
{
    struct dh_w_where at = where_is(g, inst, v);
    return at.state == IN || at.state == UNKNOWN ||
           (at.state == OUT && dh_w_place_is_no_cell(g, inst, op, v));
}

enum dh_w_touches dh_w_place_touches(struct dh_w_regions *g, u32 inst, u32 op, dh_w_value v, u32 length)
{
    if (!dh_w_place_matters(g, inst, v))
        return DH_W_TOUCHES_OWN; /* if any cell, it is in a variable without arrays */
    if (dh_w_place_is_in(g, inst, v) && all_stay(g, inst, v, 0, length))
        return DH_W_TOUCHES_OWN;
    return dh_w_place_is_no_cell(g, inst, op, v) ? DH_W_TOUCHES_NONE : DH_W_TOUCHES_ANY;
}
