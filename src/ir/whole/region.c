/*
 * region.c - infers the regions of the heap: classes of values, and the objects that keep the invariant. See
 * region.h.
 */
#include "ir/whole/region.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ROUNDS = 32 };

struct infer {
    struct dh_w_regions *g;
    struct dh_w *w;
    u32 inst;
    const struct dh_w_fn *fn;
    struct dh_w_classes *c;
};

/* ---- objects ---- */

static void lose(struct dh_w_regions *g, dh_pts_node node)
{
    struct dh_pts *pts = g->r->w->pts;
    dh_pts_location l;
    if (node == DH_PTS_NONE)
        return;
    for (struct dh_pts_iter it = dh_pts_iter(pts, node); dh_pts_next(&it, &l);)
        dh_w_region_lose(g, dh_pts_place(pts, l).object);
}

/* Whether a value may point to an object that has the invariant. */
static bool is_tracked(struct dh_w_regions *g, dh_pts_node node)
{
    struct dh_pts *pts = g->r->w->pts;
    dh_pts_location l;
    if (node == DH_PTS_NONE)
        return false;
    struct dh_w_key key = DH_W_KEY(dh_pts_representative(pts, node));
    u32 known = dh_w_table_get(&g->tracked, key);
    if (known != DH_W_TABLE_NONE)
        return known;
    bool tracked = false;
    for (struct dh_pts_iter it = dh_pts_iter(pts, node); dh_pts_next(&it, &l) && !tracked;)
        tracked = g->in[dh_pts_place(pts, l).object];
    dh_w_table_put(&g->tracked, key, tracked);
    return tracked;
}

static bool tracks(const struct infer *f, dh_w_value v)
{
    return is_tracked(f->g, dh_w_node(f->w, f->inst, v));
}

/* Memory without the invariant, and whatever else hands pointers on, must hold none to objects with it. */
static void lose_in_other_memory(struct dh_w_regions *g)
{
    const struct dh_w *w = g->r->w;
    lose(g, w->given);
    lose(g, w->thrown);
    lose(g, w->kept);
    for (u32 i = 0; i < w->n_roots; i++) {
        lose(g, w->roots[i].result);
        lose(g, w->roots[i].kept);
    }
    for (u32 o = 0; o < w->n_objects; o++) {
        const dh_pts_location *fields;
        u32 n = g->in[o] ? 0 : dh_pts_fields(w->pts, o, &fields);
        for (u32 k = 0; k < n; k++)
            lose(g, dh_pts_contents(w->pts, fields[k]));
    }
}

/* What a variable is initialised with is stored by nobody. */
static void lose_initialised(struct dh_w_regions *g, u32 object, LLVMValueRef v)
{
    if (LLVMIsAGlobalVariable(v) != NULL) {
        dh_pts_object other = dh_w_object_of(g->r->w, v);
        bool array = false;
        for (size_t i = 0; i < g->n_cells; i++)
            array |= g->cells[i].object == object && g->cells[i].stride != 0;
        if (other == DH_PTS_NONE || !g->in[other] || (other == object && !array))
            return;
        dh_w_region_lose(g, object);
        dh_w_region_lose(g, other);
    } else if (LLVMIsAConstant(v) != NULL && LLVMIsAGlobalValue(v) == NULL) {
        for (int i = 0; i < LLVMGetNumOperands(v); i++)
            lose_initialised(g, object, LLVMGetOperand(v, (unsigned)i));
    }
}

static void lose_in_initialisers(struct dh_w_regions *g)
{
    const struct dh_w *w = g->r->w;
    for (u32 i = 0; i < w->n_objects; i++) {
        if (!g->in[i] || !g->has_cells[i])
            continue;
        LLVMValueRef with = LLVMGetInitializer(w->objects[i].value);
        if (with != NULL)
            lose_initialised(g, i, with);
        else /* it is of code outside the program */
            dh_w_region_lose(g, i);
    }
}

