/*
 * safe.c - the accesses that cannot race, for a build that omits their checks.
 *
 * An access is safe if it is in no pair of `sound`. That alone would rest on what `sound` assumes about
 * code outside the program (assume.def): such code is trusted not to access the program's memory. In a link
 * it may be an object that was compiled without bitcode, but with its own checks, so here it is not trusted.
 * Everything it may reach is EXPOSED, and accesses to that are not safe:
 *   - what was passed to it, what it returned or holds in its variables, and everything reachable from there;
 *   - what it can name: exports.c passes it all of that;
 *   - the results of functions that it may call;
 *   - what is passed to a call through a pointer that leads out of the program, or has no known target.
 * If one of these is a function of the program that the analysis does not treat as called by such code, it
 * could do anything at any time: then nothing is safe.
 *
 * Accesses that the analysis never reaches are not safe either, since it has no results for them, nor are
 * those whose pointer has no known target.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/whole/race.h"
#include "ir/whole/spread.h"
#include "ir/whole/whole.h"

struct safe {
    struct dh_w *w;
    struct dh_w_races *r;   /* NULL: there is one thread only */
    bool *exposed;          /* by object: its accesses are not safe */
    u8 *is;                 /* by site: enum */
    struct dh_w_table sets; /* by points-to set: whether all that is in it may be safe */
};
enum { UNSEEN, SAFE, UNSAFE };

/* ---- what code outside the program may reach ---- */

/* A thread-local variable cannot be handed over by its address (exports.c), since each thread has its own. */
static bool is_named_elsewhere(LLVMValueRef variable)
{
    LLVMLinkage linkage = LLVMGetLinkage(variable);
    return linkage != LLVMInternalLinkage && linkage != LLVMPrivateLinkage;
}

static bool is_outside(const struct dh_w *w, u32 object)
{
    const struct dh_w_object *o = &w->objects[object];
    switch (o->kind) {
    case DH_W_OUTSIDE:
        return true;
    case DH_W_GLOBAL:
    case DH_W_CODE:
        return o->value != NULL && LLVMIsDeclaration(o->value);
    case DH_W_THREAD_LOCAL:
        return o->value == NULL || is_named_elsewhere(o->value);
    default:
        return false;
    }
}

static bool leads_outside(const struct dh_w *w, dh_pts_node callee)
{
    dh_pts_location l;
    bool any = false;
    if (callee == DH_PTS_NONE)
        return true;
    for (struct dh_pts_iter it = dh_pts_iter(w->pts, callee); dh_pts_next(&it, &l); any = true)
        if (is_outside(w, dh_pts_place(w->pts, l).object))
            return true;
    return !any;
}

static bool has_edge(const struct dh_w_inst *inst, u32 op)
{
    for (size_t i = 0; i < inst->n_edges; i++)
        if (inst->edges[i].op == op)
            return true;
    for (size_t i = 0; i < inst->n_forks; i++)
        if (inst->forks[i].op == op)
            return true;
    return false;
}

/* Arguments of calls through pointers that lead out of the program. What the library calls back (BACK) is
 * given what the library is given, which is known. */
static void spread_calls(struct dh_w_spread *s, u32 inst)
{
    const struct dh_w *w = s->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn];
    for (u32 o = 0; o < fn->n_ops; o++) {
        const struct dh_w_op *op = &fn->ops[o];
        bool through = op->kind == DH_W_CALL || op->kind == DH_W_FORK;
        const struct dh_w_call *call = through && op->call != DH_W_NONE ? &fn->calls[op->call] : NULL;
        if (call == NULL || call->fn != DH_W_NONE)
            continue;
        if (has_edge(&w->insts[inst], o) && !leads_outside(w, dh_w_node(w, inst, call->callee)))
            continue;
        for (u32 i = 0; i < call->n; i++)
            dh_w_spread_node(s, dh_w_node(w, inst, call->args[i]));
    }
}

static void find_exposed(struct safe *s)
{
    struct dh_w *w = s->w;
    struct dh_w_spread all = {.w = w, .reached = s->exposed};
    dh_w_spread_node(&all, w->given);
    dh_w_spread_node(&all, w->thrown);
    for (u32 i = 0; i < w->n_objects; i++)
        if (is_outside(w, i))
            dh_w_spread_object(&all, i);
    for (u32 i = 0; i < w->n_insts; i++) {
        const struct dh_w_inst *inst = &w->insts[i];
        dh_w_value ret = w->fns[inst->fn].ret;
        if (w->roots[inst->root].unknown && ret != DH_W_NONE)
            dh_w_spread_node(&all, inst->node[ret]);
        if (inst->live)
            spread_calls(&all, i);
    }
    dh_w_spread_finish(&all);
}

/* Whether all functions that such code has are run on its behalf. */
static bool are_called(const struct safe *s)
{
    const struct dh_w *w = s->w;
    bool *called = dh_arena_array(&s->w->arena, w->n_fns + 1, sizeof *called);
    for (size_t i = 0; i < w->n_insts; i++)
        if (w->insts[i].live && w->roots[w->insts[i].root].unknown)
            called[w->insts[i].fn] = true;
    for (size_t i = 0; i < w->n_fns; i++)
        if (w->fns[i].defined && s->exposed[w->fns[i].object] && !called[i])
            return false;
    return true;
}

/* ---- accesses ---- */

