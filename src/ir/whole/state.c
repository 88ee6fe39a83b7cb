/*
 * state.c - top-down: the states in which each instance is entered.
 *
 * A state is the set of locks held and the threads alive at the entry, as a calling context sees them.
 * Different states are kept apart, so that what is called without the lock before the first thread starts
 * does not affect what is called with it later; when there are too many they are merged into one that holds
 * for all.
 */
#include <string.h>

#include "ir/whole/flow.h"

static bool equal(const struct dh_w_state *a, const struct dh_w_state *b)
{
    return a->locks == b->locks && a->barriers == b->barriers && a->late == b->late &&
           memcmp(a->alive, b->alive, sizeof a->alive) == 0;
}

static void weaken(struct dh_w_flow *f, struct dh_w_state *to, const struct dh_w_state *from)
{
    to->locks = dh_w_set_meet(&f->locks, to->locks, from->locks);
    for (int s = 0; s < DH_W_STYLES; s++)
        to->alive[s] |= from->alive[s];
    to->barriers |= from->barriers;
    to->late &= from->late;
}

/* true: it is a new one. */
static bool add(struct dh_w_flow *f, u32 inst, const struct dh_w_state *state)
{
    struct dh_w_states *all = &f->states[inst];
    if (all->merged) {
        struct dh_w_state old = all->at[0];
        weaken(f, &all->at[0], state);
        return !equal(&old, &all->at[0]);
    }
    for (size_t i = 0; i < all->n; i++)
        if (equal(&all->at[i], state))
            return false;
    if (all->n < DH_W_MAX_STATES) {
        all->at[all->n++] = *state;
        return true;
    }
    for (size_t i = 1; i < all->n; i++)
        weaken(f, &all->at[0], &all->at[i]);
    weaken(f, &all->at[0], state);
    all->n = 1;
    all->merged = true;
    return true;
}

struct queue {
    u32 *at;
    size_t first, n, cap; /* a ring */
};

static void push(struct dh_w_flow *f, struct queue *q, u32 inst)
{
    if (f->states[inst].queued)
        return;
    f->states[inst].queued = true;
    q->at[(q->first + q->n++) % q->cap] = inst;
}

static u32 locks_in_callee(struct dh_w_flow *f, u32 locks, u32 caller, const struct dh_w_call *call,
                           u32 callee)
{
    size_t n;
    u32 to = 0, copy[64];
    const u32 *at = dh_w_set(&f->locks, locks, &n);
    memcpy(copy, at, n * sizeof *at);
    for (size_t i = 0; i < n; i++) {
        u32 held = dh_w_held_to_callee(&f->locks, copy[i], caller, call, callee);
        if (held != DH_W_NONE)
            to = dh_w_set_with(&f->locks, to, held);
    }
    return to;
}

static void spread(struct dh_w_flow *f, struct queue *q, u32 i)
{
    const struct dh_w_inst *inst = &f->w->insts[i];
    const struct dh_w_fn *fn = &f->w->fns[inst->fn];
    for (size_t e = 0; e < inst->n_edges; e++) {
        if (inst->edges[e].late)
            continue;
        u32 op = inst->edges[e].op, callee = inst->edges[e].inst;
        const struct dh_w_change *c = dh_w_flow_change(f, i, op);
        for (size_t s = 0; s < f->states[i].n && c->reached; s++) {
            struct dh_w_state at = dh_w_flow_apply(f, &f->states[i].at[s], c);
            if (at.locks != 0)
                at.locks = locks_in_callee(f, at.locks, i, &fn->calls[fn->ops[op].call], callee);
            if (add(f, callee, &at))
                push(f, q, callee);
        }
    }
}

static void drain(struct dh_w_flow *f, struct queue *q)
{
    while (q->n > 0) {
        u32 inst = q->at[q->first];
        q->first = (q->first + 1) % q->cap;
        q->n--;
        f->states[inst].queued = false;
        spread(f, q, inst);
    }
}

static void enter(struct dh_w_flow *f, struct queue *q, u32 inst, const struct dh_w_state *s)
{
    if (inst != DH_W_NONE && add(f, inst, s))
        push(f, q, inst);
}

