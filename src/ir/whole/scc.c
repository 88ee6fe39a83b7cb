/*
 * scc.c - strongly connected components of the call graph, callees first: Tarjan's algorithm with an explicit
 * stack.
 */
#include <stdlib.h>

#include "ir/whole/flow.h"

struct frame {
    u32 inst;
    size_t edge;
};

struct search {
    const struct dh_w *w;
    const bool *matters;
    u32 *index, *low; /* 0: not seen yet */
    bool *on_stack;
    u32 *stack;
    struct frame *frames;
    size_t n_stack, n_frames;
    u32 next;
};

static void enter(struct search *s, u32 inst)
{
    s->index[inst] = s->low[inst] = ++s->next;
    s->stack[s->n_stack++] = inst;
    s->on_stack[inst] = true;
    s->frames[s->n_frames++] = (struct frame){inst, 0};
}

static void visit(struct search *s, u32 root, void (*on_scc)(void *, const u32 *, size_t), void *arg)
{
    enter(s, root);
    while (s->n_frames > 0) {
        struct frame *f = &s->frames[s->n_frames - 1];
        const struct dh_w_inst *inst = &s->w->insts[f->inst];
        if (f->edge < inst->n_edges) {
            u32 to = inst->edges[f->edge++].inst;
            if (!s->matters[to])
                continue;
            if (s->index[to] == 0)
                enter(s, to);
            else if (s->on_stack[to] && s->index[to] < s->low[f->inst])
                s->low[f->inst] = s->index[to];
            continue;
        }
        u32 done = f->inst;
        s->n_frames--;
        if (s->n_frames > 0 && s->low[done] < s->low[s->frames[s->n_frames - 1].inst])
            s->low[s->frames[s->n_frames - 1].inst] = s->low[done];
        if (s->low[done] != s->index[done])
            continue;
        size_t end = s->n_stack;
        do
            s->on_stack[s->stack[--s->n_stack]] = false;
        while (s->stack[s->n_stack] != done);
        on_scc(arg, s->stack + s->n_stack, end - s->n_stack);
    }
}

void dh_w_each_scc(const struct dh_w *w, const bool *matters,
                   void (*on_scc)(void *, const u32 *insts, size_t n), void *arg)
{
    size_t n = w->n_insts;
    struct search s = {.w = w, .matters = matters};
    s.index = calloc(n + 1, sizeof *s.index);
    s.low = calloc(n + 1, sizeof *s.low);
    s.on_stack = calloc(n + 1, sizeof *s.on_stack);
    s.stack = calloc(n + 1, sizeof *s.stack);
    s.frames = calloc(n + 1, sizeof *s.frames);
    if (s.index == NULL || s.low == NULL || s.on_stack == NULL || s.stack == NULL || s.frames == NULL)
        dh_util_no_memory();
    for (u32 i = 0; i < n; i++)
        if (matters[i] && s.index[i] == 0)
            visit(&s, i, on_scc, arg);
    free(s.index);
    free(s.low);
    free(s.on_stack);
    free(s.stack);
    free(s.frames);
}
