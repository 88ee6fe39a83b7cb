/*
 * lock.c - what is known about a lock: paths and locations, and how a call translates them.
 */
#include "ir/whole/lock.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SPOTS = 16 };

void dh_w_locks_init(struct dh_w_locks *l, struct dh_w *w)
{
    *l = (struct dh_w_locks){.w = w};
    dh_w_pool_init(&l->spots, &w->arena);
    dh_w_pool_init(&l->held, &w->arena);
    dh_w_pool_init(&l->sets, &w->arena);
    dh_w_pool_init(&l->expressions, &w->arena);
    dh_w_pool_init(&l->asked, &w->arena);
    dh_w_pool_add(&l->sets, "", 0);
}

void dh_w_locks_done(struct dh_w_locks *l)
{
    dh_w_pool_done(&l->spots);
    dh_w_pool_done(&l->held);
    dh_w_pool_done(&l->sets);
    dh_w_pool_done(&l->expressions);
    dh_w_pool_done(&l->asked);
    free(l->answers);
}

/* ---- paths ---- */

struct dh_w_path dh_w_path_of(const struct dh_w_fn *fn, dh_w_value v)
{
    struct dh_w_path p = {.base = DH_W_NONE, .steps = 1};
    for (size_t steps = 0; v < DH_W_CONSTANT; steps++) { /* as many as there are ops: it is a circle */
        u32 def = fn->def[v];
        const struct dh_w_op *op = def < fn->n_ops && steps <= fn->n_ops ? &fn->ops[def] : NULL;
        bool bounded = op != NULL && op->kind == DH_W_ELEMENT && op->length != 0 && op->length != DH_PTS_ANY;
        if (op != NULL && op->kind == DH_W_LOAD && p.steps < DH_W_PATH_MAX && op->access == DH_PAIRS_READ) {
            memmove(p.off + 1, p.off, p.steps * sizeof p.off[0]);
            p.off[0] = 0;
            p.steps++;
        } else if (op != NULL && (op->kind == DH_W_OFFSET || bounded)) {
            p.off[0] += op->off;
            p.indexed |= bounded;
        } else if (op == NULL || op->kind != DH_W_COPY) {
            p.base = v;
            return p;
        }
        v = op->a;
    }
    return (struct dh_w_path){.base = DH_W_NONE, .steps = 1};
}

dh_w_value dh_w_base_of(const struct dh_w_fn *fn, dh_w_value v)
{
    dh_w_value element = DH_W_NONE;
    for (size_t steps = 0; v < DH_W_CONSTANT; steps++) { /* as many as there are ops: it is a circle */
        u32 def = fn->def[v];
        const struct dh_w_op *op = def < fn->n_ops && steps <= fn->n_ops ? &fn->ops[def] : NULL;
        bool bounded = op != NULL && op->kind == DH_W_ELEMENT && op->length != 0 && op->length != DH_PTS_ANY;
        if (op == NULL || (op->kind != DH_W_COPY && op->kind != DH_W_OFFSET && !bounded))
            return v;
        if (bounded && element == DH_W_NONE)
            element = v;
        v = op->a;
    }
    return element; /* of a global array, if anything */
}

static bool paths_equal(const struct dh_w_path *p, const struct dh_w_path *q)
{
    return p->base == q->base &&
           (p->base == DH_W_NONE || (p->steps == q->steps && p->indexed == q->indexed &&
                                     memcmp(p->off, q->off, p->steps * sizeof p->off[0]) == 0));
}

static const struct dh_w_path no_path = {.base = DH_W_NONE};
static const struct dh_w_address no_address = {.base = DH_W_NONE};

/* ---- locations ---- */

struct spots {
    u64 at[MAX_SPOTS];
    size_t n;
    bool many;
};

