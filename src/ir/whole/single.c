/*
 * single.c - objects of which there is certainly only one at run time.
 *
 * These are globals, and allocations that are executed only once: in no loop, in a function that is called
 * from only one such place, in main or in a thread that is started once.
 */
#include "ir/whole/race.h"

enum { UNKNOWN, ONCE, OFTEN };

static u32 block_of(const struct dh_w_fn *fn, u32 op)
{
    u32 low = 0, high = (u32)fn->n_blocks;
    while (high - low > 1) {
        u32 middle = low + (high - low) / 2;
        if (fn->blocks[middle].first <= op)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Behind a setjmp things may happen twice as well. */
static bool in_loop(const struct dh_w_fn *fn, u32 op)
{
    for (size_t i = 0; i < fn->n_ops; i++)
        if (fn->ops[i].kind == DH_W_AGAIN)
            return true;
    return fn->blocks[block_of(fn, op)].loop != DH_W_NONE;
}

/* Each instance is called from one place that runs once, or not at all but as the start of a root. */
void dh_w_single_find(struct dh_w_races *r)
{
    struct dh_w *w = r->w;
    u8 *runs = dh_arena_array(&w->arena, w->n_insts + 1, 1);
    u32 *calls = dh_arena_array(&w->arena, w->n_insts + 1, sizeof *calls);
    for (u32 i = 0; i < w->n_insts; i++)
        for (size_t e = 0; e < w->insts[i].n_edges; e++)
            calls[w->insts[i].edges[e].inst]++;
    for (u32 i = 0; i < w->n_early; i++)
        calls[w->early[i]] += w->main_fn == DH_W_NONE ? 2 : 1;
    for (u32 i = 0; i < w->n_last; i++)
        calls[w->last[i]]++;
    for (u32 i = 0; i < w->n_roots; i++)
        if (w->roots[i].inst != DH_W_NONE)
            calls[w->roots[i].inst]++;
    if (w->roots[0].inst != DH_W_NONE && calls[w->roots[0].inst] == 1)
        runs[w->roots[0].inst] = ONCE;
    for (u32 i = 0; i < w->n_early; i++)
        runs[w->early[i]] = calls[w->early[i]] == 1 ? ONCE : OFTEN;
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 i = 0; i < w->n_insts; i++) {
            const struct dh_w_inst *inst = &w->insts[i];
            const struct dh_w_fn *fn = &w->fns[inst->fn];
            for (size_t e = 0; e < inst->n_edges && runs[i] == ONCE; e++) {
                u32 to = inst->edges[e].inst;
                if (runs[to] == UNKNOWN && calls[to] == 1 && !in_loop(fn, inst->edges[e].op)) {
                    runs[to] = ONCE;
                    changed = true;
                }
            }
            for (size_t e = 0; e < inst->n_forks && runs[i] == ONCE; e++) {
                const struct dh_w_root *root = &w->roots[inst->forks[e].root];
                if (runs[root->inst] == UNKNOWN && calls[root->inst] == 1 && root->kind == DH_PAIRS_THREAD &&
                    !root->many && !in_loop(fn, inst->forks[e].op)) {
                    runs[root->inst] = ONCE;
                    changed = true;
                }
            }
        }
    }
    for (u32 o = 0; o < w->n_objects; o++) {
        struct dh_w_object *object = &w->objects[o];
        object->single = object->kind == DH_W_GLOBAL;
        if ((object->kind == DH_W_STACK || object->kind == DH_W_HEAP) && runs[object->inst] == ONCE) {
            const struct dh_w_fn *fn = &w->fns[w->insts[object->inst].fn];
            object->single = !in_loop(fn, (u32)(object->op - fn->ops));
        }
    }
}
