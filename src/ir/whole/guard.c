/*
 * guard.c - what holds at an access, and whether two accesses exclude each other.
 *
 * For `relay`, a common lock is one location in both locksets, even if the location stands for many objects
 * at run time; for `sound`, only one that is certainly a single object. For both, it is also a lock that is
 * determined by the address of the access:
 *  - at the same constant distance from both addresses: if these are equal, so are the locks, whatever object
 * it is; or the target of a pointer that is at such a distance and no longer changes;
 *  - at the same rank: x[i] is accessed and m[i] held, in two global arrays, or in one object whose
 * beginning is known (begin.c). Equal addresses mean equal i. Of x[i][k] with k between constants, what k
 * reaches counts as one access (part.c).
 */
#include <string.h>

#include "ir/whole/part.h"
#include "ir/whole/race.h"

enum { MAX_DELTAS = 16 };

struct deltas {
    struct dh_w_delta at[MAX_DELTAS];
    size_t n;
};

static struct dh_w_delta *add_delta(struct deltas *all, u32 flags, u32 lock)
{
    if (all->n == MAX_DELTAS)
        return NULL;
    struct dh_w_delta *d = &all->at[all->n++];
    d->flags = flags;
    d->lock = lock;
    return d;
}

/*
 * Two accesses may overlap without being equal, and then so do the two locks at equal distances: which cannot
 * be, if the accesses are no longer than a lock. Longer ones may reach into the next element of an array, and
 * to its lock.
 */
static bool is_longer_than_lock(u32 length, u8 kind)
{
    static const u32 sizes[DH_PAIRS_LOCK_KINDS] = {
        [DH_PAIRS_MUTEX] = 40, [DH_PAIRS_RWLOCK] = 56, [DH_PAIRS_SPIN] = 4, [DH_PAIRS_OTHER_LOCK] = 4};
    return length > sizes[kind];
}

/* Of an access to a[i].text[k] under the lock a[i].m, k does not count: it stays in the array (unless it is
 * known not to), and the lock is not in it. That of a[0].m and a[i].x does. */
static bool is_inside(const struct dh_w_address *access, const struct dh_w_address *lock)
{
    struct dh_w_address begin = *access;
    if (lock->terms > access->terms)
        return false;
    begin.terms = lock->terms;
    for (u32 i = lock->terms; i < access->terms; i++) {
        const struct dh_w_term *t = &access->term[i];
        if (t->bytes == 0 || (lock->off >= t->begin && lock->off < t->begin + t->bytes))
            return false;
    }
    return dh_w_address_alike(&begin, lock);
}

static void add_distance(struct deltas *all, const struct dh_w_held *h, u32 lock,
                         const struct dh_w_address *access, const struct dh_w_address *at, u32 length)
{
    u32 flags = (h->shared ? DH_W_DELTA_SHARED : 0) | (access->terms > at->terms ? DH_W_DELTA_INDEXED : 0) |
                (is_longer_than_lock(length, h->kind) ? DH_W_DELTA_LONG : 0);
    struct dh_w_delta *d = add_delta(all, flags, lock);
    if (d != NULL)
        d->distance = at->off - access->off;
}

/* The lock is where a pointer beside what is accessed leads to: equal addresses are equal pointers. */
static bool add_pointer(struct dh_w_races *r, struct deltas *all, u32 lock, const struct dh_w_address *access,
                        const struct dh_w_address *at, u32 length)
{
    const struct dh_w_held *h = dh_w_held(&r->flow->locks, lock);
    struct dh_w_address from;
    if (at->terms > 0 || length > sizeof(void *) ||
        !dh_w_address_source(&r->flow->locks.expressions, at, &from) || !is_inside(access, &from))
        return false;
    u32 flags = (h->shared ? DH_W_DELTA_SHARED : 0) | (access->terms > from.terms ? DH_W_DELTA_INDEXED : 0);
    struct dh_w_delta *d = add_delta(all, DH_W_DELTA_POINTER | flags, lock);
    if (d != NULL) {
        d->distance = from.off - access->off;
        d->rank.lock_off = at->off;
    }
    return true;
}