static void spots_add(struct spots *s, u64 spot)
{
    size_t i = 0;
    while (i < s->n && s->at[i] < spot)
        i++;
    if (i < s->n && s->at[i] == spot)
        return;
    if (s->n == MAX_SPOTS) {
        s->many = true;
        return;
    }
    memmove(s->at + i + 1, s->at + i, (s->n - i) * sizeof s->at[0]);
    s->at[i] = spot;
    s->n++;
}

static u64 shifted(const struct dh_w *w, struct dh_pts_place at, int64_t off)
{
    if (at.offset == DH_PTS_ANY || off == 0)
        return dh_w_spot(at.object, at.offset);
    int64_t to = (int64_t)at.offset + off;
    u32 size = dh_pts_size(w->pts, at.object);
    if (to < 0 || to >= size)
        return dh_w_spot(at.object, DH_PTS_ANY);
    return dh_w_spot(at.object, dh_pts_canonical(w->pts, at.object, (u32)to));
}

/* Where base + off[0], loaded + off[1], ... may be. */
static void resolve(const struct dh_w *w, dh_pts_node base, const int64_t *off, u32 steps, struct spots *ret)
{
    dh_pts_location l;
    if (base == DH_PTS_NONE)
        return;
    for (struct dh_pts_iter it = dh_pts_iter(w->pts, base); dh_pts_next(&it, &l) && !ret->many;) {
        u64 spot = shifted(w, dh_pts_place(w->pts, l), off[0]);
        if (steps == 1) {
            spots_add(ret, spot);
            continue;
        }
        dh_pts_location at = dh_pts_find(w->pts, (u32)(spot >> 32), (u32)spot);
        if (at != DH_PTS_NONE)
            resolve(w, dh_pts_contents(w->pts, at), off + 1, steps - 1, ret);
    }
}

/* The same is asked again and again while a cycle of calls settles, and the sets may be large. */
static u32 resolved(struct dh_w_locks *l, dh_pts_node base, const int64_t *off, u32 steps)
{
    int64_t question[DH_W_PATH_MAX + 1] = {base};
    memcpy(question + 1, off, steps * sizeof off[0]);
    u32 n = dh_w_pool_add(&l->asked, question, (steps + 1) * sizeof question[0]);
    if (n < l->n_answers)
        return l->answers[n];
    struct spots s = {.n = 0};
    resolve(l->w, base, off, steps, &s);
    l->answers = dh_util_grow(l->answers, l->n_answers, &l->cap_answers, sizeof *l->answers);
    l->answers[n] = s.many ? DH_W_NONE : dh_w_pool_add(&l->spots, s.at, s.n * sizeof s.at[0]);
    l->n_answers++;
    return l->answers[n];
}

static u32 intern(struct dh_w_locks *l, const struct dh_w_held *held)
{
    /* Field by field into zeroed memory: padding must not make equal things different. */
    struct dh_w_held h;
    memset(&h, 0, sizeof h);
    h.spots = held->spots;
    h.kind = held->kind;
    h.shared = held->shared;
    h.path.base = held->path.base;
    if (h.path.base != DH_W_NONE) {
        h.path.steps = held->path.steps;
        h.path.indexed = held->path.indexed;
        memcpy(h.path.off, held->path.off, held->path.steps * sizeof h.path.off[0]);
    }
    h.address.base = held->address.base;
    h.address.global = held->address.global;
    h.address.content = held->address.content;
    if (dh_w_address_known(&held->address)) {
        h.address.off = held->address.off;
        h.address.terms = held->address.terms;
        h.address.source = held->address.source;
        for (u32 i = 0; i < h.address.terms; i++) {
            h.address.term[i].index = held->address.term[i].index;
            h.address.term[i].stride = held->address.term[i].stride;
            h.address.term[i].bytes = held->address.term[i].bytes;
            h.address.term[i].begin = held->address.term[i].begin;
        }
    }
    return dh_w_pool_add(&l->held, &h, sizeof h);
}