/* ---- classes ---- */

u32 dh_w_region_class(const struct dh_w_classes *c, dh_w_value v)
{
    while (c->up[v] != v)
        v = c->up[v];
    return v;
}

static void give_root(struct infer *f, u32 class, const struct dh_w_cell *cell)
{
    struct dh_w_classes *c = f->c;
    if (c->root[class] != 0) {
        c->broken[class] |= !dh_w_cell_equal(&c->roots[c->root[class] - 1], cell);
        return;
    }
    c->roots = dh_util_grow(c->roots, c->n_roots, &c->cap_roots, sizeof *c->roots);
    c->roots[c->n_roots++] = *cell;
    c->root[class] = (u32)c->n_roots;
}

static void unite(struct infer *f, dh_w_value a, dh_w_value b)
{
    struct dh_w_classes *c = f->c;
    a = dh_w_region_class(c, a);
    b = dh_w_region_class(c, b);
    if (a == b)
        return;
    c->up[b] = a;
    c->broken[a] |= c->broken[b];
    if (c->root[b] != 0)
        give_root(f, a, &c->roots[c->root[b] - 1]);
}

/* The cell that a value is the address of, or in. false: no such address is known. */
static bool cell_of(const struct infer *f, dh_w_value v, struct dh_w_cell *ret)
{
    struct dh_w_address a = dh_w_address_of(f->w, &f->g->r->flow->locks.expressions, f->fn, v);
    return dh_w_cell_at(f->g, &a, ret);
}

/* The two are in one region, if both may point to objects that have regions. */
static void relate(struct infer *f, dh_w_value a, dh_w_value b)
{
    struct dh_w_cell x, y;
    if (!tracks(f, a) || !tracks(f, b))
        return;
    bool local_a = a < DH_W_CONSTANT, local_b = b < DH_W_CONSTANT;
    if (local_a && local_b) {
        unite(f, a, b);
        return;
    }
    /* The address of a variable. */
    bool known_a = local_a || cell_of(f, a, &x), known_b = local_b || cell_of(f, b, &y);
    if (!known_a || !known_b || (!local_a && x.cells == DH_W_NONE) || (!local_b && y.cells == DH_W_NONE) ||
        (!local_a && !local_b && !dh_w_cell_equal(&x, &y))) {
        lose(f->g, dh_w_node(f->w, f->inst, a));
        lose(f->g, dh_w_node(f->w, f->inst, b));
    } else if (local_a || local_b) {
        give_root(f, dh_w_region_class(f->c, local_a ? a : b), local_a ? &y : &x);
    }
}

static void lose_value(struct infer *f, dh_w_value v)
{
    if (tracks(f, v))
        lose(f->g, dh_w_node(f->w, f->inst, v));
}

/* What is computed from a pointer by an offset: another place of the same node; of a variable, the cell. */
static void shift(struct infer *f, const struct dh_w_op *op)
{
    struct dh_w_cell cell;
    if (!tracks(f, op->dst))
        return;
    if (cell_of(f, op->dst, &cell)) {
        if (cell.cells == DH_W_NONE)
            lose_value(f, op->dst);
        else
            give_root(f, dh_w_region_class(f->c, op->dst), &cell);
        return;
    }
    relate(f, op->dst, op->a);
}

/* ---- calls ---- */

/* What a class of the callee is in the caller: cell, or choice of the callee. */
static struct dh_w_cell root_in_caller(struct infer *f, u32 op, const struct dh_w_cell *root, u32 class)
{
    struct dh_w_cell to = {.cells = DH_W_NONE, .op = op, .part = class};
    if (root->cells == DH_W_NONE)
        return to;
    struct dh_w_address a = dh_w_address_in_caller(f->w, &f->g->r->flow->locks.expressions, &root->at, f->fn,
                                                   &f->fn->calls[f->fn->ops[op].call]);
    struct dh_w_cell at;
    return dh_w_address_known(&a) && dh_w_cell_at(f->g, &a, &at) && at.cells != DH_W_NONE ? at : to;
}