/* x + a + s * i is accessed, m + b + t * i held; a constant i is in a and b. That s * i does not go round the
 * address space is what the language says of indices. Of x[i][k] and m[i][k], rows are as many elements in
 * both: s * i + s' * k and t * i + t' * k are the same multiple of s' and t', and count as one index. */
static bool have_one_index(const struct dh_w_address *access, const struct dh_w_address *lock)
{
    const struct dh_w_term *x = access->term, *m = lock->term;
    if (access->terms != lock->terms)
        return false;
    for (u32 i = 0; i < access->terms; i++)
        if (x[i].index != m[i].index)
            return false;
    return access->terms < 2 || (x[1].stride != 0 && x[0].stride % x[1].stride == 0 &&
                                 (u64)x[0].stride * m[1].stride == (u64)x[1].stride * m[0].stride);
}

static bool is_ranked(const struct dh_w_address *access, const struct dh_w_address *lock)
{
    return access->global != NULL && lock->global != NULL && have_one_index(access, lock);
}

static void set_rank(const struct dh_w_address *access, const struct dh_w_address *at, u32 length,
                     struct dh_w_rank *rank)
{
    rank->data = access->global;
    rank->data_content = access->content;
    rank->lock_content = at->content;
    rank->data_off = access->off;
    rank->lock = at->global;
    rank->lock_off = at->off;
    rank->length = length;
    if (access->terms > 0) {
        rank->data_stride = access->term[access->terms - 1].stride;
        rank->lock_stride = at->term[at->terms - 1].stride;
    }
}

bool dh_w_rank_of(const struct dh_w_address *access, const struct dh_w_address *lock, u32 length,
                  struct dh_w_rank *ret)
{
    if (!is_ranked(access, lock))
        return false;
    set_rank(access, lock, length, ret);
    return true;
}

static struct dh_w_rank *add_rank(struct deltas *all, const struct dh_w_held *h, u32 lock,
                                  const struct dh_w_address *access, const struct dh_w_address *at,
                                  u32 length)
{
    struct dh_w_delta *d = add_delta(all, DH_W_DELTA_RANKED | (h->shared ? DH_W_DELTA_SHARED : 0), lock);
    if (d == NULL)
        return NULL;
    set_rank(access, at, length, &d->rank);
    return &d->rank;
}

/* Lock and data are in one object, at distances from its begin that are known but for the index. */
static bool add_rank_in_object(struct dh_w_races *r, struct deltas *all, u32 inst, u32 lock,
                               const struct dh_w_address *access, const struct dh_w_address *at, u32 length)
{
    const struct dh_w_held *h = dh_w_held(&r->flow->locks, lock);
    int64_t data_begin, lock_begin;
    if (!have_one_index(access, at) || !dh_w_in_one_object(r->w, inst, access, at) ||
        !dh_w_begin(r, inst, access, &data_begin) || !dh_w_begin(r, inst, at, &lock_begin))
        return false;
    struct dh_w_rank *rank = add_rank(all, h, lock, access, at, length);
    if (rank != NULL) {
        rank->data = rank->lock = NULL;
        rank->data_off += data_begin;
        rank->lock_off += lock_begin;
    }
    return true;
}

/* Lock and data are in one element of an array, whichever. */
static bool add_rank_in_element(struct dh_w_races *r, struct deltas *all, u32 inst, u32 lock,
                                struct dh_w_address access, struct dh_w_address at, u32 length)
{
    if (!dh_w_in_element(r->w, inst, &access, &at))
        return false;
    struct dh_w_rank *rank = add_rank(all, dh_w_held(&r->flow->locks, lock), lock, &access, &at, length);
    if (rank != NULL) {
        rank->data = rank->lock = NULL;
        rank->in_element = true;
    }
    return true;
}

/* The instance that is the only one to call this one, by one call; DH_W_NONE: there are several, or none. */
static u32 only_caller(const struct dh_w *w, u32 inst, const struct dh_w_call **ret_call)
{
    u32 caller = w->insts[inst].caller;
    if (caller == DH_W_NONE)
        return DH_W_NONE;
    const struct dh_w_fn *fn = &w->fns[w->insts[caller].fn];
    const struct dh_w_op *op = &fn->ops[w->insts[inst].call_op];
    if (op->kind != DH_W_CALL)
        return DH_W_NONE;
    *ret_call = &fn->calls[op->call];
    return caller;
}

