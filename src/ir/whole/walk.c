/*
 * walk.c - one instance: what has happened before each of its operations, along the paths through its blocks.
 *
 * Paths to a block are kept separate while what happened on them, or the constants known on them, differ, as
 * long as there are not too many and the function has branches of which one decides another (facts.h). Beyond
 * that, paths on which the same happened are merged, keeping only what is known on all of them. In other
 * functions all paths to a block are merged.
 *
 * An exception may leave a function anywhere, unless the compiler says otherwise: then only what holds
 * everywhere in it holds where the exception is caught.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/whole/flow.h"
#include "ir/whole/join.h"

enum {
    MAX_WAYS = 128,              /* to one block of a function that creates or joins threads */
    MAX_LOCK_WAYS = 8,           /* ... of another function */
    MAX_ALIKE = 4,               /* ... on which the same happened, but other constants are known */
    MAX_FACTS = 8 * 1000 * 1000, /* in all blocks of a function */
};

struct way {
    struct dh_w_change c;
    u32 number; /* of the change */
    struct dh_w_fact *known;
};

struct here { /* a block */
    struct way *ways;
    size_t n, cap;
    bool few;    /* there were too many ways: those with equal changes are one */
    bool merged; /* there were still too many: all are one */
    bool queued;
};

struct walk {
    struct dh_w_flow *f;
    u32 inst;
    const struct dh_w_fn *fn;
    size_t edge, fork; /* the next edge and fork, while the ops go up */
    struct loop_end {
        u64 believed; /* roots that have ended when the loop is left, for relay */
        u64 sure;     /* ... when it is left by the i-th way out of the block, for sound */
        u32 block, i;
    } *loop_ends;                   /* by loop */
    bool joins;                     /* some loop does */
    const struct dh_w_facts *facts; /* or NULL */
    bool threads;                   /* it creates or joins some */
    size_t n_facts, max_ways;
    struct here *blocks;
    u8 *still_held;            /* by block: see is_still_held; 0: not known yet */
    struct dh_w_change thrown; /* by the last op, if it throws */
    struct dh_w_change raised; /* by any, out of the function */
    bool raises;
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

/* One way out of a callee, after c. */
static void merge_call(struct walk *k, struct dh_w_change *to, const struct dh_w_change *c,
                       const struct dh_w_call *call, u32 callee, u32 summary)
{
    const struct dh_w_change *out = dh_w_change_get(k->f, k->f->matters[callee] ? summary : 0);
    if (!out->reached)
        return;
    struct dh_w_change after =
        k->f->matters[callee] ? dh_w_change_call(k->f, *c, k->inst, call, callee, out) : *c;
    dh_w_change_merge(k->f, to, &after);
}

static void call(struct walk *k, struct dh_w_change *c, u32 op)
{
    const struct dh_w_inst *inst = &k->f->w->insts[k->inst];
    const struct dh_w_call *cl = &k->fn->calls[k->fn->ops[op].call];
    struct dh_w_change out = {.reached = false};
    bool any = false;
    if (k->fn->ops[op].kind != DH_W_CALL)
        out = *c; /* whoever is given a function need not call it */
    k->thrown = out;
    for (; k->edge < inst->n_edges && inst->edges[k->edge].op == op; k->edge++) {
        u32 callee = inst->edges[k->edge].inst;
        if (inst->edges[k->edge].late)
            continue;
        any = true;
        merge_call(k, &out, c, cl, callee, k->f->summary[callee]);
        merge_call(k, &k->thrown, c, cl, callee, k->f->raised[callee]);
    }
    if (any)
        *c = out;
    else
        k->thrown = *c;
}

static void fork_threads(struct walk *k, struct dh_w_change *c, u32 op)
{
    const struct dh_w_inst *inst = &k->f->w->insts[k->inst];
    for (; k->fork < inst->n_forks && inst->forks[k->fork].op == op; k->fork++) {
        u32 root = inst->forks[k->fork].root;
        for (int s = 0; s < DH_W_STYLES; s++)
            dh_w_change_start(c, s, 1ull << root | k->f->children[root]);
    }
}

/* Something may have happened that is not known: locks released, threads started. */
static void forget(const struct walk *k, struct dh_w_change *c)
{
    u32 root = k->f->w->insts[k->inst].root;
    dh_w_change_release_all(c);
    for (int s = 0; s < DH_W_STYLES; s++)
        dh_w_change_start(c, s, k->f->children[root]);
    c->barriers = ~0ull;
}

/* The branch behind a setjmp asks which time it is; if nothing does, it may be any. */
static bool is_tested(const struct walk *k, u32 op)
{
    for (u32 b = 0; b < k->fn->n_blocks; b++)
        if (k->fn->blocks[b].tried == op)
            return true;
    return false;
}

static void step(struct walk *k, struct dh_w_change *c, u32 n)
{
    const struct dh_w_op *op = &k->fn->ops[n];
    k->thrown = *c;
    if (op->dst != DH_W_NONE && c->plus != 0)
        c->plus = dh_w_set_forget(&k->f->locks, c->plus, op->dst);
    switch ((enum dh_w_kind)op->kind) {
    case DH_W_LOCK:
        c->plus = dh_w_set_with(&k->f->locks, c->plus, dh_w_held_by(&k->f->locks, k->inst, op));
        break;
    case DH_W_UNLOCK:
        dh_w_change_release(k->f, c, dh_w_held_by(&k->f->locks, k->inst, op));
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
        struct dh_w_joined j = dh_w_joins(k->f, k->inst, op, c);
        for (int s = 0; s < DH_W_STYLES; s++)
            dh_w_change_end(c, s, j.now[s]);
        break;
    }
    case DH_W_BARRIER:
        c->barriers = barrier_bit(k->f, op);
        c->through = false;
        break;
    case DH_W_AGAIN:
        if (!is_tested(k, n))
            forget(k, c);
        break;
    case DH_W_STOP:
        c->reached = false;
        break;
    default:
        break;
    }
}