/* The values of the caller that a class of the callee is about: arguments, and the result. */
static void relate_class(struct infer *f, u32 op, u32 callee, u32 class)
{
    const struct dh_w_call *call = &f->fn->calls[f->fn->ops[op].call];
    const struct dh_w_fn *to = &f->w->fns[f->w->insts[callee].fn];
    const struct dh_w_classes *c = &f->g->of[callee];
    dh_w_value first = DH_W_NONE;
    for (u32 i = 0; i <= to->args; i++) {
        dh_w_value inside = i < to->args ? i : to->ret;
        dh_w_value v = i == to->args ? f->fn->ops[op].dst : i < call->n ? call->args[i] : DH_W_NONE;
        if (inside == DH_W_NONE || v == DH_W_NONE || !tracks(f, v) || dh_w_region_class(c, inside) != class)
            continue;
        if (first != DH_W_NONE)
            relate(f, first, v);
        first = v;
        if (c->root[class] == 0)
            continue;
        struct dh_w_cell root = root_in_caller(f, op, &c->roots[c->root[class] - 1], class), at;
        if (v < DH_W_CONSTANT)
            give_root(f, dh_w_region_class(f->c, v), &root);
        else if (!cell_of(f, v, &at) || !dh_w_cell_equal(&at, &root))
            lose_value(f, v);
    }
}

static void lose_arguments(struct infer *f, const struct dh_w_op *op, u32 first)
{
    const struct dh_w_call *call = &f->fn->calls[op->call];
    for (u32 i = first; i < call->n; i++)
        lose_value(f, call->args[i]);
}

static void infer_call(struct infer *f, u32 op)
{
    const struct dh_w_inst *inst = &f->w->insts[f->inst];
    for (size_t e = 0; e < inst->n_edges; e++) {
        if (inst->edges[e].op != op)
            continue;
        u32 callee = inst->edges[e].inst;
        const struct dh_w_fn *to = &f->w->fns[f->w->insts[callee].fn];
        if (!f->g->of[callee].known) { /* a recursion */
            lose_arguments(f, &f->fn->ops[op], 0);
            lose_value(f, f->fn->ops[op].dst);
            continue;
        }
        lose_arguments(f, &f->fn->ops[op], to->args); /* they are variable */
        for (u32 i = 0; i <= to->args; i++) {
            dh_w_value v = i < to->args ? i : to->ret;
            if (v != DH_W_NONE)
                relate_class(f, op, callee, dh_w_region_class(&f->g->of[callee], v));
        }
    }
}

/* ---- an instance ---- */

static bool is_merge(const struct dh_w_fn *fn, const struct dh_w_op *op)
{
    return op->kind == DH_W_COPY && fn->def[op->dst] == DH_W_MANY;
}

static void infer_op(struct infer *f, u32 n)
{
    const struct dh_w_op *op = &f->fn->ops[n];
    switch ((enum dh_w_kind)op->kind) {
    case DH_W_COPY:
        if (!is_merge(f->fn, op))
            shift(f, op);
        break;
    case DH_W_OFFSET:
    case DH_W_ELEMENT:
    case DH_W_ANY:
        shift(f, op);
        break;
    case DH_W_LOAD:
        relate(f, op->dst, op->a);
        break;
    case DH_W_STORE:
        relate(f, op->a, op->b);
        break;
    case DH_W_UPDATE:
        relate(f, op->a, op->b);
        relate(f, op->dst, op->a);
        break;
    case DH_W_MEMCPY:
        if (!(op->flags & DH_W_BYTES))
            relate(f, op->a, op->b);
        break;
    case DH_W_CALL:
        infer_call(f, n);
        break;
    case DH_W_ALLOCA:
    case DH_W_ALLOC:
    case DH_W_ALLOC_AT:
    case DH_W_TOUCH:
    case DH_W_LOCK:
    case DH_W_TRYLOCK:
    case DH_W_UNLOCK:
    case DH_W_WAIT:
    case DH_W_BARRIER:
    case DH_W_RENEW:
    case DH_W_STOP:
        break;
    case DH_W_TLS: /* b is a number */
        lose_value(f, op->dst);
        break;
    default: /* leads to other threads, or comes from somewhere */
        lose_value(f, op->dst);
        lose_value(f, op->a);
        lose_value(f, op->b);
        if (op->call != DH_W_NONE)
            lose_arguments(f, op, 0);
    }
}