static bool is_given(const struct dh_w *w, u32 inst, const struct dh_w_address *a)
{
    return a->base == DH_W_NONE || a->base < w->fns[w->insts[inst].fn].args;
}

/* What is accessed and a lock that is held, in the function itself, or, if it is given both, in its caller.
 * Of a row, the rank alone counts: it holds for all that is no longer than an element. */
static void relate(struct dh_w_races *r, struct deltas *all, u32 inst, u32 lock, struct dh_w_address access,
                   u32 length, bool is_row)
{
    struct dh_w *w = r->w;
    struct dh_w_pool *expressions = &r->flow->locks.expressions;
    const struct dh_w_held *h = dh_w_held(&r->flow->locks, lock);
    struct dh_w_address at = h->address;
    while (dh_w_address_known(&access) && dh_w_address_known(&at)) {
        bool inside = !is_row && is_inside(&access, &at), ranked = is_ranked(&access, &at);
        if (inside)
            add_distance(all, h, lock, &access, &at, length);
        if (ranked)
            add_rank(all, h, lock, &access, &at, length);
        ranked |= add_rank_in_object(r, all, inst, lock, &access, &at, length);
        ranked |= add_rank_in_element(r, all, inst, lock, access, at, length);
        ranked |= !is_row && add_pointer(r, all, lock, &access, &at, length);
        if (inside || ranked)
            return;
        const struct dh_w_call *call;
        u32 caller = only_caller(w, inst, &call);
        if (caller == DH_W_NONE)
            return;
        const struct dh_w_fn *fn = &w->fns[w->insts[caller].fn];
        if (!is_given(w, inst, &access) || !is_given(w, inst, &at))
            return;
        access = dh_w_address_in_caller(w, expressions, &access, fn, call);
        at = dh_w_address_in_caller(w, expressions, &at, fn, call);
        inst = caller;
    }
}

static u32 deltas_of(struct dh_w_races *r, u32 inst, u32 locks, u32 op, dh_w_value pointer)
{
    const struct dh_w_fn *fn = &r->w->fns[r->w->insts[inst].fn];
    struct dh_w_pool *expressions = &r->flow->locks.expressions;
    struct dh_w_address access = dh_w_address_of(r->w, expressions, fn, pointer), row = access;
    dh_w_part_unbind(expressions, fn, op, &access);
    struct dh_w_path path = dh_w_path_of(fn, pointer);
    u32 length = fn->ops[op].length, bytes = length;
    struct dh_w_part part;
    /* Of x[i][k] with k between constants, all that k reaches, at once. */
    bool has_row =
        dh_w_part_of(expressions, fn, op, &row, length, &part) && dh_w_part_forget(&row, &part, &bytes);
    struct deltas all;
    size_t count;
    memset(&all, 0, sizeof all);
    const u32 *at = dh_w_set(&r->flow->locks, locks, &count);
    for (size_t i = 0; i < count; i++) {
        const struct dh_w_held *h = dh_w_held(&r->flow->locks, at[i]);
        size_t before = all.n;
        relate(r, &all, inst, at[i], access, length, false);
        if (all.n == before && has_row)
            relate(r, &all, inst, at[i], row, bytes, true);
        if (all.n > before || h->path.base == DH_W_NONE || h->path.base != path.base ||
            h->path.steps != path.steps || h->path.indexed ||
            memcmp(h->path.off, path.off, (path.steps - 1) * sizeof path.off[0]) != 0)
            continue;
        struct dh_w_delta *d = add_delta(&all,
                                         DH_W_DELTA_LOADED | (h->shared ? DH_W_DELTA_SHARED : 0) |
                                             (path.indexed ? DH_W_DELTA_INDEXED : 0),
                                         at[i]);
        if (d != NULL)
            d->distance = h->path.off[path.steps - 1] - path.off[path.steps - 1];
    }
    return dh_w_pool_add(&r->deltas, all.at, all.n * sizeof all.at[0]);
}