static void seek(struct walk *k, u32 op)
{
    const struct dh_w_inst *inst = &k->f->w->insts[k->inst];
    for (k->edge = 0; k->edge < inst->n_edges && inst->edges[k->edge].op < op;)
        k->edge++;
    for (k->fork = 0; k->fork < inst->n_forks && inst->forks[k->fork].op < op;)
        k->fork++;
}

static void find_loop_end(struct walk *k, u32 loop, u32 join)
{
    struct dh_w_joined j = dh_w_joins(k->f, k->inst, &k->fn->ops[join], NULL);
    struct loop_end *end = &k->loop_ends[loop];
    u32 block = DH_W_NONE, i = 0;
    u64 sure = dh_w_join_counted(k->f, k->inst, join, j.roots, &block, &i);
    k->joins = true;
    end->believed |= j.after_loop;
    if (sure != 0 && (end->sure == 0 || (end->block == block && end->i == i))) {
        end->sure |= sure;
        end->block = block;
        end->i = i;
    }
}

static void find_loop_ends(struct walk *k)
{
    const struct dh_w_fn *fn = k->fn;
    for (size_t b = 0; b < fn->n_blocks; b++)
        for (u32 o = fn->blocks[b].first; fn->blocks[b].loop != DH_W_NONE && o < fn->blocks[b].end; o++)
            if (fn->ops[o].kind == DH_W_JOIN)
                find_loop_end(k, fn->blocks[b].loop, o);
}

/* ---- trylock ---- */

static bool is_in(const struct dh_w_locks *l, u32 set, u32 held)
{
    size_t n;
    const u32 *at = dh_w_set(l, set, &n);
    for (size_t i = 0; i < n; i++)
        if (at[i] == held)
            return true;
    return false;
}

/* A block begins: the indices that it computes are no longer those by which locks were taken. */
static void enter(struct walk *k, struct dh_w_change *c, u32 b)
{
    if (c->plus != 0)
        c->plus = dh_w_set_enter(&k->f->locks, c->plus, k->fn->blocks[b].value);
}

/*
 * The operations of a block, all or from one on; and what holds when what it calls last throws: in the middle
 * of what a function of the library does, so what holds before and after that.
 */
