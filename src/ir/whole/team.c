/*
 * team.c - see team.h.
 *
 * Why two accesses are apart (dh_w_elements_apart):
 *
 * 1. Both are within bytes of one base that are known, and these have none in common: of one place each, or
 * of elements whose indices are between constants.
 *
 * 2. Both are made by threads of one team to their own element. The indices of a loop that counts are
 * different in each round, each round creates one thread, and the loop is begun once, or again when all
 * threads have been joined; so two threads that run have two indices, and what lies within one stride of
 * another, for one index, is not there for the other.
 *
 * 3. One is made by the creator, in a round of the loop that creates the team, before that round's thread is
 * created: all that run have other indices.
 *
 * 4. One is made by the creator, in a round of the loop that joins the team, behind that round's join: all
 * that run have other indices.
 *
 * 5. Both are to memory that is allocated anew for each thread of the team, by its threads, or by the creator
 * before it creates the thread, or behind the join of that thread.
 *
 * 6. Both are to elements by numbers that one counter gives out (ticket.c), and lie within one stride.
 *
 * 7. Both are made by threads of one team to shares of one array that have no index in common (share.c), and
 * lie within one element, but for the index.
 *
 * But for the blocks, the base is one value all the while: a global variable, what one holds for good, what
 * an instance that runs once computes once, or what it does not compute anew from the first creation on until
 * all are joined.
 */
#include "ir/whole/team.h"

#include <stdlib.h>
#include <string.h>

#include "ir/whole/given.h"
#include "ir/whole/join.h"
#include "ir/whole/nest.h"
#include "ir/whole/part.h"
#include "ir/whole/result.h"
#include "ir/whole/share.h"
#include "ir/whole/slot.h"

enum { MAX_STEPS = DH_W_MAX_CALLS, RESULT = 2 };

/* ---- teams ---- */

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

/* Whether a way leads from the end of block a to block b, but not through block `closed`: the header of a
 * loop, if it must be in the same round. */
static bool comes_to(const struct dh_w_fn *fn, u32 a, u32 b, u32 closed)
{
    for (u32 i = 0; i < fn->blocks[a].succs; i++) {
        u32 to = fn->succ[fn->blocks[a].succ + i];
        if (to != closed && dh_w_reaches(fn, to, b, closed, NULL))
            return true;
    }
    return false;
}

/* The loop around the creation: it counts, and one round creates one thread. */
static void find_count(struct dh_w_teams *t, struct dh_w_team *team)
{
    const struct dh_w *w = t->flow->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[team->inst].fn];
    u32 b = dh_w_block_of(fn, team->fork), loop = fn->blocks[b].loop;
    team->counts = loop != DH_W_NONE && dh_w_counted_find(t->flow, team->inst, loop, &team->created_by) &&
                   !comes_to(fn, b, b, team->created_by.header);
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

/* ---- where a value comes from ---- */

static bool creates_a_team(const struct dh_w_teams *t, u32 inst)
{
    for (u32 r = 1; r < t->flow->w->n_roots; r++)
        if (t->of[r].known && t->of[r].inst == inst)
            return true;
    return false;
}

/* ---- blocks ---- */