u32 dh_w_held_by(struct dh_w_locks *l, u32 inst, const struct dh_w_op *op)
{
    static const int64_t nothing[1];
    struct dh_w_held h = {.kind = op->lock_kind, .shared = (op->flags & DH_W_SHARED) != 0};
    const struct dh_w_fn *f = &l->w->fns[l->w->insts[inst].fn];
    h.path = dh_w_path_of(f, op->a);
    h.address = dh_w_address_of(l->w, &l->expressions, f, op->a);
    h.spots = resolved(l, dh_w_node(l->w, inst, op->a), nothing, 1);
    return intern(l, &h);
}

const struct dh_w_held *dh_w_held(const struct dh_w_locks *l, u32 held)
{
    return l->held.item[held];
}

static const u64 *spots_of(const struct dh_w_locks *l, u32 spots, size_t *ret_n)
{
    *ret_n = l->spots.size[spots] / sizeof(u64);
    return l->spots.item[spots];
}

bool dh_w_held_spot(const struct dh_w_locks *l, u32 held, u64 *ret_spot)
{
    const struct dh_w_held *h = dh_w_held(l, held);
    size_t n;
    if (h->spots == DH_W_NONE)
        return false;
    const u64 *at = spots_of(l, h->spots, &n);
    if (n != 1 || (u32)at[0] == DH_PTS_ANY)
        return false;
    *ret_spot = at[0];
    return true;
}

static bool is_known(const struct dh_w_locks *l, u32 held)
{
    u64 spot;
    const struct dh_w_held *h = dh_w_held(l, held);
    return h->path.base != DH_W_NONE || dh_w_address_known(&h->address) || dh_w_held_spot(l, held, &spot);
}

static struct dh_w_path path_to_caller(const struct dh_w_fn *f, const struct dh_w_call *call,
                                       const struct dh_w_path *p)
{
    if (p->base >= call->n)
        return no_path;
    struct dh_w_path to = dh_w_path_of(f, call->args[p->base]);
    if (to.base == DH_W_NONE || to.steps + p->steps - 1 > DH_W_PATH_MAX)
        return no_path;
    to.off[to.steps - 1] += p->off[0];
    memcpy(to.off + to.steps, p->off + 1, (p->steps - 1) * sizeof p->off[0]);
    to.steps += p->steps - 1;
    to.indexed |= p->indexed;
    return to;
}

u32 dh_w_held_to_caller(struct dh_w_locks *l, u32 held, u32 caller, const struct dh_w_call *call, u32 callee)
{
    struct dh_w_held h = *dh_w_held(l, held);
    u32 args =
        l->w->fns[l->w->insts[callee].fn].args; /* of the callee's values, those are given by the caller */
    if (h.path.base >= args)
        h.path = no_path;
    if (h.address.base != DH_W_NONE && h.address.base >= args)
        h.address = no_address;
    const struct dh_w_fn *f = &l->w->fns[l->w->insts[caller].fn];
    struct dh_w_path p = h.path;
    u64 spot;
    if (p.base < call->n && !dh_w_held_spot(l, held, &spot))
        h.spots = resolved(l, dh_w_node(l->w, caller, call->args[p.base]), p.off, p.steps);
    h.path = path_to_caller(f, call, &p);
    struct dh_w_address address = h.address;
    h.address = dh_w_address_in_caller(l->w, &l->expressions, &address, f, call);
    return intern(l, &h);
}

/* If the caller's path goes through one of the arguments, it begins there in the callee. */
static struct dh_w_path path_to_callee(const struct dh_w_fn *f, const struct dh_w_call *call,
                                       const struct dh_w_path *p)
{
    for (u32 i = 0; i < call->n && !p->indexed && p->base != DH_W_NONE; i++) {
        if (call->args[i] == DH_W_NONE)
            continue;
        struct dh_w_path a = dh_w_path_of(f, call->args[i]);
        u32 common = a.steps - 1;
        if (a.base != p->base || a.steps > p->steps || a.indexed ||
            memcmp(a.off, p->off, common * sizeof p->off[0]) != 0)
            continue;
        struct dh_w_path to = {.base = i, .steps = p->steps - common};
        memcpy(to.off, p->off + common, to.steps * sizeof p->off[0]);
        to.off[0] -= a.off[common];
        return to;
    }
    return no_path;
}

