/*
 * solve.c - the sweeps.
 *
 * A round: merge the nodes that were found to be equal or huge, apply new uses to the members they missed,
 * order the nodes that changes can reach, and let each propagate its new members once, in that order. New
 * members of a node that was already visited wait for the next round. When there are none, locations whose
 * object has become coarser are propagated once more; when there are none of these either, each constraint
 * holds for each member of each set.
 */
#include "ir/pts/solver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Replace the targets of copy edges by what they were merged into. */
static void clean_edges(struct dh_pts *p, uint32_t node)
{
    struct dh_set clean = {0};
    struct dh_set_iter it;
    uint32_t to;
    int r = 0;
    dh_set_iter_init(&it, &p->nodes.at[node].next);
    while (r >= 0 && dh_set_next(&it, &to)) {
        to = dh_pts_root(p, to);
        if (to != node)
            r = dh_set_add(&clean, to);
    }
    if (r < 0)
        p->failed = r;
    dh_set_done(&p->nodes.at[node].next);
    p->nodes.at[node].next = clean;
}

static void send_news(struct dh_pts *p, uint32_t node)
{
    uint32_t news = p->nodes.at[node].fresh, to;
    struct dh_set_iter it;
    bool stale = false;
    p->nodes.at[node].fresh = 0;
    p->nodes.at[node].dirty = false;
    dh_set_iter_init(&it, &p->nodes.at[node].next);
    while (dh_set_next(&it, &to)) {
        uint32_t root = dh_pts_root(p, to);
        stale |= root != to;
        if (root != node)
            dh_pts_send(p, root, news);
    }
    if (stale)
        clean_edges(p, node);
    for (uint32_t u = p->nodes.at[node].uses; u != DH_PTS_NONE && !p->failed; u = p->uses.at[u].next)
        dh_pts_apply_all(p, u, news);
    dh_pts_settle(p);
}

static void do_merges(struct dh_pts *p)
{
    for (uint32_t i = 0; i < p->merges.n && !p->failed; i++)
        dh_pts_merge(p, p->merges.at[i].a, p->merges.at[i].b);
    p->merges.n = 0;
}

static void do_late(struct dh_pts *p)
{
    /* The list may grow meanwhile. */
    for (uint32_t i = 0; i < p->late.n && !p->failed; i++) {
        struct late l = p->late.at[i];
        dh_pts_apply_all(p, l.use, l.set);
        dh_pts_settle(p);
    }
    p->late.n = 0;
}

/* Leave in the list of dirty nodes those that stand and have news, once each. */
static void gather_dirty(struct dh_pts *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->dirty.n; i++)
        p->nodes.at[p->dirty.at[i]].dirty = false;
    for (uint32_t i = 0; i < p->dirty.n; i++) {
        uint32_t root = dh_pts_root(p, p->dirty.at[i]);
        struct node *d = &p->nodes.at[root];
        if (d->dirty || !d->fresh)
            continue;
        d->dirty = true;
        p->dirty.at[n++] = root;
    }
    p->dirty.n = n;
}

/*
 * The set with standing locations in place of forwarded ones, and the part of it in objects that got coarser.
 */
static void restate_set(struct dh_pts *p, uint32_t set, uint32_t *ret_all, uint32_t *ret_coarser)
{
    struct dh_set all = {0}, coarser = {0};
    struct dh_set_iter it;
    struct dh_set old = *dh_intern_set(&p->sets, set); /* the table may move */
    uint32_t l;
    int r = 0;
    dh_set_iter_init(&it, &old);
    while (r >= 0 && dh_set_next(&it, &l)) {
        l = dh_pts_standing(p, l);
        r = dh_set_add(&all, l);
        if (r >= 0 && p->objects.at[p->locations.at[l].object].coarser)
            r = dh_set_add(&coarser, l);
    }
    *ret_all = dh_intern_take(&p->sets, &all);
    *ret_coarser = dh_intern_take(&p->sets, &coarser);
    if (r < 0 || *ret_all == DH_INTERN_FAILED || *ret_coarser == DH_INTERN_FAILED)
        p->failed = -ENOMEM;
}

/*
 * Make news of every location in an object that got coarser: it stands for more offsets than when it was
 * told, and an offset or an element from there may lead to more.
 */
static void restate(struct dh_pts *p)
{
    uint32_t n = p->sets.n;
    struct pair *done = calloc(n, sizeof *done); /* by set; a: 0 if not yet done */
    if (!done) {
        p->failed = -ENOMEM;
        return;
    }
    p->epoch++;
    for (uint32_t i = 0; i < p->nodes.n && !p->failed; i++) {
        struct node *node = &p->nodes.at[i];
        if (!node->all)
            continue;
        /* A set that is made meanwhile is the restated form of another, and so its own. */
        if (node->all < n && !done[node->all].a)
            restate_set(p, node->all, &done[node->all].a, &done[node->all].b);
        if (p->failed || node->all >= n || !done[node->all].b)
            continue;
        struct pair to = done[node->all];
        node->all = to.a;
        node->fresh = to.b;
        dh_pts_mark_dirty(p, i);
    }
    for (uint32_t o = 0; o < p->objects.n; o++)
        p->objects.at[o].coarser = false;
    p->stale = false;
    free(done);
}

static void collect(struct dh_pts *p)
{
    for (uint32_t i = 0; i < p->nodes.n; i++) {
        p->sets.at[p->nodes.at[i].all].used = true;
        p->sets.at[p->nodes.at[i].fresh].used = true;
    }
    dh_intern_collect(&p->sets);
}

/* The fields of each object, side by side, for dh_pts_fields. */
static void list_fields(struct dh_pts *p)
{
    free(p->field_list);
    free(p->field_start);
    p->field_list = malloc((p->locations.n + 1) * sizeof *p->field_list);
    p->field_start = malloc((p->objects.n + 1) * sizeof *p->field_start);
    if (!p->field_list || !p->field_start) {
        p->failed = -ENOMEM;
        return;
    }
    uint32_t n = 0;
    for (uint32_t o = 0; o < p->objects.n; o++) {
        p->field_start[o] = n;
        for (uint32_t l = p->objects.at[o].first; l != DH_PTS_NONE; l = p->locations.at[l].next)
            if (p->locations.at[l].forward == l)
                p->field_list[n++] = l;
    }
    p->field_start[p->objects.n] = n;
}

int dh_pts_solve(struct dh_pts *p)
{
    dh_pts_settle(p);
    while (!p->failed) {
        dh_pts_widen(p);
        do_merges(p);
        do_late(p);
        if (p->merges.n)
            continue;
        gather_dirty(p);
        if (!p->dirty.n && !p->stale)
            break;
        if (!p->dirty.n) {
            restate(p);
            continue;
        }
        p->stats.rounds++;
        if (p->options.collect_always || p->sets.bytes > p->sets.collect_at)
            collect(p);
        dh_pts_order(p);
        for (uint32_t i = 0; i < p->sequence.n && !p->failed; i++) {
            uint32_t node = p->sequence.at[i];
            if (p->nodes.at[node].fresh)
                send_news(p, node);
        }
        dh_pts_settle(p);
    }
    if (!p->failed)
        list_fields(p);
    p->solved = !p->failed;
    return p->failed;
}