/* A block of the round that is read from an array (slot.h): the address is in that block. */
static void read_slot(const struct dh_w_teams *t, struct dh_w_element *e, struct dh_w_address *a)
{
    const struct dh_w *w = t->flow->w;
    dh_w_value block = DH_W_NONE;
    for (u32 r = 1; r < w->n_roots && a->base != DH_W_NONE && block == DH_W_NONE; r++) {
        const struct dh_w_team *team = &t->of[r];
        if (!team->counts || team->inst != e->inst || (e->root != 0 && e->root != r))
            continue;
        block = dh_w_slot_read(t->flow, e->inst, &team->created_by, team->fork, dh_w_until_joined(team),
                               &team->created_by, a->base);
        if (block == DH_W_NONE && e->root == 0 && team->joined) {
            block = dh_w_slot_read(t->flow, e->inst, &team->created_by, team->fork, &team->joined_by,
                                   &team->joined_by, a->base);
            e->index = block != DH_W_NONE ? team->joined_by.index : NULL;
        }
        for (u32 i = 0; i < 2 && block == DH_W_NONE && (i == 0 || team->joined); i++) {
            const struct dh_w_counted *by = i == 0 ? &team->created_by : &team->joined_by;
            block = dh_w_slot_filled_before(t->flow, e->inst, &team->created_by, dh_w_until_joined(team), by,
                                            a->base);
            e->slot = block != DH_W_NONE;
            e->index = e->slot ? by->index : e->index;
        }
    }
    if (block != DH_W_NONE)
        *a = (struct dh_w_address){.base = block};
}

/* What the creator reads from what it gave to a thread, or from its result. */
static void read_given(const struct dh_w_teams *t, const struct dh_w_team *team, struct dh_w_element *e,
                       struct dh_w_address *a)
{
    bool block = false;
    dh_w_given_again(t, team, a);
    struct dh_w_address result = dh_w_result_read(t, team, a, &block);
    if (!dh_w_address_known(&result))
        return;
    *a = result;
    if (block) {
        e->slot = RESULT;
        e->index = team->joined_by.index;
    }
}

/* ---- elements ---- */

/* All of the array that the last index is of: in a[i][k], or a[i].text[k], k stays in it. */
static bool forget_index(struct dh_w_address *a, u32 *length)
{
    const struct dh_w_term *last = a->terms > 0 ? &a->term[a->terms - 1] : NULL;
    if (last == NULL || *length > last->bytes)
        return false;
    a->off = last->begin;
    *length = last->bytes;
    a->terms--;
    return true;
}

/* From the instance that accesses to the one that creates, or to another one on the way. false: it is not
 * known where the address comes from. */
static bool climb(const struct dh_w_teams *t, struct dh_w_element *e, struct dh_w_address *a, u32 to)
{
    struct dh_w *w = t->flow->w;
    struct dh_w_pool *expressions = &t->flow->locks.expressions;
    struct dh_w_known number = {.value = NULL};
    for (u32 steps = 0; steps < MAX_STEPS && dh_w_address_known(a); steps++) {
        u32 root = w->insts[e->inst].root;
        if (e->inst == to || (root == 0 && creates_a_team(t, e->inst)))
            return true;
        const struct dh_w_team *team = &t->of[root];
        if (root != 0 && team->known && number.value == NULL)
            number = dh_w_given_number(t, team, e->inst, a);
        if (w->roots[root].inst == e->inst) {
            if (root == 0 || !team->known)
                return false;
            const struct dh_w_fn *fn = &w->fns[w->insts[team->inst].fn];
            if (a->base != DH_W_NONE && dh_w_result_is_block(t, team, a->base)) {
                e->slot = RESULT;
                e->index = team->created_by.index;
                e->root = root;
                e->inst = team->inst;
                return team->under == 0 || e->inst == to;
            }
            struct dh_w_address given = *a;
            do { /* an index of the thread's own is not known there */
                dh_w_value fixed = dh_w_settled_in(w, expressions, fn, &given);
                if (fixed != DH_W_NONE) {
                    *a = dh_w_address_behind(expressions, &(struct dh_w_address){.base = fixed}, &given,
                                             &fn->ops[team->fork], &number);
                } else if (given.base != DH_W_NONE && given.base >= w->fns[w->insts[e->inst].fn].args) {
                    bool slot = false;
                    *a = dh_w_given_pointer(t, team, e->inst, &given, &number, &slot);
                    e->slot = slot;
                    e->index = slot ? team->created_by.index : NULL;
                } else {
                    *a = dh_w_address_in_creator(w, expressions, &given, fn, &fn->ops[team->fork], &number);
                }
            } while (!dh_w_address_known(a) && forget_index(&given, &e->length));
            e->root = root;
            e->inst = team->inst;
            if (team->under == 0 || e->inst == to)
                return dh_w_address_known(a);
            number.value = NULL; /* on to who has created the creator */
            continue;
        }
        struct dh_w_caller by = t->callers[e->inst];
        if (by.inst == DH_W_NONE || (a->base != DH_W_NONE && a->base >= w->fns[w->insts[e->inst].fn].args))
            return false;
        const struct dh_w_fn *fn = &w->fns[w->insts[by.inst].fn];
        *a = dh_w_address_in_caller_but(w, expressions, a, fn, &fn->calls[fn->ops[by.op].call], number.value);
        e->inst = by.inst;
        e->op = by.op;
    }
    return false;
}

