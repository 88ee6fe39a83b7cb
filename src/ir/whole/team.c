/*
 * team.c - see team.h: which roots are teams, and how they are created and joined.
 */
#include "ir/whole/team.h"

#include <stdlib.h>

#include "ir/whole/join.h"
#include "ir/whole/nest.h"

static void find_callers(struct dh_w_teams *t)
{
    const struct dh_w *w = t->flow->w;
    u32 *calls = calloc(w->n_insts + 1, sizeof *calls);
    t->callers = calloc(w->n_insts + 1, sizeof *t->callers);
    if (calls == NULL || t->callers == NULL)
        dh_util_no_memory();
    for (u32 i = 0; i < w->n_insts; i++)
        for (size_t e = 0; e < w->insts[i].n_edges; e++) {
            const struct dh_w_edge *edge = &w->insts[i].edges[e];
            bool plain = w->fns[w->insts[i].fn].ops[edge->op].kind == DH_W_CALL;
            calls[edge->inst] += plain ? 1 : 2; /* who else calls it is not known */
            t->callers[edge->inst] = (struct dh_w_caller){i, edge->op};
        }
    for (u32 i = 0; i < w->n_insts; i++)
        if (calls[i] != 1 || dh_w_starts_itself(w, i))
            t->callers[i] = (struct dh_w_caller){DH_W_NONE, DH_W_NONE};
    free(calls);
}

/* The loop around the creation: it counts, and one round creates one thread. */
static void find_count(struct dh_w_teams *t, struct dh_w_team *team)
{
    const struct dh_w *w = t->flow->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[team->inst].fn];
    u32 b = dh_w_block_of(fn, team->fork), loop = fn->blocks[b].loop;
    team->counts = loop != DH_W_NONE && dh_w_counted_find(t->flow, team->inst, loop, &team->created_by) &&
                   !dh_w_comes_to(fn, b, b, team->created_by.header);
    for (u32 o = 0; o < fn->n_ops && team->counts && !team->joined; o++)
        if (fn->ops[o].kind == DH_W_JOIN &&
            dh_w_join_matches(t->flow, team->inst, team->fork, team->inst, o, &team->joined_by)) {
            team->joined = true;
            team->join = o;
        }
    if (team->counts && dh_w_begins_again(fn, &team->created_by, team->joined ? &team->joined_by : NULL))
        team->counts = team->joined = false;
}

static void find_team(struct dh_w_teams *t, u32 r, bool nested)
{
    struct dh_w_flow *f = t->flow;
    const struct dh_w_root *root = &f->w->roots[r];
    struct dh_w_team *team = &t->of[r];
    if (team->known || root->kind != DH_PAIRS_THREAD || root->many || root->often ||
        root->creator == DH_W_NONE || root->inst == DH_W_NONE || f->is_called[root->inst])
        return;
    u32 under = nested ? dh_w_nest_under(t, r) : 0, fork = dh_w_only_fork(f->w, root->creator, r);
    if (fork == DH_W_NONE || (nested ? under == 0 : !dh_w_runs_once(f, root->creator)))
        return;
    *team = (struct dh_w_team){.known = true, .under = under, .inst = root->creator, .fork = fork};
    team->alone = nested && (dh_w_nest_beside(t, team->inst, fork) >> r & 1) == 0;
    t->any = true;
    find_count(t, team);
}

void dh_w_teams_find(struct dh_w_teams *t, struct dh_w_flow *f)
{
    struct dh_w *w = f->w;
    *t = (struct dh_w_teams){.flow = f};
    dh_w_pool_init(&t->elements, &w->arena);
    dh_w_pool_add(&t->elements, "", 0);
    dh_w_pool_init(&t->shares, &w->arena);
    dh_w_pool_add(&t->shares, "", 0);
    for (u32 r = 1; r < w->n_roots; r++)
        find_team(t, r, false);
    for (u32 r = 1; r < w->n_roots && t->any; r++)
        find_team(t, r, true);
    if (t->any)
        find_callers(t);
}

void dh_w_teams_done(struct dh_w_teams *t)
{
    dh_w_pool_done(&t->elements);
    dh_w_pool_done(&t->shares);
    free(t->callers);
}