/* Where values of two regions come together, it is not known which one it is. */
static bool is_choice(const struct infer *f, dh_w_value x)
{
    const struct dh_w_cell *root = NULL;
    struct dh_w_cell constant;
    for (u32 o = 0; o < f->fn->n_ops; o++) {
        const struct dh_w_op *op = &f->fn->ops[o];
        if (op->dst != x || op->kind != DH_W_COPY || !tracks(f, op->a))
            continue;
        const struct dh_w_cell *other = NULL;
        struct dh_w_cell cell;
        if (op->a >= DH_W_CONSTANT)
            other = cell_of(f, op->a, &cell) ? &cell : NULL;
        else if (f->c->root[dh_w_region_class(f->c, op->a)] != 0)
            other = &f->c->roots[f->c->root[dh_w_region_class(f->c, op->a)] - 1];
        if (other == NULL)
            continue;
        if (root != NULL && !dh_w_cell_equal(root, other))
            return true;
        if (other == &cell)
            constant = cell;
        root = other == &cell ? &constant : other;
    }
    return false;
}

static void infer_merge(struct infer *f, dh_w_value x)
{
    struct dh_w_cell chosen = {.cells = DH_W_NONE};
    bool choice = is_choice(f, x);
    for (u32 o = f->fn->n_ops; o-- > 0;) {
        const struct dh_w_op *op = &f->fn->ops[o];
        if (op->dst != x)
            continue;
        if (op->kind != DH_W_COPY) { /* that is in the region of what it is computed from */
            f->c->broken[dh_w_region_class(f->c, x)] |= choice;
            continue;
        }
        chosen.op = o;
        if (!choice)
            relate(f, x, op->a);
    }
    if (choice)
        give_root(f, dh_w_region_class(f->c, x), &chosen);
}

static bool is_chosen(const struct infer *f, dh_w_value x)
{
    u32 root = f->c->root[dh_w_region_class(f->c, x)];
    return root != 0 && f->c->roots[root - 1].cells == DH_W_NONE &&
           f->fn->ops[f->c->roots[root - 1].op].dst == x &&
           is_merge(f->fn, &f->fn->ops[f->c->roots[root - 1].op]);
}

static void infer_merges(struct infer *f)
{
    const struct dh_w_fn *fn = f->fn;
    for (u32 pass = 0; pass < 2; pass++) /* at first those where it is clear */
        for (u32 o = 0; o < fn->n_ops; o++) {
            const struct dh_w_op *op = &fn->ops[o];
            if (is_merge(fn, op) && tracks(f, op->dst) && !is_chosen(f, op->dst) &&
                (pass == 1 || is_choice(f, op->dst)))
                infer_merge(f, op->dst);
        }
}

/* Whether a value that comes round a loop, or by one of two ways, is there before its region is known. */
static void check_merges(struct infer *f)
{
    const struct dh_w_fn *fn = f->fn;
    for (u32 o = 0; o < fn->n_ops; o++) {
        const struct dh_w_op *op = &fn->ops[o];
        if (!is_merge(fn, op) || op->dst == fn->ret || !tracks(f, op->dst) || is_chosen(f, op->dst))
            continue;
        u32 class = dh_w_region_class(f->c, op->dst);
        bool first, from_first = false;
        if (f->c->root[class] == 0)
            continue;
        const struct dh_w_cell *root = &f->c->roots[f->c->root[class] - 1];
        dh_w_cell_is_steady(f->g, fn, root, op->dst, &first);
        if (op->a < DH_W_CONSTANT && tracks(f, op->a))
            dh_w_cell_is_steady(f->g, fn, root, op->a, &from_first);
        f->c->broken[class] |= first || from_first;
    }
}

