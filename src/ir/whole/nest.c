/*
 * nest.c - see nest.h.
 *
 * The states of a thread (state.c) give, for each place, which of the threads created by this very thread may
 * be running. All threads of a root have the same states, so they hold for each.
 */
#include "ir/whole/nest.h"

#define BIT(root) (1ull << (root))

u32 dh_w_nest_under(const struct dh_w_teams *t, u32 root)
{
    const struct dh_w_flow *f = t->flow;
    u32 creator = f->w->roots[root].creator, under = f->w->insts[creator].root;
    bool joined = under != 0 && (f->ended[under][DH_W_SOUND] & BIT(root)) != 0;
    /* Whoever creates the creator is main, or one that main creates. */
    return joined && dh_w_begins_thread(f, creator) && t->of[under].known && t->of[under].under == 0 ? under
                                                                                                     : 0;
}

u32 dh_w_nest_creator(const struct dh_w_teams *t, u32 inst)
{
    const struct dh_w *w = t->flow->w;
    u32 root = w->insts[inst].root;
    if (root == 0 || (t->of[root].known && t->of[root].under != 0))
        return root == 0 ? DH_W_NONE : t->of[root].inst;
    for (u32 r = 1; r < w->n_roots; r++)
        if (t->of[r].known && t->of[r].under == root)
            return t->of[r].inst;
    return DH_W_NONE;
}

u64 dh_w_nest_beside(const struct dh_w_teams *t, u32 inst, u32 op)
{
    struct dh_w_flow *f = t->flow;
    const struct dh_w_change *c = dh_w_flow_change(f, inst, op);
    u64 roots = 0;
    for (size_t s = 0; s < f->states[inst].n && c->reached; s++)
        roots |= dh_w_flow_apply(f, &f->states[inst].at[s], c).alive[DH_W_SOUND];
    return roots;
}