/* The index of an element is that of a loop that creates a team, or joins one. */
static const struct dh_w_counted *counted_by(const struct dh_w_teams *t, u32 inst, LLVMValueRef index)
{
    for (u32 r = 1; r < t->flow->w->n_roots && index != NULL; r++) {
        const struct dh_w_team *team = &t->of[r];
        if (!team->counts || team->inst != inst)
            continue;
        if (team->created_by.index == index)
            return &team->created_by;
        if (team->joined && team->joined_by.index == index)
            return &team->joined_by;
    }
    return NULL;
}

/* Whether the access, or the creation of the thread that makes it, is in a round of the loop: when the loop
 * has ended, the index is beyond its last value. */
static bool is_in_body(const struct dh_w_teams *t, const struct dh_w_element *e, const struct dh_w_counted *c)
{
    const struct dh_w *w = t->flow->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[e->inst].fn];
    u32 b = dh_w_block_of(fn, e->root == 0 ? e->op : t->of[e->root].fork);
    return dh_w_loop_has(fn, c->loop, b) && dh_w_counted_in_body(c, b);
}

/* The same, or computed from it: 2 * i + 1. */
static bool is_counted(const struct dh_w_teams *t, struct dh_w_element *e, const struct dh_w_term *term)
{
    const struct dh_w_pool *expressions = &t->flow->locks.expressions;
    LLVMValueRef index = dh_w_expression_first(expressions, term->index);
    const struct dh_w_counted *c = counted_by(t, e->inst, index);
    struct dh_w_linear l;
    struct dh_w_range range = {0};
    u32 bits;
    if (c == NULL || term->size == 0)
        return false;
    bool bounded = is_in_body(t, e, c) && dh_w_counted_range(c, &range) &&
                   dh_w_expression_linear(expressions, term->index, range.least, range.greatest, &l);
    if (!bounded) {
        if (dh_w_expression_leaf(expressions, term->index, &bits) != index || !dh_w_counted_distinct(c, bits))
            return false;
        l = (struct dh_w_linear){.factor = 1};
    }
    u64 stride = (u64)l.factor * term->size;
    if (stride > INT32_MAX)
        return false;
    e->index = index;
    e->stride = (u32)stride;
    e->off += l.term * term->size;
    if (bounded) {
        e->first = e->off + range.least * e->stride;
        e->end = e->off + range.greatest * e->stride + e->length;
        e->least = l.factor * range.least + l.term;
    }
    return true;
}

/* Whether the base of an element is one value as long as threads of the team run. */
static bool is_kept_by(const struct dh_w_teams *t, u32 root, u32 inst, dh_w_value base)
{
    const struct dh_w *w = t->flow->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn];
    const struct dh_w_team *team = &t->of[root];
    return dh_w_is_one_value(fn, base) ||
           (team->counts && team->inst == inst &&
            dh_w_is_kept(fn, base, &team->created_by, dh_w_until_joined(team)));
}

/* The same for the team whose thread makes the access; if the creator does, for those that are created in a
 * loop around what computes the base. */
