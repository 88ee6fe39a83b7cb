/*
 * result.c - see result.h.
 *
 * A loop that joins the threads of a team (count.c) joins, in each iteration, the one that was created with
 * that index. Until the next join, the variable holds what this thread has returned; nothing else writes to
 * it.
 */
#include "ir/whole/result.h"

#include "ir/whole/slot.h"

static u32 root_of(const struct dh_w_teams *t, const struct dh_w_team *team)
{
    return (u32)(team - t->of);
}

static const struct dh_w_fn *entry_of(const struct dh_w_teams *t, const struct dh_w_team *team)
{
    const struct dh_w *w = t->flow->w;
    return &w->fns[w->insts[w->roots[root_of(t, team)].inst].fn];
}

/* What the thread returns, always; not known: several values, or it may end otherwise. */
static struct dh_w_address returned(const struct dh_w_teams *t, const struct dh_w_team *team)
{
    const struct dh_w_fn *fn = entry_of(t, team);
    const struct dh_w_address unknown = {.base = DH_W_NONE};
    if ((t->flow->exits >> root_of(t, team) & 1) != 0 || fn->ret == DH_W_NONE ||
        fn->def[fn->ret] >= fn->n_ops || fn->ops[fn->def[fn->ret]].kind != DH_W_COPY)
        return unknown;
    return dh_w_settled_of(t->flow->w, &t->flow->locks.expressions, fn, fn->ops[fn->def[fn->ret]].a);
}

bool dh_w_result_is_block(const struct dh_w_teams *t, const struct dh_w_team *team, dh_w_value v)
{
    struct dh_w_address a = returned(t, team);
    return team->joined && a.base == v && a.off == 0 && a.terms == 0 &&
           dh_w_is_fresh(t->flow->w, entry_of(t, team), v);
}

/* Whether the creator reads the local, in a round of the loop that joins, from where the join has stored the
 * result. */
static bool is_result(const struct dh_w_teams *t, const struct dh_w_team *team, dh_w_value v)
{
    struct dh_w *w = t->flow->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[team->inst].fn];
    const struct dh_w_op *join = &fn->ops[team->join];
    u32 load = v < DH_W_CONSTANT ? fn->def[v] : DH_W_NONE;
    return load < fn->n_ops && fn->ops[load].kind == DH_W_LOAD &&
           LLVMIsALoadInst(fn->ops[load].inst) != NULL && join->b < DH_W_CONSTANT &&
           fn->ops[load].a == join->b && dh_w_is_made_here(fn, &(struct dh_w_address){.base = join->b}) &&
           dh_w_comes_first(fn, &team->joined_by, team->join, load) &&
           !dh_w_written_from(t->flow, team->inst, 0, NULL, dh_w_node(w, team->inst, join->b), sizeof(u64),
                              team->join);
}

struct dh_w_address dh_w_result_read(const struct dh_w_teams *t, const struct dh_w_team *team,
                                     const struct dh_w_address *a, bool *ret_block)
{
    struct dh_w *w = t->flow->w;
    struct dh_w_pool *expressions = &t->flow->locks.expressions;
    const struct dh_w_fn *fn = &w->fns[w->insts[team->inst].fn];
    const struct dh_w_address unknown = {.base = DH_W_NONE};
    struct dh_w_address to = team->joined ? returned(t, team) : unknown;
    if (!dh_w_address_known(&to) || a->base == DH_W_NONE || !is_result(t, team, a->base))
        return unknown;
    if (to.base != DH_W_NONE && dh_w_result_is_block(t, team, to.base)) {
        *ret_block = true;
        return to;
    }
    to = dh_w_address_in_creator(w, expressions, &to, fn, &fn->ops[team->fork], NULL);
    if (!dh_w_address_known(&to) || to.terms != 1 || to.terms + a->terms > DH_W_MAX_TERMS ||
        !dh_w_expression_with(expressions, to.term[0].index, team->created_by.index,
                              dh_w_expression(expressions, team->joined_by.index), &to.term[0].index))
        return unknown;
    for (u32 i = 0; i < a->terms; i++) {
        to.term[to.terms] = a->term[i];
        to.term[to.terms++].begin += to.off;
    }
    to.off += a->off;
    return to;
}