static void step_on(struct walk *k, struct dh_w_change *c, u32 b, u32 from, struct dh_w_change *ret_thrown)
{
    const struct dh_w_block *block = &k->fn->blocks[b];
    bool invoked = false;
    *ret_thrown = (struct dh_w_change){.reached = false};
    if (from == block->first)
        enter(k, c, b);
    seek(k, from);
    for (u32 o = from; o < block->end && c->reached; o++) {
        step(k, c, o);
        if (block->unwind == DH_W_NONE || LLVMIsAInvokeInst(k->fn->ops[o].inst) == NULL)
            continue;
        invoked = true;
        dh_w_change_merge(k->f, ret_thrown, &k->thrown);
        /* A thread whose start fails is none. */
        if (k->fn->ops[o].kind != DH_W_CALL && k->fn->ops[o].kind != DH_W_FORK)
            dh_w_change_merge(k->f, ret_thrown, c);
    }
    if (!invoked)
        *ret_thrown = *c;
}

/* What is left of c, which holds behind op `tried` in block `first`, at the end of block b, on all ways that
 * do not lead through that op again. */
static struct dh_w_change carry(struct walk *k, struct dh_w_change c, u32 first, u32 tried, u32 b)
{
    const struct dh_w_block *blocks = k->fn->blocks;
    struct dh_w_change *before = calloc(k->fn->n_blocks, sizeof *before);
    bool *queued = calloc(k->fn->n_blocks, sizeof *queued);
    if (before == NULL || queued == NULL)
        dh_util_no_memory();
    queued[first] = true;
    for (bool again = true; again;) {
        again = false;
        for (u32 at = 0; at < k->fn->n_blocks; at++) {
            if (!queued[at])
                continue;
            queued[at] = false;
            struct dh_w_change here = at == first ? c : before[at], thrown;
            step_on(k, &here, at, at == first ? tried + 1 : blocks[at].first, &thrown);
            for (u32 i = 0; i < blocks[at].succs; i++) {
                u32 to = k->fn->succ[blocks[at].succ + i];
                if (to != first &&
                    dh_w_change_merge(k->f, &before[to], i == blocks[at].unwind ? &thrown : &here))
                    again = queued[to] = true;
            }
        }
    }
    struct dh_w_change thrown;
    c = b == first ? c : before[b];
    step_on(k, &c, b, b == first ? tried + 1 : blocks[b].first, &thrown);
    free(before);
    free(queued);
    return c;
}

/* The result of a trylock may be asked for again after the lock was released. */
static bool is_still_held(struct walk *k, u32 b)
{
    enum { NO = 1, YES };
    u8 *known = &k->still_held[b];
    if (*known == 0) {
        u32 tried = k->fn->blocks[b].tried, first = 0;
        u32 held = dh_w_held_by(&k->f->locks, k->inst, &k->fn->ops[tried]);
        while (tried >= k->fn->blocks[first].end)
            first++;
        struct dh_w_change c = *dh_w_change_get(k->f, 0);
        c.plus = dh_w_set_with(&k->f->locks, c.plus, held);
        c = carry(k, c, first, tried, b);
        *known = c.reached && is_in(&k->f->locks, c.plus, held) ? YES : NO;
    }
    return *known == YES;
}

/* From block b to its i-th successor. */
static struct dh_w_change along(struct walk *k, struct dh_w_change c, u32 b, u32 i)
{
    const struct dh_w_block *block = &k->fn->blocks[b];
    if (block->tried != DH_W_NONE && k->fn->ops[block->tried].kind == DH_W_AGAIN) {
        if (block->success != i)
            forget(k, &c);
    } else if (block->tried != DH_W_NONE && block->success == i && is_still_held(k, b))
        c.plus = dh_w_set_with(&k->f->locks, c.plus,
                               dh_w_held_by(&k->f->locks, k->inst, &k->fn->ops[block->tried]));
    u32 to = k->fn->succ[block->succ + i];
    for (u32 l = block->loop; l != DH_W_NONE && !dh_w_loop_has(k->fn, l, to); l = k->fn->loops[l].parent)
        dh_w_change_end(&c, DH_W_RELAY, k->loop_ends[l].believed);
    for (u32 l = 0; l < k->fn->n_loops && k->joins; l++) {
        const struct loop_end *end = &k->loop_ends[l];
        if (end->believed != 0 && dh_w_loop_guard(k->fn, b, i, l))
            dh_w_change_end(&c, DH_W_RELAY, end->believed);
        if (end->sure != 0 && end->block == b && end->i == i)
            dh_w_change_end(&c, DH_W_SOUND, end->sure);
    }
    return c;
}

/* ---- ways ---- */