/* Nothing is handed on, and no pointer read or written, that may be that of another region's cell. */
static void check_places(struct infer *f)
{
    const struct dh_w_fn *fn = f->fn;
    dh_w_places_find(f->g, f->inst);
    for (u32 o = 0; o < fn->n_ops; o++) {
        const struct dh_w_op *op = &fn->ops[o];
        bool reads = op->kind == DH_W_LOAD || op->kind == DH_W_UPDATE;
        bool writes = op->kind == DH_W_STORE || op->kind == DH_W_UPDATE || op->kind == DH_W_MEMCPY;
        bool through = (reads && tracks(f, op->dst)) || (writes && tracks(f, op->b));
        bool hands_on = op->kind == DH_W_STORE || op->kind == DH_W_UPDATE ||
                        (op->kind == DH_W_COPY && op->dst == fn->ret);
        dh_w_value handed = op->kind == DH_W_COPY ? op->a : op->b;
        if (through && dh_w_place_touches(f->g, f->inst, o, op->a, op->length) == DH_W_TOUCHES_ANY)
            lose_value(f, op->a);
        if (op->kind == DH_W_MEMCPY && tracks(f, op->b) &&
            dh_w_place_touches(f->g, f->inst, o, op->b, op->length) == DH_W_TOUCHES_ANY)
            lose_value(f, op->b);
        if (hands_on && tracks(f, handed) && !dh_w_place_is_proper(f->g, f->inst, o, handed))
            lose_value(f, handed);
        for (u32 i = 0; op->kind == DH_W_CALL && i < fn->calls[op->call].n; i++)
            if (!dh_w_place_is_proper(f->g, f->inst, o, fn->calls[op->call].args[i]))
                lose_value(f, fn->calls[op->call].args[i]);
    }
}

static void check(struct infer *f)
{
    bool again = false, first;
    for (u32 o = 0; o < f->fn->n_ops; o++)
        again |= f->fn->ops[o].kind == DH_W_AGAIN;
    check_merges(f);
    check_places(f);
    for (u32 v = 0; v < f->fn->locals; v++) {
        u32 class = dh_w_region_class(f->c, v);
        if (!tracks(f, v) || v == f->fn->ret)
            continue;
        f->c->broken[class] |= again;
        if (f->c->root[class] != 0)
            f->c->broken[class] |=
                !dh_w_cell_is_steady(f->g, f->fn, &f->c->roots[f->c->root[class] - 1], v, &first);
    }
    for (u32 v = 0; v < f->fn->locals; v++)
        if (f->c->broken[dh_w_region_class(f->c, v)])
            lose_value(f, v);
}

static void infer_instance(struct dh_w_regions *g, u32 inst)
{
    struct dh_w *w = g->r->w;
    struct infer f = {.g = g, .w = w, .inst = inst, .fn = &w->fns[w->insts[inst].fn], .c = &g->of[inst]};
    bool any = false;
    f.c->n_roots = 0;
    for (u32 v = 0; v < f.fn->locals; v++) {
        f.c->up[v] = v;
        f.c->root[v] = 0;
        f.c->broken[v] = false;
        any |= tracks(&f, v);
    }
    for (u32 o = 0; o < f.fn->n_ops; o++)
        infer_op(&f, o);
    if (any) {
        infer_merges(&f);
        check(&f);
    }
    f.c->known = true;
}

static void infer_all(void *arg, const u32 *insts, size_t n)
{
    struct dh_w_regions *g = arg;
    for (size_t i = 0; i < n; i++)
        infer_instance(g, insts[i]);
}

/* ---- all ---- */