/* A lock that is made while other threads run may be another one for each of them. */
void dh_w_guards_find_renewed(struct dh_w_races *r)
{
    struct dh_w *w = r->w;
    dh_pts_location l;
    for (u32 i = 0; i < w->n_insts; i++) {
        const struct dh_w_fn *fn = &w->fns[w->insts[i].fn];
        for (u32 o = 0; o < fn->n_ops; o++) {
            dh_pts_node node = fn->ops[o].kind == DH_W_RENEW ? dh_w_node(w, i, fn->ops[o].a) : DH_PTS_NONE;
            if (node == DH_PTS_NONE)
                continue;
            bool alone = w->insts[i].root == 0;
            for (size_t s = 0; s < r->flow->states[i].n && alone; s++)
                alone = dh_w_flow_apply(r->flow, &r->flow->states[i].at[s], dh_w_flow_change(r->flow, i, o))
                            .alive[DH_W_SOUND] == 0;
            for (struct dh_pts_iter it = dh_pts_iter(w->pts, node); !alone && dh_pts_next(&it, &l);) {
                struct dh_pts_place at = dh_pts_place(w->pts, l);
                dh_w_table_put(&r->renewed, DH_W_KEY(dh_w_spot(at.object, at.offset)), 0);
            }
        }
    }
}

u32 dh_w_guards(struct dh_w_races *r, u32 inst, u32 op, dh_w_value pointer)
{
    struct dh_w_guard all[DH_W_MAX_STATES];
    size_t n = 0;
    struct dh_w_flow *f = r->flow;
    const struct dh_w_change *c = dh_w_flow_change(f, inst, op);
    memset(all, 0, sizeof all);
    for (size_t s = 0; s < f->states[inst].n && c->reached; s++) {
        struct dh_w_state at = dh_w_flow_apply(f, &f->states[inst].at[s], c);
        all[n].state.locks = at.locks;
        memcpy(all[n].state.alive, at.alive, sizeof at.alive);
        all[n].state.barriers = at.barriers;
        all[n].state.late = at.late;
        if (at.locks != 0)
            all[n].deltas = deltas_of(r, inst, at.locks, op, pointer);
        n++;
    }
    return dh_w_pool_add(&r->guards, all, n * sizeof all[0]);
}

struct common {
    bool excludes[DH_W_STYLES];
    bool by_many, by_shared;
};

static void compare_spots(struct dh_w_races *r, u32 a, u32 b, struct common *c)
{
    u64 x, y;
    const struct dh_w_locks *l = &r->flow->locks;
    if (!dh_w_held_spot(l, a, &x) || !dh_w_held_spot(l, b, &y) || x != y)
        return;
    if (dh_w_held(l, a)->shared && dh_w_held(l, b)->shared) {
        c->by_shared = true;
        return;
    }
    c->excludes[DH_W_RELAY] = true;
    bool renewed = dh_w_table_get(&r->renewed, DH_W_KEY(x)) != DH_W_TABLE_NONE;
    if (!renewed && dh_w_single(r->w, (u32)(x >> 32)) && !dh_pts_folded(r->w->pts, (u32)(x >> 32), (u32)x))
        c->excludes[DH_W_SOUND] = true;
    else
        c->by_many = true;
}

bool dh_w_same_rank(const struct dh_w_rank *x, const struct dh_w_rank *y)
{
    if (x->data_stride == 0 && y->data_stride != 0)
        return dh_w_same_rank(y, x);
    if (x->data != y->data || x->lock != y->lock || x->data_content != y->data_content ||
        x->lock_content != y->lock_content || x->in_element != y->in_element)
        return false;
    int64_t s = x->data_stride, t = x->lock_stride;
    int64_t data = y->data_off - x->data_off, lock = y->lock_off - x->lock_off;
    if (s == 0)
        return data == 0 && lock == 0; /* whatever is accessed, it is the same lock */
    if (x->length > s || y->length > s ||
        (y->data_stride != 0 && (y->data_stride != s || y->lock_stride != t)))
        return false;
    if (y->data_stride != 0)
        return data == 0 && lock == 0;
    /* y has a constant k for i. */
    return data % s == 0 && t != 0 && lock % t == 0 && data / s == lock / t;
}

