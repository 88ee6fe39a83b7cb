/*
 * flow.c - bottom-up: what happens in each instance since its entry (RELAY's relative locksets, and more).
 *
 * A forward analysis over the blocks, path-insensitive: locks are held if they are held on all ways, threads
 * are alive if they are on some way. Recursion is solved by iterating over each strongly connected component,
 * from "never returns" downwards. Instances in which nothing happens, most of them, are not looked at.
 */
#include "ir/whole/flow.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RELEASES = 24 };

static u32 intern(struct dh_w_flow *f, const struct dh_w_change *c)
{
    struct dh_w_change clean;
    memset(&clean, 0, sizeof clean);
    if (c->reached) {
        clean.reached = true;
        clean.releases_all = c->releases_all;
        clean.through = c->through;
        clean.plus = c->plus;
        clean.minus = c->minus;
        memcpy(clean.born, c->born, sizeof clean.born);
        memcpy(clean.dead, c->dead, sizeof clean.dead);
        clean.barriers = c->barriers;
    }
    return dh_w_pool_add(&f->changes, &clean, sizeof clean);
}

static const struct dh_w_change *get(const struct dh_w_flow *f, u32 change)
{
    return f->changes.item[change];
}

const struct dh_w_change *dh_w_flow_change(const struct dh_w_flow *f, u32 inst, u32 op)
{
    return get(f, f->change[inst] == NULL ? 0 : f->change[inst][op]);
}

void dh_w_flow_init(struct dh_w_flow *f, struct dh_w *w)
{
    *f = (struct dh_w_flow){.w = w};
    dh_w_locks_init(&f->locks, w);
    dh_w_pool_init(&f->changes, &w->arena);
    intern(f, &(struct dh_w_change){.reached = true, .through = true});
    f->matters = dh_arena_array(&w->arena, w->n_insts, sizeof *f->matters);
    f->summary = dh_arena_array(&w->arena, w->n_insts, sizeof *f->summary);
    f->change = dh_arena_array(&w->arena, w->n_insts, sizeof *f->change);
    f->states = dh_arena_array(&w->arena, w->n_insts, sizeof *f->states);
}

void dh_w_flow_done(struct dh_w_flow *f)
{
    dh_w_locks_done(&f->locks);
    dh_w_pool_done(&f->changes);
    dh_w_table_done(&f->barrier_of);
}

/* ---- changes ---- */

/* Which ones no longer matters: so that large cycles of calls settle. */
static void release_all(struct dh_w_change *c)
{
    c->releases_all = true;
    c->minus = 0;
}

static void release(struct dh_w_flow *f, struct dh_w_change *c, u32 held)
{
    bool exact;
    size_t n;
    c->plus = dh_w_set_without(&f->locks, c->plus, held, &exact);
    if (exact || c->releases_all)
        return;
    c->minus = dh_w_set_with(&f->locks, c->minus, held);
    dh_w_set(&f->locks, c->minus, &n);
    if (n >= MAX_RELEASES)
        release_all(c);
}

static void start(struct dh_w_change *c, int style, u64 roots)
{
    c->born[style] |= roots;
    c->dead[style] &= ~roots;
}

static void end(struct dh_w_change *c, int style, u64 roots)
{
    c->born[style] &= ~roots;
    c->dead[style] |= roots;
}

/* Both ways lead here. true: *to changed. */
static bool merge(struct dh_w_flow *f, struct dh_w_change *to, const struct dh_w_change *from)
{
    if (!from->reached)
        return false;
    if (!to->reached) {
        *to = *from;
        return true;
    }
    struct dh_w_change old = *to;
    to->releases_all |= from->releases_all;
    to->through |= from->through;
    to->plus = dh_w_set_meet(&f->locks, to->plus, from->plus);
    to->minus = dh_w_set_join(&f->locks, to->minus, from->minus);
    size_t n;
    dh_w_set(&f->locks, to->minus, &n);
    if (to->releases_all || n >= MAX_RELEASES)
        release_all(to);
    for (int s = 0; s < DH_W_STYLES; s++) {
        to->born[s] |= from->born[s];
        to->dead[s] &= from->dead[s];
    }
    to->barriers |= from->barriers;
    return to->releases_all != old.releases_all || to->through != old.through || to->plus != old.plus ||
           to->minus != old.minus || memcmp(to->born, old.born, sizeof old.born) != 0 ||
           memcmp(to->dead, old.dead, sizeof old.dead) != 0 || to->barriers != old.barriers;
}

