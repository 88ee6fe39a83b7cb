/*
 * widen.c - one set for all pointers that may lead nearly anywhere.
 *
 * In a large program most pointers end up with one of thousands of sets that differ in only a few of their
 * thousand members: everything that goes through one heap, one list or one table of functions. Keeping them
 * apart takes nearly all of the time, and gains nothing. So a node whose set has grown to options.huge
 * locations is merged with all others of that kind, the CROWD. Offsets lead from each of its members to any
 * other, so its pointers point anywhere in their objects, and its set contains only "anywhere" locations.
 * That is less precise but still sound: sets only get larger. All other nodes are unaffected, and so are the
 * objects, whose fields still distinguish what is accessed by name.
 *
 * A node to which a pointer of the crowd is copied, at any offset, has everything that the crowd has, and
 * joins it. A load through one of its pointers gives the same as through any other, so there is one node for
 * loads and one for stores; all loads and stores of the crowd are edges from the former and to the latter. So
 * the crowd has two uses and no edges, regardless of how many nodes are in it.
 */
#include "ir/pts/solver.h"

#include <errno.h>
#include <stdlib.h>

struct newcomers {
    uint32_t *at;
    uint32_t n, cap;
};

static void invite(struct dh_pts *p, struct newcomers *all, uint32_t node)
{
    uint32_t *n = PUSH(p, *all);
    if (n)
        *n = node;
}

/* A use of the crowd becomes an edge, or brings somebody new. */
static void dissolve(struct dh_pts *p, struct newcomers *all, const struct use *u)
{
    uint32_t other = u->other;
    switch ((enum use_kind)u->kind) {
    case USE_OFFSET:
    case USE_ANY:
        invite(p, all, other);
        return;
    case USE_LOAD:
        dh_pts_edge(p, p->crowd_reads, other);
        return;
    case USE_STORE:
        dh_pts_edge(p, other, p->crowd_writes);
        return;
    /* Copies of memory: of each object in the crowd "anywhere" is in it, bytes need not be linked to bytes.
     */
    case USE_COPY_FROM:
        dh_pts_edge(p, p->crowd_reads, dh_pts_writes(p, dh_pts_location_at(p, other, DH_PTS_ANY)));
        return;
    case USE_COPY_TO:
        dh_pts_edge(p, dh_pts_reads(p, dh_pts_location_at(p, other, DH_PTS_ANY)), p->crowd_writes);
        return;
    case USE_WATCH:
        return;
    }
}

/* Of the uses of a node watches are left, and the crowd's own two; they are the crowd's. */
static void dissolve_uses(struct dh_pts *p, struct newcomers *all, uint32_t node)
{
    uint32_t crowd = p->crowd, u = p->nodes.at[node].uses;
    p->nodes.at[node].uses = p->nodes.at[node].last_use = DH_PTS_NONE;
    for (uint32_t next; u != DH_PTS_NONE && !p->failed; u = next) {
        next = p->uses.at[u].next;
        bool own = u == p->crowd_use || u == p->crowd_use + 1;
        if (!own && p->uses.at[u].kind != USE_WATCH) {
            dissolve(p, all, &p->uses.at[u]);
            continue;
        }
        struct late *l = node == crowd ? NULL : PUSH(p, p->late);
        if (l)
            *l = (struct late){u, p->nodes.at[crowd].all};
        struct node *c = &p->nodes.at[crowd];
        p->uses.at[u].next = DH_PTS_NONE;
        if (c->uses == DH_PTS_NONE)
            c->uses = u;
        else
            p->uses.at[c->last_use].next = u;
        c->last_use = u;
    }
}

static void dissolve_edges(struct dh_pts *p, struct newcomers *all, uint32_t node)
{
    struct dh_set_iter it;
    uint32_t to;
    dh_set_iter_init(&it, &p->nodes.at[node].next);
    while (dh_set_next(&it, &to))
        invite(p, all, to);
    dh_set_done(&p->nodes.at[node].next);
}

static void found(struct dh_pts *p, uint32_t node)
{
    p->crowd = node;
    p->stats.widened++;
    p->crowd_reads = dh_pts_node_add(p);
    p->crowd_writes = dh_pts_node_add(p);
    p->crowd_use = p->uses.n;
    dh_pts_use_add(p, node, &(struct use){.kind = USE_LOAD, .other = p->crowd_reads});
    dh_pts_use_add(p, node, &(struct use){.kind = USE_STORE, .other = p->crowd_writes});
    uint32_t all = p->failed ? 0 : dh_pts_anywhere(p, p->nodes.at[node].all);
    struct node *c = &p->nodes.at[node];
    c->all = c->fresh = all;
    if (all)
        dh_pts_mark_dirty(p, node);
}

static void take_in(struct dh_pts *p, struct newcomers *all, uint32_t node)
{
    if (!dh_pts_is_crowd(p, node)) {
        dh_pts_send(p, p->crowd, p->nodes.at[node].all);
        p->nodes.at[node].all = p->nodes.at[node].fresh = 0;
        p->nodes.at[node].parent = p->crowd;
        p->stats.merged++;
        p->stats.widened++;
    }
    dissolve_edges(p, all, node);
    dissolve_uses(p, all, node);
}

void dh_pts_join_crowd(struct dh_pts *p, const uint32_t *nodes, uint32_t n)
{
    struct newcomers all = {0};
    if (n && p->crowd == DH_PTS_NONE)
        found(p, dh_pts_root(p, nodes[0]));
    if (p->crowd == DH_PTS_NONE || p->failed)
        return;
    take_in(p, &all, p->crowd); /* what it came by since */
    for (uint32_t i = 0; i < n; i++)
        invite(p, &all, nodes[i]);
    while (all.n && !p->failed) {
        uint32_t node = dh_pts_root(p, all.at[--all.n]);
        if (!dh_pts_is_crowd(p, node))
            take_in(p, &all, node);
    }
    free(all.at);
    dh_pts_settle(p);
}

void dh_pts_widen(struct dh_pts *p)
{
    struct newcomers huge = {0};
    for (uint32_t i = 0; p->options.huge && i < p->dirty.n; i++) {
        uint32_t root = dh_pts_root(p, p->dirty.at[i]);
        if (!dh_pts_is_crowd(p, root) && dh_intern_count(&p->sets, p->nodes.at[root].all) >= p->options.huge)
            invite(p, &huge, root);
    }
    dh_pts_join_crowd(p, huge.at, huge.n);
    free(huge.at);
}
