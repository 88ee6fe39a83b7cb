/*
 * count.c - loops that create threads and loops that join them: whether all are joined, for sure.
 *
 *     for (i = 0; i < n; i++) create(&t[i], ...);
 *     for (i = 0; i < n; i++) join(t[i]);
 *
 * Both count from one constant by 1 to the same n, which is one value in a register, a constant, or in memory
 * that nothing writes meanwhile; each round of the second loop passes the join; nothing else writes to t from
 * the first loop on; and the first loop is not begun again before the second one has run to its end. Then
 * nobody of those created is left when the second loop ends by its count, and after the join in round i
 * nobody up to the i-th. The instance must be one that runs once, so that the threads of another call cannot
 * be confused with these.
 */
#include "ir/whole/counted.h"
#include "ir/whole/join.h"

/* An element as large as a handle, or larger, of an array, by the index of a loop. */
static bool is_element(struct dh_w_flow *f, const struct dh_w_address *a, const struct dh_w_counted *c)
{
    u32 bits;
    return dh_w_address_known(a) && a->terms == 1 && a->term[0].stride >= sizeof(u64) &&
           dh_w_expression_leaf(&f->locks.expressions, a->term[0].index, &bits) == c->index &&
           dh_w_counted_distinct(c, bits);
}

/* No round passes by the block, neither one that another follows nor the last one. */
static bool joins_each_round(const struct dh_w_fn *fn, const struct dh_w_counted *c, u32 block)
{
    const struct dh_w_block *header = &fn->blocks[c->header];
    if (block == c->header)
        return true;
    for (u32 i = 0; i < header->succs; i++) {
        u32 to = fn->succ[header->succ + i];
        if (dh_w_loop_has(fn, c->loop, to) && dh_w_reaches(fn, to, c->header, block, NULL))
            return false;
    }
    /* A loop that compares first has no last round that has begun. */
    return !c->at_end || block == c->block || !dh_w_reaches(fn, c->header, c->block, block, NULL);
}

bool dh_w_join_matches(struct dh_w_flow *f, u32 inst, u32 fork, u32 join, struct dh_w_counted *ret)
{
    struct dh_w *w = f->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn];
    u32 fb = dh_w_block_of(fn, fork), jb = dh_w_block_of(fn, join);
    struct dh_w_counted first;
    dh_w_value handle = fn->ops[join].a;
    u32 load = handle < DH_W_CONSTANT ? fn->def[handle] : DH_W_NONE;
    if (fn->ops[fork].kind != DH_W_FORK || load >= fn->n_ops || fn->ops[load].kind != DH_W_LOAD ||
        LLVMIsALoadInst(fn->ops[load].inst) == NULL || fn->blocks[fb].loop == DH_W_NONE ||
        fn->blocks[jb].loop == DH_W_NONE || fn->blocks[fb].loop == fn->blocks[jb].loop ||
        !dh_w_counted_find(f, inst, fn->blocks[fb].loop, &first) ||
        !dh_w_counted_find(f, inst, fn->blocks[jb].loop, ret) || !dh_w_counted_alike(&first, ret))
        return false;
    struct dh_w_pool *expressions = &f->locks.expressions;
    struct dh_w_address created = dh_w_address_of(w, expressions, fn, fn->ops[fork].a);
    struct dh_w_address joined = dh_w_address_of(w, expressions, fn, fn->ops[load].a);
    if (!is_element(f, &created, &first) || !is_element(f, &joined, ret) || created.base != joined.base ||
        created.global != joined.global || created.content != joined.content || created.off != joined.off ||
        created.term[0].stride != joined.term[0].stride ||
        dh_w_written_from(f, inst, first.header, dh_w_node(w, inst, fn->ops[fork].a), sizeof(u64), fork))
        return false;
    /* The first loop is not begun a second time without the second one's end. */
    return joins_each_round(fn, ret, jb) && !dh_w_begins_again(fn, &first, ret);
}

u64 dh_w_join_counted(struct dh_w_flow *f, u32 inst, u32 join, u64 roots, u32 *ret_block, u32 *ret_succ)
{
    struct dh_w *w = f->w;
    u64 sure = 0;
    if (!dh_w_runs_once(f, inst))
        return 0;
    for (u32 r = 0; r < w->n_roots; r++) {
        u32 fork = roots >> r & 1 ? dh_w_only_fork(w, inst, r) : DH_W_NONE;
        struct dh_w_counted c;
        if (fork == DH_W_NONE || w->roots[r].many || !dh_w_join_matches(f, inst, fork, join, &c))
            continue;
        sure |= f->ended[r][DH_W_SOUND];
        *ret_block = c.block;
        *ret_succ = c.succ;
    }
    return sure;
}