static bool is_kept(const struct dh_w_teams *t, const struct dh_w_element *e, dh_w_value base)
{
    const struct dh_w *w = t->flow->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[e->inst].fn];
    if (e->root != 0)
        return is_kept_by(t, e->root, e->inst, base);
    for (u32 r = 1; r < w->n_roots; r++) {
        const struct dh_w_team *team = &t->of[r];
        u32 loop =
            team->known && team->inst == e->inst ? fn->blocks[dh_w_block_of(fn, team->fork)].loop : DH_W_NONE;
        if (loop != DH_W_NONE && !is_kept_by(t, r, e->inst, base) &&
            (fn->def[base] >= fn->n_ops || dh_w_loop_has(fn, loop, dh_w_block_of(fn, fn->def[base]))))
            return false;
    }
    return true;
}

/* The element that an address is. false: it is not known. */
static bool find_element(struct dh_w_teams *t, u32 inst, u32 op, struct dh_w_address here, u32 length, u32 to,
                         struct dh_w_element *e)
{
    struct dh_w *w = t->flow->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn];
    struct dh_w_address a;
    for (;;) {
        memset(e, 0, sizeof *e);
        e->inst = inst;
        e->op = op;
        e->length = length;
        a = here;
        bool is_place = a.global != NULL && a.content == 0 && a.terms == 0; /* wherever it is seen from */
        if (is_place || (t->any && climb(t, e, &a, to)))
            break;
        if (!t->any || length == DH_PTS_ANY || !forget_index(&here, &length))
            return false;
    }
    const struct dh_w_fn *by = &w->fns[w->insts[e->inst].fn];
    a = dh_w_settle(w, &t->flow->locks.expressions, by, &a);
    for (u32 r = 1; r < w->n_roots && e->root == 0 && !e->slot; r++)
        if (t->of[r].known && t->of[r].inst == e->inst)
            read_given(t, &t->of[r], e, &a);
    if (!e->slot)
        read_slot(t, e, &a);
    e->base = a.base;
    e->global = a.global;
    e->content = a.content;
    e->off = a.off;
    e->op = e->root == 0 ? e->op : 0;
    if (e->slot) { /* as in a block of the round */
        e->off = e->length = 0;
        return true;
    }
    bool is_one = a.base == DH_W_NONE || is_kept(t, e, a.base);
    e->fresh = !is_one && dh_w_is_fresh(w, by, a.base);
    if (e->fresh) { /* whatever is accessed in it, or whether it is freed */
        e->off = e->length = 0;
        return true;
    }
    if (e->length == DH_PTS_ANY || e->length == 0 || fn->ops[op].access == DH_PAIRS_FREE)
        return false;
    while (a.terms > 1)
        if (!forget_index(&a, &e->length))
            return false;
    e->off = a.off;
    if (!is_one || (a.terms == 1 && !is_counted(t, e, &a.term[0])))
        return false;
    if (a.terms == 0) {
        e->first = e->off;
        e->end = e->off + e->length;
    }
    if (a.global != NULL && a.content == 0 && a.terms == 0)
        e->inst = e->root = e->op = 0;
    return true;
}

/* The last index of an address is that of a loop over a part of the array. */
static bool is_in_part(const struct dh_w_teams *t, const struct dh_w_fn *fn, u32 op,
                       const struct dh_w_address *a, u32 length, struct dh_w_part *ret)
{
    u32 bits;
    if (a->terms == 0 || length == 0 || length > a->term[a->terms - 1].size)
        return false;
    LLVMValueRef index =
        dh_w_expression_leaf(&t->flow->locks.expressions, a->term[a->terms - 1].index, &bits);
    return index != NULL && dh_w_part_find(fn, index, dh_w_block_of(fn, op), ret) &&
           bits >= LLVMGetIntTypeWidth(LLVMTypeOf(index));
}