static struct dh_w_fact *copy_facts(const struct walk *k, const struct dh_w_fact *known)
{
    struct dh_w_fact *copy = calloc(k->n_facts + 1, sizeof *copy);
    if (copy == NULL)
        dh_util_no_memory();
    if (known != NULL)
        memcpy(copy, known, k->n_facts * sizeof *copy);
    return copy;
}

static bool join_ways(struct walk *k, struct way *to, const struct dh_w_change *c,
                      const struct dh_w_fact *known)
{
    bool changed = dh_w_change_merge(k->f, &to->c, c);
    changed |= dh_w_facts_meet(k->n_facts, to->known, known);
    to->number = dh_w_change_intern(k->f, &to->c);
    return changed;
}

/* Ways become one: those with equal changes, or all. */
static void join_all(struct walk *k, struct here *h, bool equal_only)
{
    size_t n = 0;
    for (size_t i = 0; i < h->n; i++) {
        size_t to = 0;
        while (to < n && equal_only && h->ways[to].number != h->ways[i].number)
            to++;
        if (to == n) {
            h->ways[n++] = h->ways[i];
            continue;
        }
        join_ways(k, &h->ways[to], &h->ways[i].c, h->ways[i].known);
        free(h->ways[i].known);
    }
    h->n = n;
}

/* One more way to a block. true: something new. */
static bool arrive(struct walk *k, u32 block, const struct dh_w_change *c, const struct dh_w_fact *known)
{
    struct here *h = &k->blocks[block];
    if (k->max_ways == 1 && k->facts == NULL && h->n == 1)
        return dh_w_change_merge(k->f, &h->ways[0].c, c);
    if (h->merged)
        return join_ways(k, &h->ways[0], c, known);
    u32 number = dh_w_change_intern(k->f, c);
    size_t alike = 0, most_alike = h->few || !k->threads ? 1 : MAX_ALIKE;
    for (size_t i = 0; i < h->n; i++)
        if (h->ways[i].number == number &&
            (++alike == most_alike || !dh_w_facts_differ(k->n_facts, h->ways[i].known, known)))
            return dh_w_facts_meet(k->n_facts, h->ways[i].known, known);
    h->ways = dh_util_grow(h->ways, h->n, &h->cap, sizeof *h->ways);
    h->ways[h->n++] = (struct way){.c = *c, .number = number, .known = copy_facts(k, known)};
    if (h->n > k->max_ways && !h->few) {
        h->few = true;
        join_all(k, h, true);
    }
    if (h->n > k->max_ways) {
        h->merged = true;
        join_all(k, h, false);
    }
    return true;
}

/* One way through a block, and on. true: something new. */
static bool leave(struct walk *k, u32 b, const struct way *way)
{
    const struct dh_w_block *block = &k->fn->blocks[b];
    struct dh_w_change c = way->c, thrown;
    bool again = false;
    step_on(k, &c, b, block->first, &thrown);
    for (u32 i = 0; i < block->succs; i++) {
        const struct dh_w_change *out = i == block->unwind ? &thrown : &c;
        if (!out->reached)
            continue;
        u32 to = k->fn->succ[block->succ + i];
        struct dh_w_fact *known = copy_facts(k, way->known);
        if (k->facts != NULL)
            dh_w_facts_enter(k->facts, known, b);
        if (k->facts == NULL || dh_w_facts_along(k->facts, known, b, i)) {
            struct dh_w_change next = along(k, *out, b, i);
            if (arrive(k, to, &next, known)) {
                k->blocks[to].queued = true;
                again = true;
            }
        }
        free(known);
    }
    return again;
}

static void find_ways(struct walk *k)
{
    struct dh_w_fact *none = copy_facts(k, NULL);
    arrive(k, 0, dh_w_change_get(k->f, 0), none);
    free(none);
    k->blocks[0].queued = true;
    for (bool again = true; again;) {
        again = false;
        for (u32 b = 0; b < k->fn->n_blocks; b++) {
            if (!k->blocks[b].queued)
                continue;
            k->blocks[b].queued = false;
            /* A way is copied: a loop of one block adds ways while they are gone through. */
            for (size_t i = 0; i < k->blocks[b].n; i++) {
                struct way way = k->blocks[b].ways[i];
                way.known = copy_facts(k, way.known);
                again |= leave(k, b, &way);
                free(way.known);
            }
        }
    }
}