/* The same for accesses that may begin at different bytes of an element: if they have one in common, it is
 * one element, since together they are no longer than that. Not for `in_element`: there only equal places are
 * known to be in one structure. */
static bool same_element(const struct dh_w_rank *x, const struct dh_w_rank *y)
{
    if (x->data_stride == 0 && y->data_stride != 0)
        return same_element(y, x);
    if (x->data != y->data || x->lock != y->lock || x->data_content != y->data_content ||
        x->lock_content != y->lock_content || x->in_element || y->in_element)
        return false;
    int64_t s = x->data_stride, data = y->data_off - x->data_off, lock = y->lock_off - x->lock_off, k = 0;
    if (s == 0)
        return lock == 0;
    if (x->length == 0 || y->length == 0 || /* not known */
        (y->data_stride != 0 && (y->data_stride != s || y->lock_stride != x->lock_stride)))
        return false;
    if (y->data_stride == 0) /* y has a constant for i: k, or, if it begins before x in that element, k + 1 */
        k = data >= 0 ? data / s : (data - s + 1) / s;
    for (int64_t last = y->data_stride == 0 ? k + 1 : k; k <= last; k++) {
        int64_t at = data - k * s, first = at < 0 ? at : 0, end = at + y->length;
        if ((end > x->length ? end : x->length) - first <= s && lock == k * x->lock_stride)
            return true;
    }
    return false;
}

static void compare_deltas(struct dh_w_races *r, u32 a, u32 b, struct common *c)
{
    size_t n = r->deltas.size[a] / sizeof(struct dh_w_delta),
           m = r->deltas.size[b] / sizeof(struct dh_w_delta);
    const struct dh_w_delta *x = r->deltas.item[a], *y = r->deltas.item[b];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) {
            u32 either = x[i].flags | y[j].flags, differ = x[i].flags ^ y[j].flags;
            if (x[i].distance != y[j].distance ||
                (differ & (DH_W_DELTA_INDEXED | DH_W_DELTA_RANKED | DH_W_DELTA_POINTER)) ||
                ((either & DH_W_DELTA_RANKED) && !dh_w_same_rank(&x[i].rank, &y[j].rank) &&
                 !same_element(&x[i].rank, &y[j].rank)) ||
                ((either & DH_W_DELTA_POINTER) && x[i].rank.lock_off != y[j].rank.lock_off))
                continue;
            if (x[i].flags & y[j].flags & DH_W_DELTA_SHARED) {
                c->by_shared = true;
                continue;
            }
            c->excludes[DH_W_RELAY] = true;
            c->excludes[DH_W_SOUND] |= !(either & (DH_W_DELTA_LOADED | DH_W_DELTA_LONG));
        }
}

static struct common compare(struct dh_w_races *r, const struct dh_w_guard *a, const struct dh_w_guard *b)
{
    struct common c = {{false, false}, false, false};
    size_t n, m;
    const u32 *x = dh_w_set(&r->flow->locks, a->state.locks, &n);
    const u32 *y = dh_w_set(&r->flow->locks, b->state.locks, &m);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            compare_spots(r, x[i], y[j], &c);
    if (n > 0 && m > 0)
        compare_deltas(r, a->deltas, b->deltas, &c);
    return c;
}