/* A part between constants is one place, without the index. */
static bool forget_part(struct dh_w_address *a, const struct dh_w_part *part, u32 *length)
{
    if (part->step != NULL || LLVMIsAConstantInt(part->start) == NULL ||
        LLVMIsAConstantInt(part->bound) == NULL)
        return false;
    int64_t first = LLVMConstIntGetSExtValue(part->start);
    int64_t end = LLVMConstIntGetSExtValue(part->bound) + part->closed, size = a->term[a->terms - 1].size;
    if (first < 0 || end <= first || end > INT32_MAX / size)
        return false;
    a->off += first * size;
    a->terms--;
    *length = (u32)((end - first) * size);
    return true;
}

/* The part of an array that a thread's loop goes over is an element, from that of the first index to that of
 * the bound. Both are the same for the thread all the while, since they are made of what it was given. */
static bool find_part(struct dh_w_teams *t, u32 inst, u32 op, const struct dh_w_address *here,
                      const struct dh_w_part *part, u32 length, u32 to, struct dh_w_element *e)
{
    struct dh_w_pool *expressions = &t->flow->locks.expressions;
    struct dh_w_address first = *here, end = *here;
    struct dh_w_element last;
    if (!t->any || here->terms != 1 || part->step != NULL)
        return false;
    first.term[0].index = dh_w_expression(expressions, part->start);
    end.term[0].index = dh_w_expression(expressions, part->bound);
    if (!find_element(t, inst, op, first, length, to, e) ||
        !find_element(t, inst, op, end, length, to, &last) || e->root == 0 || e->index == NULL ||
        e->first >= e->end || last.first >= last.end || e->least < 0 || e->length != length ||
        last.length != length)
        return false;
    bool alike = e->inst == last.inst && e->root == last.root && e->base == last.base &&
                 e->global == last.global && e->content == last.content && e->index == last.index &&
                 e->stride == last.stride;
    int64_t bytes = last.off - e->off + (part->closed ? here->term[0].size : 0);
    if (!alike || last.off <= e->off || bytes > INT32_MAX)
        return false;
    e->end += bytes - length;
    e->length = (u32)bytes;
    return true;
}

/* What the base of an address is, for the creator, and whose share the index is of. */
static bool find_share(struct dh_w_teams *t, u32 inst, u32 op, const struct dh_w_address *here,
                       const struct dh_w_part *part, u32 length, u32 to, struct dh_w_element *e)
{
    struct dh_w_address first = *here;
    u32 share = t->any ? dh_w_share(t, inst, part) : 0, size = here->term[here->terms - 1].size;
    if (share == 0 || here->terms != 1)
        return false;
    first.terms = 0;
    if (!find_element(t, inst, op, first, length, to, e) || e->fresh || e->index != NULL)
        return false;
    e->root = t->flow->w->insts[inst].root; /* of a global variable, too */
    e->inst = t->of[e->root].inst;
    e->share = share;
    e->stride = size;
    e->first = e->end = 0;
    return true;
}

/* As the creator of threads sees it, or another instance on the way there. */
static bool find_seen_by(struct dh_w_teams *t, u32 inst, u32 op, dh_w_value pointer, u32 to,
                         struct dh_w_element *e)
{
    const struct dh_w *w = t->flow->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn];
    struct dh_w_address here = dh_w_settled_of(w, &t->flow->locks.expressions, fn, pointer);
    u32 length = fn->ops[op].length;
    struct dh_w_part part;
    struct dh_w_address outer = here;
    u32 bytes = length, root = w->insts[inst].root;
    bool found = false;
    /* Parts are those of the thread's own team. */
    bool has_parts = root != 0 && t->of[root].inst == (to != DH_W_NONE ? to : t->of[root].inst) &&
                     (to != DH_W_NONE || t->of[root].under == 0);
    do { /* x[k], and then x[k][...] */
        found = has_parts && is_in_part(t, fn, op, &outer, bytes, &part) &&
                (find_part(t, inst, op, &outer, &part, bytes, to, e) ||
                 find_share(t, inst, op, &outer, &part, bytes, to, e));
    } while (!found && forget_index(&outer, &bytes));
    return found || find_element(t, inst, op, here, length, to, e) ||
           (is_in_part(t, fn, op, &here, length, &part) && forget_part(&here, &part, &length) &&
            find_element(t, inst, op, here, length, to, e));
}