/* What a callee does, in the words of its caller, after c. */
static struct dh_w_change called(struct dh_w_flow *f, struct dh_w_change c, u32 caller,
                                 const struct dh_w_call *call, const struct dh_w_change *callee)
{
    size_t n;
    const u32 *at = dh_w_set(&f->locks, callee->minus, &n);
    u32 copy[64];
    DH_CHECK(n <= DH_ARRAY_LEN(copy));
    memcpy(copy, at, n * sizeof *at);
    if (callee->releases_all) {
        c.plus = 0;
        release_all(&c);
    }
    for (size_t i = 0; i < n; i++)
        release(f, &c, dh_w_held_to_caller(&f->locks, copy[i], caller, call));
    at = dh_w_set(&f->locks, callee->plus, &n);
    memcpy(copy, at, n * sizeof *at);
    for (size_t i = 0; i < n; i++)
        c.plus = dh_w_set_with(&f->locks, c.plus, dh_w_held_to_caller(&f->locks, copy[i], caller, call));
    for (int s = 0; s < DH_W_STYLES; s++) {
        end(&c, s, callee->dead[s]);
        start(&c, s, callee->born[s]);
    }
    c.barriers = callee->barriers | (callee->through ? c.barriers : 0);
    c.through = callee->through && c.through;
    return c;
}

struct dh_w_state dh_w_flow_apply(struct dh_w_flow *f, const struct dh_w_state *s,
                                  const struct dh_w_change *c)
{
    struct dh_w_state to = *s;
    size_t n;
    bool exact;
    if (c->releases_all)
        to.locks = 0;
    const u32 *at = dh_w_set(&f->locks, c->minus, &n);
    for (size_t i = 0; i < n && to.locks != 0; i++)
        to.locks = dh_w_set_without(&f->locks, to.locks, at[i], &exact);
    to.locks = dh_w_set_join(&f->locks, to.locks, c->plus);
    for (int i = 0; i < DH_W_STYLES; i++)
        to.alive[i] = (s->alive[i] & ~c->dead[i]) | c->born[i];
    to.barriers = c->barriers | (c->through ? s->barriers : 0);
    return to;
}

/* ---- one instance ---- */

struct walk {
    struct dh_w_flow *f;
    u32 inst;
    const struct dh_w_fn *fn;
    size_t edge, fork;             /* the next edge and fork, while the ops go up */
    u64 (*loop_ends)[DH_W_STYLES]; /* by loop: roots that have ended when it is left */
};

static u64 barrier_bit(struct dh_w_flow *f, const struct dh_w_op *op)
{
    struct dh_w_key key = DH_W_KEY((u64)(uptr)op->inst);
    u32 n = dh_w_table_get(&f->barrier_of, key);
    if (n == DH_W_TABLE_NONE) {
        /* Bit 0 is "none yet"; beyond 63, barriers share the last bit, which only loses precision. */
        n = f->barrier_of.n + 1 < 63 ? (u32)f->barrier_of.n + 1 : 63;
        dh_w_table_put(&f->barrier_of, key, n);
    }
    return 1ull << n;
}

static void call(struct walk *k, struct dh_w_change *c, u32 op)
{
    const struct dh_w_inst *inst = &k->f->w->insts[k->inst];
    const struct dh_w_call *cl = &k->fn->calls[k->fn->ops[op].call];
    struct dh_w_change out = {.reached = false};
    bool any = false;
    for (; k->edge < inst->n_edges && inst->edges[k->edge].op == op; k->edge++) {
        u32 callee = inst->edges[k->edge].inst;
        if (inst->edges[k->edge].late)
            continue;
        any = true;
        struct dh_w_change after = *c;
        const struct dh_w_change *summary = get(k->f, k->f->matters[callee] ? k->f->summary[callee] : 0);
        if (!summary->reached)
            continue;
        if (k->f->matters[callee])
            after = called(k->f, after, k->inst, cl, summary);
        merge(k->f, &out, &after);
    }
    if (any)
        *c = out;
}

static void fork_threads(struct walk *k, struct dh_w_change *c, u32 op)
{
    const struct dh_w_inst *inst = &k->f->w->insts[k->inst];
    for (; k->fork < inst->n_forks && inst->forks[k->fork].op == op; k->fork++) {
        u32 root = inst->forks[k->fork].root;
        for (int s = 0; s < DH_W_STYLES; s++)
            start(c, s, 1ull << root | k->f->children[root]);
    }
}

static void step(struct walk *k, struct dh_w_change *c, u32 n)
{
    const struct dh_w_op *op = &k->fn->ops[n];
    if (op->dst != DH_W_NONE && c->plus != 0)
        c->plus = dh_w_set_forget(&k->f->locks, c->plus, op->dst);
    switch ((enum dh_w_kind)op->kind) {
    case DH_W_LOCK:
        c->plus = dh_w_set_with(&k->f->locks, c->plus, dh_w_held_by(&k->f->locks, k->inst, op));
        break;
    case DH_W_UNLOCK:
        release(k->f, c, dh_w_held_by(&k->f->locks, k->inst, op));
        break;
    case DH_W_CALL:
    case DH_W_BACK:
    case DH_W_LATE:
        call(k, c, n);
        break;
    case DH_W_FORK:
    case DH_W_SIGNAL:
    case DH_W_OUTSIDER:
        fork_threads(k, c, n);
        break;
    case DH_W_JOIN: {
        struct dh_w_joined j = dh_w_joins(k->f, k->inst, op);
        for (int s = 0; s < DH_W_STYLES; s++)
            end(c, s, j.now[s]);
        break;
    }
    case DH_W_BARRIER:
        c->barriers = barrier_bit(k->f, op);
        c->through = false;
        break;
    case DH_W_STOP:
        c->reached = false;
        break;
    default:
        break;
    }
}