u32 dh_w_held_to_callee(struct dh_w_locks *l, u32 held, u32 caller, const struct dh_w_call *call, u32 callee)
{
    struct dh_w_held h = *dh_w_held(l, held);
    const struct dh_w_fn *f = &l->w->fns[l->w->insts[caller].fn], *to = &l->w->fns[l->w->insts[callee].fn];
    struct dh_w_path path = h.path;
    struct dh_w_address address = h.address;
    h.path = path_to_callee(f, call, &path);
    h.address = dh_w_address_in_callee(l->w, &l->expressions, &address, f, call, to);
    u32 n = intern(l, &h);
    return is_known(l, n) ? n : DH_W_NONE;
}

bool dh_w_held_may_be(const struct dh_w_locks *l, u32 a, u32 b)
{
    const struct dh_w_held *x = dh_w_held(l, a), *y = dh_w_held(l, b);
    if (x->spots == DH_W_NONE || y->spots == DH_W_NONE)
        return true;
    size_t n, m;
    const u64 *p = spots_of(l, x->spots, &n), *q = spots_of(l, y->spots, &m);
    if (n == 0 || m == 0)
        return true; /* nothing is known of its place */
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            if (p[i] == q[j] ||
                (p[i] >> 32 == q[j] >> 32 && ((u32)p[i] == DH_PTS_ANY || (u32)q[j] == DH_PTS_ANY)))
                return true;
    return false;
}

/* ---- sets ---- */

const u32 *dh_w_set(const struct dh_w_locks *l, u32 set, size_t *ret_n)
{
    *ret_n = l->sets.size[set] / sizeof(u32);
    return l->sets.item[set];
}

enum { MAX_SET = 32 }; /* more locks at once are not noted: a smaller must-held set is safe */

struct set {
    u32 at[MAX_SET];
    size_t n;
};

static void set_add(struct set *s, u32 held)
{
    size_t i = 0;
    while (i < s->n && s->at[i] < held)
        i++;
    if ((i < s->n && s->at[i] == held) || s->n == MAX_SET)
        return;
    memmove(s->at + i + 1, s->at + i, (s->n - i) * sizeof s->at[0]);
    s->at[i] = held;
    s->n++;
}

static struct set set_of(const struct dh_w_locks *l, u32 set)
{
    struct set s;
    const u32 *at = dh_w_set(l, set, &s.n);
    memcpy(s.at, at, s.n * sizeof s.at[0]);
    return s;
}

static u32 set_intern(struct dh_w_locks *l, const struct set *s)
{
    return dh_w_pool_add(&l->sets, s->at, s->n * sizeof s->at[0]);
}

/* The very same lock, as far as names tell. */
static bool is_same(const struct dh_w_locks *l, u32 a, u32 b)
{
    u64 x, y;
    if (a == b || (dh_w_held_spot(l, a, &x) && dh_w_held_spot(l, b, &y) && x == y))
        return true;
    const struct dh_w_held *p = dh_w_held(l, a), *q = dh_w_held(l, b);
    return (p->path.base != DH_W_NONE && !p->path.indexed && paths_equal(&p->path, &q->path)) ||
           (dh_w_address_alike(&p->address, &q->address) && p->address.off == q->address.off);
}

u32 dh_w_set_with(struct dh_w_locks *l, u32 set, u32 held)
{
    struct set from = set_of(l, set), to = {.n = 0};
    /* A lock that is held alone is not held for reading as well. */
    for (size_t i = 0; i < from.n; i++)
        if (dh_w_held(l, held)->shared || !dh_w_held(l, from.at[i])->shared || !is_same(l, from.at[i], held))
            to.at[to.n++] = from.at[i];
    set_add(&to, held);
    return set_intern(l, &to);
}