/* The threads that may be alive when main, or exit, ends the program. */
static void find_end(struct dh_w_flow *f)
{
    struct dh_w *w = f->w;
    memset(f->at_end, 0, sizeof f->at_end);
    for (u32 i = 0; i < w->n_insts; i++) {
        const struct dh_w_fn *fn = &w->fns[w->insts[i].fn];
        bool is_main = i == w->roots[0].inst;
        for (u32 o = 0; o < fn->n_ops && w->insts[i].root == 0; o++)
            for (size_t s = 0; s < f->states[i].n && fn->ops[o].kind == DH_W_STOP; s++) {
                struct dh_w_state at = dh_w_flow_apply(f, &f->states[i].at[s], dh_w_flow_change(f, i, o));
                for (int k = 0; k < DH_W_STYLES; k++)
                    f->at_end[k] |= at.alive[k];
            }
        for (size_t s = 0; s < f->states[i].n && is_main; s++) {
            struct dh_w_state at =
                dh_w_flow_apply(f, &f->states[i].at[s], f->changes.item[f->matters[i] ? f->summary[i] : 0]);
            for (int k = 0; k < DH_W_STYLES; k++)
                f->at_end[k] |= at.alive[k];
        }
    }
}

/* When the program ends: by main, or, in another thread, by a call of exit, at any time. */
static void enter_late(struct dh_w_flow *f, struct queue *q, u32 inst)
{
    struct dh_w_state late = {.barriers = ~0ull, .late = true};
    u32 root = f->w->insts[inst].root;
    for (int s = 0; s < DH_W_STYLES; s++)
        late.alive[s] = f->at_end[s] | (root == 0 ? 0 : f->children[root]);
    enter(f, q, inst, &late);
}

/* Threads that constructors start are there when main begins, and when another constructor (but: not this
 * one) does. */
static void find_start(struct dh_w_flow *f, u32 but, struct dh_w_state *start)
{
    struct dh_w *w = f->w;
    for (size_t i = 0; i < w->n_early && w->main_fn != DH_W_NONE; i++) {
        if (w->early[i] == but)
            continue;
        const struct dh_w_change *end =
            dh_w_change_get(f, f->matters[w->early[i]] ? f->summary[w->early[i]] : 0);
        for (int s = 0; s < DH_W_STYLES; s++)
            start->alive[s] |= end->born[s];
    }
}

void dh_w_state_spread(struct dh_w_flow *f)
{
    struct dh_w *w = f->w;
    struct queue q = {.cap = w->n_insts + 1};
    struct dh_arena scratch = {0};
    q.at = dh_arena_array(&scratch, q.cap, sizeof *q.at);
    memset(f->states, 0, w->n_insts * sizeof *f->states);
    struct dh_w_state start = {.barriers = 1};
    if (w->main_fn == DH_W_NONE)
        for (int s = 0; s < DH_W_STYLES; s++)
            start.alive[s] = f->children[0];
    for (size_t i = 0; i < w->n_early; i++) {
        struct dh_w_state before = start;
        find_start(f, w->early[i], &before);
        enter(f, &q, w->early[i], &before);
    }
    find_start(f, DH_W_NONE, &start);
    enter(f, &q, w->roots[0].inst, &start);
    start = (struct dh_w_state){.barriers = 1};
    for (size_t i = 0; i < w->n_insts; i++)
        for (size_t k = 0; k < w->insts[i].n_forks; k++)
            enter(f, &q, w->insts[i].forks[k].inst, &start);
    drain(f, &q);
    find_end(f);
    for (u32 i = 0; i < w->n_insts; i++)
        for (size_t e = 0; e < w->insts[i].n_edges; e++)
            if (w->insts[i].edges[e].late)
                enter_late(f, &q, w->insts[i].edges[e].inst);
    for (size_t i = 0; i < w->n_last; i++)
        enter_late(f, &q, w->last[i]);
    drain(f, &q);
    dh_arena_done(&scratch);
}