u32 dh_w_element(struct dh_w_teams *t, u32 inst, u32 op, dh_w_value pointer)
{
    struct dh_w_element e, inner;
    u32 creator = t->any ? dh_w_nest_creator(t, inst) : DH_W_NONE;
    bool found = find_seen_by(t, inst, op, pointer, DH_W_NONE, &e);
    if (creator == DH_W_NONE)
        return found ? dh_w_pool_add(&t->elements, &e, sizeof e) : 0;
    if (!found) {
        memset(&e, 0, sizeof e);
        e.inst = DH_W_NONE;
    }
    e.by = t->flow->w->insts[inst].root;
    e.beside = dh_w_nest_beside(t, inst, op);
    if (find_seen_by(t, inst, op, pointer, creator, &inner))
        e.inner = dh_w_pool_add(&t->elements, &inner, sizeof inner);
    return dh_w_pool_add(&t->elements, &e, sizeof e);
}

/* ---- apart ---- */

/* Whether the creator's op comes, in each round, before the team's thread of that round is created. */
static bool is_before_fork(const struct dh_w_team *team, const struct dh_w_fn *fn, u32 op)
{
    u32 fb = dh_w_block_of(fn, team->fork), b = dh_w_block_of(fn, op), header = team->created_by.header;
    if (!dh_w_loop_has(fn, team->created_by.loop, b))
        return false;
    return (b != fb || op < team->fork) && !comes_to(fn, fb, b, header);
}

/* Whether the creator's op comes, in each round of the loop that joins, behind that round's join. */
static bool is_behind_join(const struct dh_w_team *team, const struct dh_w_fn *fn, u32 op)
{
    u32 jb = dh_w_block_of(fn, team->join), b = dh_w_block_of(fn, op);
    if (!dh_w_loop_has(fn, team->joined_by.loop, b))
        return false;
    return b == jb ? op > team->join
                   : jb == team->joined_by.header || !dh_w_reaches(fn, team->joined_by.header, b, jb, NULL);
}

/* Whether both lie within one stride, so that elements of different indices do not overlap. */
static bool within_stride(const struct dh_w_element *a, const struct dh_w_element *b)
{
    int64_t first = a->off < b->off ? a->off : b->off;
    int64_t end_a = a->off + a->length, end_b = b->off + b->length;
    return a->stride == b->stride && (end_a > end_b ? end_a : end_b) - first <= a->stride;
}

/* The creator's access m and that of a thread of its team. */
static bool creator_is_apart(const struct dh_w_teams *t, const struct dh_w_element *m,
                             const struct dh_w_element *thread)
{
    const struct dh_w *w = t->flow->w;
    const struct dh_w_team *team = &t->of[thread->root];
    const struct dh_w_fn *fn = &w->fns[w->insts[m->inst].fn];
    if (thread->index != team->created_by.index)
        return false;
    return (m->index == team->created_by.index && is_before_fork(team, fn, m->op)) ||
           (team->joined && m->index == team->joined_by.index && is_behind_join(team, fn, m->op));
}

/* Memory that is allocated anew for each thread of a team: no creation without an allocation since the last.
 */
