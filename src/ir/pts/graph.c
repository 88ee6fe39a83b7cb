/*
 * graph.c - nodes, their sets, edges and uses, and the merging of nodes.
 */
#include "ir/pts/solver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void *dh_pts_grow(struct dh_pts *p, void *at, uint32_t *cap, size_t size)
{
    uint32_t want = *cap ? *cap * 2 : 64;
    void *more = want > *cap ? realloc(at, want * size) : NULL;
    if (!more) {
        p->failed = -ENOMEM;
        return at;
    }
    *cap = want;
    return more;
}

uint32_t dh_pts_root(struct dh_pts *p, uint32_t node)
{
    struct node *n = p->nodes.at;
    while (n[node].parent != node) {
        n[node].parent = n[n[node].parent].parent;
        node = n[node].parent;
    }
    return node;
}

uint32_t dh_pts_root_const(const struct dh_pts *p, uint32_t node)
{
    while (p->nodes.at[node].parent != node)
        node = p->nodes.at[node].parent;
    return node;
}

uint32_t dh_pts_node_add(struct dh_pts *p)
{
    struct node *n = p->failed ? NULL : PUSH(p, p->nodes);
    if (!n)
        return DH_PTS_NONE;
    memset(n, 0, sizeof *n);
    n->uses = n->last_use = DH_PTS_NONE;
    return n->parent = p->nodes.n - 1;
}

void dh_pts_mark_dirty(struct dh_pts *p, uint32_t root)
{
    if (p->nodes.at[root].dirty)
        return;
    uint32_t *d = PUSH(p, p->dirty);
    if (!d)
        return;
    *d = root;
    p->nodes.at[root].dirty = true;
}

/* The set `all`, after it grew by `news`. */
static void grow_set(struct dh_pts *p, uint32_t root, uint32_t all, uint32_t news)
{
    struct node *n = &p->nodes.at[root];
    uint32_t fresh = dh_intern_join(&p->sets, n->fresh, news);
    if (all == DH_INTERN_FAILED || fresh == DH_INTERN_FAILED) {
        p->failed = -ENOMEM;
        return;
    }
    n->all = all;
    n->fresh = fresh;
    dh_pts_mark_dirty(p, root);
}

void dh_pts_member(struct dh_pts *p, uint32_t node, uint32_t location)
{
    if (p->failed || node == DH_PTS_NONE || location == DH_PTS_NONE)
        return;
    uint32_t root = dh_pts_root(p, node), all = p->nodes.at[root].all;
    if (dh_set_has(dh_intern_set(&p->sets, all), location))
        return;
    uint32_t one = dh_intern_add(&p->sets, 0, location);
    if (one == DH_INTERN_FAILED)
        p->failed = -ENOMEM;
    else if (dh_pts_is_crowd(p, root))
        dh_pts_send(p, root, one);
    else
        grow_set(p, root, dh_intern_add(&p->sets, all, location), one);
}

void dh_pts_send(struct dh_pts *p, uint32_t node, uint32_t set)
{
    if (set == 0 || p->failed)
        return;
    uint32_t root = dh_pts_root(p, node);
    p->stats.propagations++;
    if (dh_pts_is_crowd(p, root))
        set = dh_pts_anywhere(p, set);
    if (p->failed)
        return;
    uint32_t news = dh_intern_minus(&p->sets, set, p->nodes.at[root].all);
    if (news == DH_INTERN_FAILED)
        p->failed = -ENOMEM;
    else if (news)
        grow_set(p, root, dh_intern_join(&p->sets, p->nodes.at[root].all, news), news);
}

void dh_pts_edge(struct dh_pts *p, uint32_t from, uint32_t to)
{
    if (p->failed || from == DH_PTS_NONE || to == DH_PTS_NONE)
        return;
    from = dh_pts_root(p, from);
    to = dh_pts_root(p, to);
    if (from == to)
        return;
    struct node *n = &p->nodes.at[from];
    int r = dh_set_add(&n->next, to);
    if (r > 0)
        dh_pts_send(p, to, n->all);
    else if (r < 0)
        p->failed = r;
}

void dh_pts_use_add(struct dh_pts *p, uint32_t node, const struct use *u)
{
    if (p->failed)
        return;
    struct use *made = PUSH(p, p->uses);
    if (!made)
        return;
    *made = *u;
    made->next = DH_PTS_NONE;
    uint32_t id = p->uses.n - 1;
    node = dh_pts_root(p, node);
    struct node *n = &p->nodes.at[node];
    if (n->uses == DH_PTS_NONE)
        n->uses = id;
    else
        p->uses.at[n->last_use].next = id;
    n->last_use = id;
    /* What the node has told its other uses, this one has to hear too. */
    if (n->all != n->fresh) {
        struct late *l = PUSH(p, p->late);
        if (l)
            *l = (struct late){id, n->all};
    }
}