static u32 reasons(const struct dh_w_races *r, const struct dh_w_class *a, const struct dh_w_class *b,
                   const struct dh_w_guard *x, const struct dh_w_guard *y, const struct common *c)
{
    u32 why = a->root == b->root ? DH_PAIRS_BY_INSTANCES : DH_PAIRS_BY_TWO_THREADS;
    if (a->root != b->root &&
        ((r->flow->parents[a->root] >> b->root & 1) || (r->flow->parents[b->root] >> a->root & 1)))
        why = DH_PAIRS_BY_CREATOR;
    size_t n, m;
    dh_w_set(&r->flow->locks, x->state.locks, &n);
    dh_w_set(&r->flow->locks, y->state.locks, &m);
    if (n == 0 && m == 0)
        why |= DH_PAIRS_BY_NO_LOCKS;
    else if (n == 0 || m == 0)
        why |= DH_PAIRS_BY_ONE_UNLOCKED;
    else if (c->by_many)
        why |= DH_PAIRS_BY_MANY_LOCKS;
    else if (c->by_shared)
        why |= DH_PAIRS_BY_SHARED_MODE;
    else
        why |= DH_PAIRS_BY_OTHER_LOCKS;
    return why;
}

static u32 assumable(const struct dh_w_races *r, const struct dh_w_class *a, const struct dh_w_class *b,
                     const struct dh_w_guard *x, const struct dh_w_guard *y)
{
    u32 flags = 0;
    bool alike = r->w->roots[a->root].fn == r->w->roots[b->root].fn;
    if (alike && !(x->state.barriers & y->state.barriers))
        flags |= DH_PAIRS_IF_BARRIERS;
    if (alike && a->own != 0 && a->own == b->own)
        flags |= DH_PAIRS_IF_PARTITION;
    if ((a->marks | b->marks) & DH_W_MARK_FRESH)
        flags |= DH_PAIRS_IF_PUBLISHED;
    if (!((a->marks | b->marks) & DH_W_MARK_STRANGE))
        flags |= DH_PAIRS_IF_OWNED;
    if (x->state.late || y->state.late)
        flags |= DH_PAIRS_IF_EXIT;
    if (r->w->roots[a->root].unknown || r->w->roots[b->root].unknown)
        flags |= DH_PAIRS_IF_CALLBACKS;
    return flags;
}

static void judge_guards(struct dh_w_races *r, const struct dh_w_class *a, const struct dh_w_class *b,
                         const struct dh_w_guard *x, const struct dh_w_guard *y, struct dh_w_verdict *v)
{
    bool meet[DH_W_STYLES];
    for (int s = 0; s < DH_W_STYLES; s++)
        meet[s] = dh_w_threads_meet(r->flow, a->root, &x->state, b->root, s) &&
                  dh_w_threads_meet(r->flow, b->root, &y->state, a->root, s);
    if (!meet[DH_W_RELAY] && !meet[DH_W_SOUND])
        return;
    struct common c = compare(r, x, y);
    u32 flags = (meet[DH_W_RELAY] && !c.excludes[DH_W_RELAY] ? DH_PAIRS_RELAY : 0) |
                (meet[DH_W_SOUND] && !c.excludes[DH_W_SOUND] ? DH_PAIRS_SOUND : 0);
    if (flags == 0)
        return;
    bool first = v->flags == 0;
    v->flags |= flags;
    v->reasons |= reasons(r, a, b, x, y, &c) | (meet[DH_W_RELAY] ? 0 : DH_PAIRS_BY_NOT_JOINED);
    u32 open = ~assumable(r, a, b, x, y);
    v->unless[DH_W_RELAY] |= flags & DH_PAIRS_RELAY ? open : 0;
    v->unless[DH_W_SOUND] |= flags & DH_PAIRS_SOUND ? open : 0;
    v->locks[0] = first ? x->state.locks : dh_w_set_meet(&r->flow->locks, v->locks[0], x->state.locks);
    v->locks[1] = first ? y->state.locks : dh_w_set_meet(&r->flow->locks, v->locks[1], y->state.locks);
}

struct dh_w_verdict dh_w_judge(struct dh_w_races *r, const struct dh_w_class *a, const struct dh_w_class *b)
{
    struct dh_w_verdict v = {0};
    if (dh_w_elements_apart(r->teams, a->element, b->element))
        return v;
    size_t n = r->guards.size[a->guards] / sizeof(struct dh_w_guard);
    size_t m = r->guards.size[b->guards] / sizeof(struct dh_w_guard);
    const struct dh_w_guard *x = r->guards.item[a->guards], *y = r->guards.item[b->guards];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            judge_guards(r, a, b, &x[i], &y[j], &v);
    return v;
}