/* All ways through a block as one: the change before each op, and the one at its end. */
static void note_block(struct walk *k, u32 b, bool note, struct dh_w_change *out)
{
    const struct dh_w_block *block = &k->fn->blocks[b];
    struct dh_w_change *all = calloc(block->end - block->first + 1, sizeof *all);
    if (all == NULL)
        dh_util_no_memory();
    for (size_t i = 0; i < k->blocks[b].n; i++) {
        struct dh_w_change c = k->blocks[b].ways[i].c;
        enter(k, &c, b);
        seek(k, block->first);
        for (u32 o = block->first; o < block->end && c.reached; o++) {
            dh_w_change_merge(k->f, &all[o - block->first], &c);
            step(k, &c, o);
            if (k->raises && LLVMIsAInvokeInst(k->fn->ops[o].inst) == NULL)
                dh_w_change_merge(k->f, &k->raised, &k->thrown);
        }
        if (k->raises && block->unwind == DH_W_NONE)
            dh_w_change_merge(k->f, &k->raised, &c);
        if (block->returns)
            dh_w_change_merge(k->f, out, &c);
    }
    for (u32 o = block->first; note && o < block->end; o++)
        k->f->change[k->inst][o] = dh_w_change_intern(k->f, &all[o - block->first]);
    free(all);
}

static bool has_op(const struct dh_w_fn *fn, enum dh_w_kind a, enum dh_w_kind b)
{
    for (size_t i = 0; i < fn->n_ops; i++)
        if (fn->ops[i].kind == a || fn->ops[i].kind == b)
            return true;
    return false;
}

/* Only for functions that themselves do what is followed here: most only call those that do. */
static const struct dh_w_facts *facts_of(struct dh_w_flow *f, u32 n)
{
    const struct dh_w_fn *fn = &f->w->fns[n];
    if (!f->facts_known[n]) {
        f->facts_known[n] = true;
        if (has_op(fn, DH_W_FORK, DH_W_JOIN) || has_op(fn, DH_W_LOCK, DH_W_UNLOCK))
            f->facts[n] = dh_w_facts_new(fn);
    }
    return f->facts[n];
}

/* Whether an exception may leave the function. */
static bool may_raise(LLVMValueRef fn)
{
    static const char no[] = "nounwind";
    unsigned kind = LLVMGetEnumAttributeKindForName(no, sizeof no - 1);
    return LLVMGetEnumAttributeAtIndex(fn, LLVMAttributeFunctionIndex, kind) == NULL;
}

struct dh_w_change dh_w_walk(struct dh_w_flow *f, u32 inst, bool note, struct dh_w_change *ret_raised)
{
    u32 fn = f->w->insts[inst].fn;
    struct walk k = {.f = f, .inst = inst, .fn = &f->w->fns[fn], .facts = facts_of(f, fn)};
    struct dh_w_change out = {.reached = false};
    k.raises = may_raise(k.fn->value);
    k.n_facts = k.facts == NULL ? 0 : dh_w_facts_count(k.facts);
    k.threads = has_op(k.fn, DH_W_FORK, DH_W_JOIN);
    size_t most = k.threads ? MAX_WAYS : k.facts != NULL ? MAX_LOCK_WAYS : 1;
    k.max_ways = MAX_FACTS / ((k.n_facts + 1) * (k.fn->n_blocks + 1)) + 1;
    k.max_ways = k.max_ways < most ? k.max_ways : most;
    k.loop_ends = calloc(k.fn->n_loops + 1, sizeof *k.loop_ends);
    k.blocks = calloc(k.fn->n_blocks + 1, sizeof *k.blocks);
    k.still_held = calloc(k.fn->n_blocks + 1, 1);
    if (k.loop_ends == NULL || k.blocks == NULL || k.still_held == NULL)
        dh_util_no_memory();
    find_loop_ends(&k);
    find_ways(&k);
    for (u32 b = 0; b < k.fn->n_blocks; b++) {
        note_block(&k, b, note, &out);
        for (size_t i = 0; i < k.blocks[b].n; i++)
            free(k.blocks[b].ways[i].known);
        free(k.blocks[b].ways);
    }
    free(k.blocks);
    free(k.loop_ends);
    free(k.still_held);
    *ret_raised = k.raised;
    return out;
}