static int by_op(const void *a, const void *b)
{
    const u32 *x = a, *y = b;
    return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : (x[1] > y[1]) - (x[1] < y[1]);
}

static void seek(struct walk *k, u32 op)
{
    const struct dh_w_inst *inst = &k->f->w->insts[k->inst];
    for (k->edge = 0; k->edge < inst->n_edges && inst->edges[k->edge].op < op;)
        k->edge++;
    for (k->fork = 0; k->fork < inst->n_forks && inst->forks[k->fork].op < op;)
        k->fork++;
}

static void find_loop_ends(struct walk *k)
{
    const struct dh_w_fn *fn = k->fn;
    for (size_t b = 0; b < fn->n_blocks; b++)
        for (u32 o = fn->blocks[b].first; fn->blocks[b].loop != DH_W_NONE && o < fn->blocks[b].end; o++)
            if (fn->ops[o].kind == DH_W_JOIN) {
                struct dh_w_joined j = dh_w_joins(k->f, k->inst, &fn->ops[o]);
                for (int s = 0; s < DH_W_STYLES; s++)
                    k->loop_ends[fn->blocks[b].loop][s] |= j.after_loop[s];
            }
}

static bool inside(const struct dh_w_fn *fn, u32 block, u32 loop)
{
    for (u32 l = fn->blocks[block].loop; l != DH_W_NONE; l = fn->loops[l].parent)
        if (l == loop)
            return true;
    return false;
}

/* From block b to its i-th successor. */
static struct dh_w_change along(struct walk *k, struct dh_w_change c, u32 b, u32 i)
{
    const struct dh_w_block *block = &k->fn->blocks[b];
    if (block->tried != DH_W_NONE && block->success == i)
        c.plus = dh_w_set_with(&k->f->locks, c.plus,
                               dh_w_held_by(&k->f->locks, k->inst, &k->fn->ops[block->tried]));
    u32 to = k->fn->succ[block->succ + i];
    for (u32 l = block->loop; l != DH_W_NONE && !inside(k->fn, to, l); l = k->fn->loops[l].parent)
        for (int s = 0; s < DH_W_STYLES; s++)
            end(&c, s, k->loop_ends[l][s]);
    return c;
}

/* Computes the summary; with `note`, also the change before each op. */
static struct dh_w_change analyse(struct dh_w_flow *f, u32 inst, bool note)
{
    struct walk k = {.f = f, .inst = inst, .fn = &f->w->fns[f->w->insts[inst].fn]};
    const struct dh_w_fn *fn = k.fn;
    struct dh_w_change *in = calloc(fn->n_blocks + 1, sizeof *in), out = {.reached = false};
    bool *queued = calloc(fn->n_blocks + 1, 1);
    k.loop_ends = calloc(fn->n_loops + 1, sizeof *k.loop_ends);
    DH_CHECK(in != NULL && queued != NULL && k.loop_ends != NULL);
    find_loop_ends(&k);
    in[0] = *get(f, 0);
    queued[0] = true;
    for (bool again = true; again;) {
        again = false;
        for (u32 b = 0; b < fn->n_blocks; b++) {
            if (!queued[b])
                continue;
            queued[b] = false;
            const struct dh_w_block *block = &fn->blocks[b];
            struct dh_w_change c = in[b];
            seek(&k, block->first);
            for (u32 o = block->first; o < block->end && c.reached; o++)
                step(&k, &c, o);
            for (u32 i = 0; i < block->succs && c.reached; i++) {
                u32 to = fn->succ[block->succ + i];
                struct dh_w_change next = along(&k, c, b, i);
                if (merge(f, &in[to], &next)) {
                    queued[to] = true;
                    again = true;
                }
            }
        }
    }
    for (u32 b = 0; b < fn->n_blocks; b++) {
        struct dh_w_change c = in[b];
        seek(&k, fn->blocks[b].first);
        for (u32 o = fn->blocks[b].first; o < fn->blocks[b].end; o++) {
            if (note)
                f->change[inst][o] = intern(f, &c);
            if (c.reached)
                step(&k, &c, o);
        }
        if (fn->blocks[b].returns)
            merge(f, &out, &c);
    }
    free(in);
    free(queued);
    free(k.loop_ends);
    return out;
}

static void on_scc(void *arg, const u32 *insts, size_t n)
{
    struct dh_w_flow *f = arg;
    for (size_t i = 0; i < n; i++)
        f->summary[insts[i]] = intern(f, &(struct dh_w_change){.reached = false});
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < n; i++) {
            struct dh_w_change c = analyse(f, insts[i], false);
            u32 summary = intern(f, &c);
            changed |= summary != f->summary[insts[i]];
            f->summary[insts[i]] = summary;
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
        analyse(f, insts[i], true);
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
            return true;
        default:
            break;
        }
    return false;
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
