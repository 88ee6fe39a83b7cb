/*
 * flow.c - bottom-up: what happens in each instance since its entry (RELAY's relative locksets, and more).
 *
 * Locks are held if they are held on all paths through the function, threads are alive if they are on some
 * path. Recursion is solved by iterating over each strongly connected component, from "never returns"
 * downwards. Instances in which nothing happens, which are most of them, are skipped. walk.c handles one
 * instance.
 */
#include "ir/whole/flow.h"

#include <stdlib.h>
#include <string.h>

const struct dh_w_change *dh_w_flow_change(const struct dh_w_flow *f, u32 inst, u32 op)
{
    return dh_w_change_get(f, f->change[inst] == NULL ? 0 : f->change[inst][op]);
}

void dh_w_flow_init(struct dh_w_flow *f, struct dh_w *w)
{
    *f = (struct dh_w_flow){.w = w};
    dh_w_locks_init(&f->locks, w);
    dh_w_pool_init(&f->changes, &w->arena);
    dh_w_change_intern(f, &(struct dh_w_change){.reached = true, .through = true});
    f->matters = dh_arena_array(&w->arena, w->n_insts, sizeof *f->matters);
    f->is_called = dh_arena_array(&w->arena, w->n_insts, sizeof *f->is_called);
    for (size_t i = 0; i < w->n_insts; i++)
        for (size_t e = 0; e < w->insts[i].n_edges; e++)
            f->is_called[w->insts[i].edges[e].inst] = true;
    f->summary = dh_arena_array(&w->arena, w->n_insts, sizeof *f->summary);
    f->raised = dh_arena_array(&w->arena, w->n_insts, sizeof *f->raised);
    f->change = dh_arena_array(&w->arena, w->n_insts, sizeof *f->change);
    f->states = dh_arena_array(&w->arena, w->n_insts, sizeof *f->states);
    f->facts = dh_arena_array(&w->arena, w->n_fns, sizeof *f->facts);
    f->facts_known = dh_arena_array(&w->arena, w->n_fns, sizeof *f->facts_known);
}

void dh_w_flow_done(struct dh_w_flow *f)
{
    dh_w_locks_done(&f->locks);
    dh_w_pool_done(&f->changes);
    dh_w_table_done(&f->barrier_of);
    for (size_t i = 0; i < f->w->n_fns; i++)
        dh_w_facts_free(f->facts[i]);
}

static void on_scc(void *arg, const u32 *insts, size_t n)
{
    struct dh_w_flow *f = arg;
    struct dh_w_change raised;
    for (size_t i = 0; i < n; i++)
        f->summary[insts[i]] = f->raised[insts[i]] =
            dh_w_change_intern(f, &(struct dh_w_change){.reached = false});
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < n; i++) {
            struct dh_w_change c = dh_w_walk(f, insts[i], false, &raised);
            u32 summary = dh_w_change_intern(f, &c), thrown = dh_w_change_intern(f, &raised);
            changed |= summary != f->summary[insts[i]] || thrown != f->raised[insts[i]];
            f->summary[insts[i]] = summary;
            f->raised[insts[i]] = thrown;
        }
        if (n == 1 && changed) {
            /* Once more only if it calls itself. */
            const struct dh_w_inst *inst = &f->w->insts[insts[0]];
            bool itself = false;
            for (size_t i = 0; i < inst->n_edges; i++)
                itself |= inst->edges[i].inst == insts[0];
            changed = itself;
        }
    }
    for (size_t i = 0; i < n; i++)
        dh_w_walk(f, insts[i], true, &raised);
}

/* ---- which instances matter ---- */

static bool acts(const struct dh_w_fn *fn)
{
    for (size_t i = 0; i < fn->n_ops; i++)
        switch (fn->ops[i].kind) {
        case DH_W_LOCK:
        case DH_W_TRYLOCK:
        case DH_W_UNLOCK:
        case DH_W_FORK:
        case DH_W_SIGNAL:
        case DH_W_OUTSIDER:
        case DH_W_JOIN:
        case DH_W_BARRIER:
        case DH_W_AGAIN:
            return true;
        default:
            break;
        }
    return false;
}

static int by_op(const void *a, const void *b)
{
    const u32 *x = a, *y = b;
    return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : (x[1] > y[1]) - (x[1] < y[1]);
}

static void find_matters(struct dh_w_flow *f)
{
    struct dh_w *w = f->w;
    bool *fn_acts = calloc(w->n_fns + 1, 1);
    DH_CHECK(fn_acts != NULL);
    for (size_t i = 0; i < w->n_fns; i++)
        fn_acts[i] = acts(&w->fns[i]);
    for (size_t i = 0; i < w->n_insts; i++)
        f->matters[i] = fn_acts[w->insts[i].fn];
    free(fn_acts);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = w->n_insts; i-- > 0;) {
            const struct dh_w_inst *inst = &w->insts[i];
            for (size_t e = 0; e < inst->n_edges && !f->matters[i]; e++)
                if (f->matters[inst->edges[e].inst] && !inst->edges[e].late)
                    f->matters[i] = changed = true;
        }
    }
    for (size_t i = 0; i < w->n_insts; i++) {
        struct dh_w_inst *inst = &w->insts[i];
        if (inst->n_edges > 1)
            qsort(inst->edges, inst->n_edges, sizeof *inst->edges, by_op);
        if (inst->n_forks > 1)
            qsort(inst->forks, inst->n_forks, sizeof *inst->forks, by_op);
        if (f->matters[i])
            f->change[i] = dh_arena_array(&w->arena, w->fns[inst->fn].n_ops + 1, sizeof **f->change);
    }
}

void dh_w_flow_summaries(struct dh_w_flow *f)
{
    dh_w_each_scc(f->w, f->matters, on_scc, f);
}

void dh_w_flow_run(struct dh_w_flow *f)
{
    find_matters(f);
    dh_w_threads_children(f);
    for (bool changed = true; changed;) {
        /* Suppose that no thread runs beside itself but those found to; what follows from it confirms it, or
         * finds another. By induction over the steps of an execution that is sound. */
        bool many[DH_W_MAX_ROOTS][DH_W_STYLES];
        u64 ended[DH_W_MAX_ROOTS][DH_W_STYLES];
        memcpy(many, f->many, sizeof many);
        memcpy(ended, f->ended, sizeof ended);
        dh_w_flow_summaries(f);
        dh_w_state_spread(f);
        dh_w_threads_parallel(f);
        changed = memcmp(many, f->many, sizeof many) != 0 || memcmp(ended, f->ended, sizeof ended) != 0;
    }
}