static bool is_known(const struct safe *s, u32 object)
{
    u8 kind = s->w->objects[object].kind;
    bool memory = kind == DH_W_GLOBAL || kind == DH_W_THREAD_LOCAL || kind == DH_W_STACK || kind == DH_W_HEAP;
    return memory && !s->exposed[object];
}

static bool leads_to_known(struct safe *s, dh_pts_node node)
{
    dh_pts_location l;
    bool any = false, all = true;
    if (node == DH_PTS_NONE)
        return false;
    struct dh_w_key key = DH_W_KEY(dh_pts_set_number(s->w->pts, node));
    u32 known = dh_w_table_get(&s->sets, key);
    if (known != DH_W_TABLE_NONE)
        return known == 1;
    for (struct dh_pts_iter it = dh_pts_iter(s->w->pts, node); dh_pts_next(&it, &l) && all; any = true)
        all = is_known(s, dh_pts_place(s->w->pts, l).object);
    dh_w_table_put(&s->sets, key, any && all);
    return any && all;
}

static bool is_reached(struct safe *s, u32 inst, u32 op, dh_w_value pointer)
{
    if (s->r == NULL)
        return true;
    u32 guards = dh_w_guards(s->r, inst, op, pointer); /* first: the pool may move */
    return s->r->guards.size[guards] > 0;
}

static void look_at(struct safe *s, u32 inst, u32 o)
{
    const struct dh_w *w = s->w;
    const struct dh_w_op *op = &w->fns[w->insts[inst].fn].ops[o];
    for (u32 part = 0; part < 2; part++) {
        dh_w_value pointer = part ? op->b : op->a;
        if ((part ? op->access_b : op->access) == DH_W_NO_ACCESS || s->is[op->site + part] == UNSAFE)
            continue;
        bool safe = leads_to_known(s, dh_w_node(w, inst, pointer)) && is_reached(s, inst, o, pointer);
        s->is[op->site + part] = safe ? SAFE : UNSAFE;
    }
}

static void mark_unsafe(struct safe *s, struct dh_w_table *lists, const struct dh_w_found *f)
{
    for (int side = 0; side < 2; side++) {
        struct dh_w_key key = DH_W_KEY((u64)(uptr)f->alike[side]);
        s->is[f->site[side]] = UNSAFE;
        if (f->n_alike[side] == 0 || dh_w_table_get(lists, key) != DH_W_TABLE_NONE)
            continue;
        dh_w_table_put(lists, key, 0);
        for (u32 i = 0; i < f->n_alike[side]; i++)
            s->is[f->alike[side][i]] = UNSAFE;
    }
}

/* Of a block that is freed while others use it, the runtime stamps what was accessed before: to find the use
 * after, it must know of the accesses that can race with nothing. */
static void keep_freed(struct safe *s, u32 inst, const struct dh_w_op *op)
{
    dh_pts_location l;
    dh_pts_node node = op->access == DH_PAIRS_FREE ? dh_w_node(s->w, inst, op->a) : DH_PTS_NONE;
    if (node == DH_PTS_NONE || s->is[op->site] != UNSAFE)
        return;
    for (struct dh_pts_iter it = dh_pts_iter(s->w->pts, node); dh_pts_next(&it, &l);)
        s->exposed[dh_pts_place(s->w->pts, l).object] = true;
}

static void tell(const struct safe *s, const struct dh_whole_safe *to)
{
    const struct dh_w *w = s->w;
    for (size_t f = 0; f < w->n_fns; f++)
        for (size_t o = 0; o < w->fns[f].n_ops; o++) {
            const struct dh_w_op *op = &w->fns[f].ops[o];
            bool copy = op->kind == DH_W_MEMCPY;
            if (op->access != DH_W_NO_ACCESS)
                to->access(to->arg, op->inst, copy ? DH_WHOLE_TO : DH_WHOLE_TO | DH_WHOLE_FROM,
                           s->is[op->site] == SAFE);
            if (op->access_b != DH_W_NO_ACCESS)
                to->access(to->arg, op->inst, DH_WHOLE_FROM, s->is[op->site + 1] == SAFE);
        }
}

void dh_w_safe_tell(struct dh_w *w, struct dh_w_races *r, struct dh_whole_safe *to)
{
    struct safe s = {.w = w, .r = r};
    struct dh_w_table lists = {0};
    s.exposed = dh_arena_array(&w->arena, w->n_objects + 1, sizeof *s.exposed);
    s.is = dh_arena_array(&w->arena, w->n_sites + 1, sizeof *s.is);
    find_exposed(&s);
    if (!are_called(&s)) {
        to->refused = "it hands functions to code outside of it that the analysis does not see called";
        return;
    }
    for (size_t i = 0; r != NULL && i < r->n_found; i++)
        if (r->found[i].flags & DH_PAIRS_SOUND)
            mark_unsafe(&s, &lists, &r->found[i]);
    for (u32 i = 0; i < w->n_insts; i++)
        for (u32 o = 0; o < w->fns[w->insts[i].fn].n_ops && w->insts[i].live; o++)
            keep_freed(&s, i, &w->fns[w->insts[i].fn].ops[o]);
    for (u32 i = 0; i < w->n_insts; i++)
        for (u32 o = 0; o < w->fns[w->insts[i].fn].n_ops && w->insts[i].live; o++)
            look_at(&s, i, o);
    tell(&s, to);
    dh_w_table_done(&lists);
    dh_w_table_done(&s.sets);
}