static bool any_in(const struct dh_w_regions *g)
{
    bool cells = false, nodes = false;
    for (u32 i = 0; i < g->r->w->n_objects; i++) {
        cells |= g->in[i] && g->has_cells[i];
        nodes |= g->in[i] && !g->has_cells[i];
    }
    return cells && nodes;
}

/* Global variables that lead to blocks of the heap, and these. */
static void suppose(struct dh_w_regions *g)
{
    const struct dh_w *w = g->r->w;
    dh_pts_location l;
    for (u32 o = 0; o < w->n_objects; o++) {
        g->in[o] = w->objects[o].kind == DH_W_HEAP && w->objects[o].escapes;
        const dh_pts_location *fields;
        u32 n = w->objects[o].kind == DH_W_GLOBAL ? dh_pts_fields(w->pts, o, &fields) : 0;
        for (u32 k = 0; k < n && !g->has_cells[o]; k++)
            for (struct dh_pts_iter it = dh_pts_iter(w->pts, dh_pts_contents(w->pts, fields[k]));
                 dh_pts_next(&it, &l);)
                g->has_cells[o] |= w->objects[dh_pts_place(w->pts, l).object].kind == DH_W_HEAP;
    }
    for (u32 o = 0; o < w->n_objects; o++)
        g->in[o] |= g->has_cells[o];
}

static void begin_round(struct dh_w_regions *g)
{
    g->changed = false;
    dh_w_table_done(&g->tracked);
    dh_w_table_done(&g->arrays);
    g->tracked = g->arrays = (struct dh_w_table){0};
    for (u32 i = 0; i < g->r->w->n_insts; i++)
        g->of[i].known = false;
}

void dh_w_regions_find(struct dh_w_races *r)
{
    struct dh_w *w = r->w;
    if (w->large)
        return;
    struct dh_w_regions *g = dh_arena_alloc(&w->arena, sizeof *g);
    bool *all = dh_arena_array(&w->arena, w->n_insts + 1, sizeof *all);
    *g = (struct dh_w_regions){.r = r};
    g->in = dh_arena_array(&w->arena, w->n_objects + 1, sizeof *g->in);
    g->has_cells = dh_arena_array(&w->arena, w->n_objects + 1, sizeof *g->has_cells);
    g->of = dh_arena_array(&w->arena, w->n_insts + 1, sizeof *g->of);
    dh_w_pool_init(&g->guards, &w->arena);
    dh_w_pool_add(&g->guards, "", 0);
    for (u32 i = 0; i < w->n_insts; i++) {
        size_t locals = w->fns[w->insts[i].fn].locals + 1;
        all[i] = true;
        g->of[i].up = dh_arena_array(&w->arena, locals, sizeof *g->of[i].up);
        g->of[i].root = dh_arena_array(&w->arena, locals, sizeof *g->of[i].root);
        g->of[i].where = dh_arena_array(&w->arena, locals, sizeof *g->of[i].where);
        g->of[i].broken = dh_arena_array(&w->arena, locals, sizeof *g->of[i].broken);
    }
    r->regions = g;
    suppose(g);
    u32 rounds = 0;
    do {
        do {
            begin_round(g);
            lose_in_other_memory(g);
            dh_w_cells_find(g);
            lose_in_initialisers(g);
        } while (g->changed);
        if (any_in(g))
            dh_w_each_scc(w, all, infer_all, g);
    } while (g->changed && ++rounds < MAX_ROUNDS);
    if (g->changed || !any_in(g))
        memset(g->in, 0, w->n_objects * sizeof *g->in);
}

void dh_w_regions_done(struct dh_w_races *r)
{
    struct dh_w_regions *g = r->regions;
    if (g == NULL)
        return;
    for (u32 i = 0; i < r->w->n_insts; i++)
        free(g->of[i].roots);
    free(g->cells);
    dh_w_table_done(&g->tracked);
    dh_w_table_done(&g->arrays);
    dh_w_pool_done(&g->guards);
}