u32 dh_w_set_without(struct dh_w_locks *l, u32 set, u32 held, bool *ret_exact)
{
    struct set from = set_of(l, set), to = {.n = 0};
    *ret_exact = false;
    for (size_t i = 0; i < from.n; i++)
        *ret_exact |= is_same(l, from.at[i], held);
    for (size_t i = 0; i < from.n; i++)
        if (*ret_exact ? !is_same(l, from.at[i], held) : !dh_w_held_may_be(l, from.at[i], held))
            to.at[to.n++] = from.at[i];
    return set_intern(l, &to);
}

u32 dh_w_set_meet(struct dh_w_locks *l, u32 a, u32 b)
{
    if (a == b)
        return a;
    struct set x = set_of(l, a), y = set_of(l, b), both = {.n = 0};
    for (size_t i = 0; i < x.n; i++)
        for (size_t j = 0; j < y.n; j++) {
            if (!is_same(l, x.at[i], y.at[j]))
                continue;
            const struct dh_w_held *p = dh_w_held(l, x.at[i]), *q = dh_w_held(l, y.at[j]);
            struct dh_w_held h = *p;
            h.shared = p->shared || q->shared;
            h.path = paths_equal(&p->path, &q->path) ? p->path : no_path;
            h.address = dh_w_address_equal(&p->address, &q->address) ? p->address : no_address;
            if (p->address.source != q->address.source)
                h.address.source = 0;
            h.spots = p->spots == q->spots ? p->spots : DH_W_NONE;
            u32 held = intern(l, &h);
            if (is_known(l, held))
                set_add(&both, held);
        }
    return set_intern(l, &both);
}

u32 dh_w_set_join(struct dh_w_locks *l, u32 a, u32 b)
{
    if (a == b)
        return a;
    struct set x = set_of(l, a), y = set_of(l, b);
    for (size_t i = 0; i < y.n; i++)
        set_add(&x, y.at[i]);
    return set_intern(l, &x);
}

u32 dh_w_set_forget(struct dh_w_locks *l, u32 set, dh_w_value base)
{
    size_t n;
    const u32 *at = dh_w_set(l, set, &n);
    bool found = false;
    for (size_t i = 0; i < n; i++) {
        const struct dh_w_held *h = dh_w_held(l, at[i]);
        found |= h->path.base == base || h->address.base == base ||
                 dh_w_source_begins(&l->expressions, h->address.source, base);
    }
    if (!found)
        return set;
    struct set from = set_of(l, set), to = {.n = 0};
    for (size_t i = 0; i < from.n; i++) {
        struct dh_w_held h = *dh_w_held(l, from.at[i]);
        if (h.path.base == base)
            h.path = no_path;
        if (h.address.base == base)
            h.address = no_address;
        if (dh_w_source_begins(&l->expressions, h.address.source, base))
            h.address.source = 0;
        u32 held = intern(l, &h);
        if (is_known(l, held))
            set_add(&to, held);
    }
    return set_intern(l, &to);
}

u32 dh_w_set_enter(struct dh_w_locks *l, u32 set, LLVMBasicBlockRef block)
{
    size_t n;
    const u32 *at = dh_w_set(l, set, &n);
    bool ends = false;
    for (size_t i = 0; i < n; i++) {
        const struct dh_w_address *a = &dh_w_held(l, at[i])->address;
        ends |= dh_w_address_ends(&l->expressions, a, block) ||
                dh_w_source_ends(&l->expressions, a->source, block);
    }
    if (!ends)
        return set;
    struct set from = set_of(l, set), to = {.n = 0};
    for (size_t i = 0; i < from.n; i++) {
        struct dh_w_held h = *dh_w_held(l, from.at[i]);
        if (dh_w_source_ends(&l->expressions, h.address.source, block))
            h.address.source = 0;
        if (dh_w_address_ends(&l->expressions, &h.address, block))
            h.address = no_address;
        u32 held = intern(l, &h);
        if (is_known(l, held))
            set_add(&to, held);
    }
    return set_intern(l, &to);
}
