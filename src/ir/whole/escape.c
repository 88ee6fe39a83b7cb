/*
 * escape.c - which objects other threads can reach.
 *
 * An object escapes if it can be reached from a global variable, from memory outside the program, from what a
 * thread receives when it starts, or from what is thrown. What a thread allocates and never lets escape is
 * private to each of its instances, even if many of them run the same code.
 */
#include "ir/whole/race.h"
#include "ir/whole/spread.h"

void dh_w_escape(struct dh_w *w)
{
    struct dh_w_spread s = {.w = w};
    s.reached = dh_arena_array(&w->arena, w->n_objects + 1, sizeof *s.reached);
    for (u32 i = 0; i < w->n_objects; i++)
        if (w->objects[i].kind == DH_W_GLOBAL || w->objects[i].kind == DH_W_OUTSIDE)
            dh_w_spread_object(&s, i);
    for (u32 i = 0; i < w->n_insts; i++) {
        const struct dh_w_inst *inst = &w->insts[i];
        const struct dh_w_fn *fn = &w->fns[inst->fn];
        for (size_t k = 0; k < inst->n_forks; k++) {
            const struct dh_w_op *op = &fn->ops[inst->forks[k].op];
            if (op->kind == DH_W_OUTSIDER && !(op->flags & DH_W_UNKNOWN))
                continue; /* a destructor: what it is given stays with the thread */
            dh_w_spread_node(&s, dh_w_node(w, i, fn->calls[op->call].args[0]));
            dh_w_spread_node(&s, dh_w_node(w, i, op->a));
        }
    }
    for (u32 r = 0; r < w->n_roots; r++) {
        dh_w_spread_node(&s, w->roots[r].result);
        if (w->roots[r].unknown)
            dh_w_spread_node(&s, w->given);
    }
    dh_w_spread_node(&s, w->thrown);
    dh_w_spread_finish(&s);
    for (u32 i = 0; i < w->n_objects; i++)
        w->objects[i].escapes = s.reached[i];
}
