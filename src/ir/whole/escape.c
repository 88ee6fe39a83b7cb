/*
 * escape.c - which objects other threads can reach.
 *
 * An object escapes if it can be reached from a global variable, from memory outside the program, from what a
 * thread is given when it starts, or from what is thrown. What a thread allocates and never lets escape is
 * its own in each of its instances, even if many of them run the same code.
 */
#include <stdlib.h>

#include "ir/whole/race.h"

struct search {
    struct dh_w *w;
    u32 *stack;
    size_t n, cap;
    struct dh_w_table done; /* by points-to set: thousands of places may hold the same */
};

static void reach(struct search *s, u32 object)
{
    if (s->w->objects[object].escapes)
        return;
    s->w->objects[object].escapes = true;
    s->stack = dh_util_grow(s->stack, s->n, &s->cap, sizeof *s->stack);
    s->stack[s->n++] = object;
}

static void reach_from(struct search *s, dh_pts_node node)
{
    dh_pts_location l;
    if (node == DH_PTS_NONE)
        return;
    struct dh_w_key key = DH_W_KEY(dh_pts_set_number(s->w->pts, node));
    if (dh_w_table_get(&s->done, key) != DH_W_TABLE_NONE)
        return;
    dh_w_table_put(&s->done, key, 0);
    for (struct dh_pts_iter it = dh_pts_iter(s->w->pts, node); dh_pts_next(&it, &l);)
        reach(s, dh_pts_place(s->w->pts, l).object);
}

void dh_w_escape(struct dh_w *w)
{
    struct search s = {.w = w};
    for (u32 i = 0; i < w->n_objects; i++)
        if (w->objects[i].kind == DH_W_GLOBAL || w->objects[i].kind == DH_W_OUTSIDE)
            reach(&s, i);
    for (u32 i = 0; i < w->n_insts; i++) {
        const struct dh_w_inst *inst = &w->insts[i];
        const struct dh_w_fn *fn = &w->fns[inst->fn];
        for (size_t k = 0; k < inst->n_forks; k++) {
            const struct dh_w_op *op = &fn->ops[inst->forks[k].op];
            if (op->kind == DH_W_OUTSIDER && !(op->flags & DH_W_UNKNOWN))
                continue; /* a destructor: what it is given stays with the thread */
            reach_from(&s, dh_w_node(w, i, fn->calls[op->call].args[0]));
            reach_from(&s, dh_w_node(w, i, op->a));
        }
    }
    for (u32 r = 0; r < w->n_roots; r++) {
        reach_from(&s, w->roots[r].result);
        if (w->roots[r].unknown)
            reach_from(&s, w->given);
    }
    reach_from(&s, w->thrown);
    while (s.n > 0) {
        const dh_pts_location *fields;
        u32 n = dh_pts_fields(w->pts, s.stack[--s.n], &fields);
        for (u32 i = 0; i < n; i++)
            reach_from(&s, dh_pts_contents(w->pts, fields[i]));
    }
    free(s.stack);
    dh_w_table_done(&s.done);
}