static bool blocks_are_apart(const struct dh_w_teams *t, const struct dh_w_element *x,
                             const struct dh_w_element *y)
{
    const struct dh_w *w = t->flow->w;
    const struct dh_w_team *team = &t->of[x->root != 0 ? x->root : y->root];
    const struct dh_w_fn *fn = &w->fns[w->insts[x->inst].fn];
    if ((x->root != 0 && y->root != 0 && x->root != y->root) || (x->root == 0 && y->root == 0))
        return false;
    u32 made = fn->def[x->base], mb = dh_w_block_of(fn, made), fb = dh_w_block_of(fn, team->fork);
    if (mb == fb ? made > team->fork : comes_to(fn, fb, fb, mb))
        return false;
    if (x->root == y->root)
        return true;
    /* The creator, behind the join of who had the block. */
    const struct dh_w_element *m = x->root == 0 ? x : y;
    if (m->index != NULL)
        return m->index == team->joined_by.index && is_behind_join(team, fn, m->op);
    /* The creator, before it hands the block over: from the creation on, it is not reached but with another
     * one. */
    u32 op = m->op, b = dh_w_block_of(fn, op);
    return (b != fb || op < team->fork) && (b == mb || !comes_to(fn, fb, b, mb));
}

static bool are_apart(const struct dh_w_teams *t, u32 a, u32 b)
{
    if (a == 0 || b == 0)
        return false;
    const struct dh_w_element *x = t->elements.item[a], *y = t->elements.item[b];
    if (x->inst == DH_W_NONE || x->inst != y->inst || x->base != y->base || x->global != y->global ||
        x->content != y->content)
        return false;
    if (x->base != DH_W_NONE && !x->fresh && x->slot != RESULT &&
        ((x->root != 0 && !is_kept_by(t, x->root, x->inst, x->base)) ||
         (y->root != 0 && !is_kept_by(t, y->root, y->inst, y->base))))
        return false;
    if (x->ticket || y->ticket)
        return x->ticket && y->ticket && x->index == y->index && within_stride(x, y);
    if (x->slot != y->slot || (x->slot == RESULT && x->root != 0 && y->root != 0 && x->root != y->root))
        return false;
    if (x->share || y->share)
        return x->share == y->share && x->root == y->root && within_stride(x, y);
    if (x->fresh || y->fresh)
        return x->fresh && y->fresh && blocks_are_apart(t, x, y);
    if (x->first < x->end && y->first < y->end && (x->end <= y->first || y->end <= x->first))
        return true;
    if (x->index == NULL || y->index == NULL || (!x->slot && !within_stride(x, y)))
        return false;
    if (x->root != 0 && y->root != 0)
        return x->root == y->root && x->index == y->index && x->index == t->of[x->root].created_by.index;
    if (x->root == 0 && y->root == 0)
        return false;
    return x->root == 0 ? creator_is_apart(t, x, y) : creator_is_apart(t, y, x);
}

/* The root of the thread that creates other threads, if an access is made by it or by one of these; or 0. */
static u32 family(const struct dh_w_teams *t, const struct dh_w_element *e)
{
    return t->of[e->by].under != 0 ? t->of[e->by].under : e->by;
}

/* The same for accesses of a thread and of those that it has created, or of two of these. */
static bool are_apart_in_family(const struct dh_w_teams *t, const struct dh_w_element *x,
                                const struct dh_w_element *y)
{
    u32 creator = family(t, x);
    if (x->by == creator && y->by == creator)
        return true; /* it is one thread */
    if (x->by == creator || y->by == creator) {
        const struct dh_w_element *own = x->by == creator ? x : y, *other = x->by == creator ? y : x;
        if ((own->beside >> other->by & 1) == 0)
            return true;
    } else if (x->by == y->by && t->of[x->by].alone) {
        return true;
    }
    return are_apart(t, x->inner, y->inner);
}

bool dh_w_elements_apart(const struct dh_w_teams *t, u32 a, u32 b)
{
    const struct dh_w_element *x = t->elements.item[a], *y = t->elements.item[b];
    if (a == 0 || b == 0 || x->by == 0 || y->by == 0 || family(t, x) != family(t, y))
        return are_apart(t, a, b);
    /* In one family; and, if there may be another, in two. */
    return are_apart_in_family(t, x, y) && (!t->flow->many[family(t, x)][DH_W_SOUND] || are_apart(t, a, b));
}