/* The edges and uses of a node hear what its new companion has told already, and only they. */
static void tell_rest(struct dh_pts *p, uint32_t node, uint32_t rest, uint32_t companion)
{
    struct dh_set_iter it;
    uint32_t to;
    if (rest == 0)
        return;
    dh_set_iter_init(&it, &p->nodes.at[node].next);
    while (dh_set_next(&it, &to)) {
        to = dh_pts_root(p, to);
        if (to != node && to != companion)
            dh_pts_send(p, to, rest);
    }
    for (uint32_t u = p->nodes.at[node].uses; u != DH_PTS_NONE; u = p->uses.at[u].next) {
        struct late *l = PUSH(p, p->late);
        if (l)
            *l = (struct late){u, rest};
    }
}

static int merge_sets(struct dh_pts *p, uint32_t a, uint32_t b)
{
    struct dh_intern *t = &p->sets;
    struct node *x = &p->nodes.at[a], *y = &p->nodes.at[b];
    uint32_t told_a = dh_intern_minus(t, x->all, x->fresh), told_b = dh_intern_minus(t, y->all, y->fresh);
    if (told_a == DH_INTERN_FAILED || told_b == DH_INTERN_FAILED)
        return -ENOMEM;
    uint32_t only_a = dh_intern_minus(t, told_a, told_b), only_b = dh_intern_minus(t, told_b, told_a);
    uint32_t all = dh_intern_join(t, x->all, y->all), told = dh_intern_join(t, told_a, told_b);
    if (only_a == DH_INTERN_FAILED || only_b == DH_INTERN_FAILED || all == DH_INTERN_FAILED ||
        told == DH_INTERN_FAILED)
        return -ENOMEM;
    tell_rest(p, a, only_b, b);
    tell_rest(p, b, only_a, a);
    uint32_t fresh = dh_intern_minus(t, all, told);
    if (fresh == DH_INTERN_FAILED || dh_set_join(&x->next, &y->next))
        return -ENOMEM;
    x->all = all;
    x->fresh = fresh;
    y->all = y->fresh = 0;
    dh_set_done(&y->next);
    return 0;
}

static void append_uses(struct dh_pts *p, uint32_t to, uint32_t from)
{
    struct node *x = &p->nodes.at[to], *y = &p->nodes.at[from];
    if (x->uses == DH_PTS_NONE)
        x->uses = y->uses;
    else
        p->uses.at[x->last_use].next = y->uses;
    if (y->uses != DH_PTS_NONE)
        x->last_use = y->last_use;
    y->uses = y->last_use = DH_PTS_NONE;
}

/* One set, one list of edges, one list of uses. */
void dh_pts_merge(struct dh_pts *p, uint32_t a, uint32_t b)
{
    if (p->failed || a == DH_PTS_NONE || b == DH_PTS_NONE)
        return;
    a = dh_pts_root(p, a);
    b = dh_pts_root(p, b);
    if (a == b)
        return;
    if (dh_pts_is_crowd(p, a) || dh_pts_is_crowd(p, b)) {
        dh_pts_join_crowd(p, dh_pts_is_crowd(p, a) ? &b : &a, 1);
        return;
    }
    if (a > b) {
        uint32_t t = a;
        a = b;
        b = t;
    }
    struct node *x = &p->nodes.at[a], *y = &p->nodes.at[b];
    int r = merge_sets(p, a, b);
    if (r) {
        p->failed = r;
        return;
    }
    append_uses(p, a, b);
    y->parent = a;
    p->stats.merged++;
    if (x->fresh)
        dh_pts_mark_dirty(p, a);
}

uint32_t dh_pts_snapshot(struct dh_pts *p, const struct dh_set *set, const uint32_t **ret_list)
{
    uint32_t n = dh_set_count(set);
    *ret_list = p->scratch;
    if (n > p->scratch_cap) {
        uint32_t *more = realloc(p->scratch, n * sizeof *more);
        if (!more) {
            p->failed = -ENOMEM;
            return 0;
        }
        *ret_list = p->scratch = more;
        p->scratch_cap = n;
    }
    dh_set_list(set, p->scratch);
    return n;
}
