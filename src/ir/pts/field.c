/*
 * field.c - locations: created on demand, forwarded when their object gets coarser, and given nodes
 * (contents) when something is loaded from or stored to them.
 *
 * A forwarded location stays in the sets that contain it; code that reads it from a set looks up the current
 * one. The sets are cleaned up when the solver is done.
 */
#include "ir/pts/solver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint32_t object, uint32_t offset)
{
    uint64_t h = ((uint64_t)object << 32 | offset) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

/* The slot that holds the location, or the empty one where it belongs. */
static uint32_t *slot(const struct dh_pts *p, uint32_t object, uint32_t offset)
{
    uint32_t mask = p->index_cap - 1;
    for (uint32_t i = (uint32_t)mix(object, offset) & mask;; i = (i + 1) & mask) {
        uint32_t l = p->index[i];
        if (l == DH_PTS_NONE || (p->locations.at[l].object == object && p->locations.at[l].offset == offset))
            return &p->index[i];
    }
}

static bool index_room(struct dh_pts *p)
{
    if (p->index_cap / 4 * 3 > p->locations.n)
        return true;
    uint32_t cap = p->index_cap ? p->index_cap * 2 : 1024;
    uint32_t *more = cap ? malloc((size_t)cap * sizeof *more) : NULL;
    if (!more) {
        p->failed = -ENOMEM;
        return false;
    }
    free(p->index);
    p->index = more;
    p->index_cap = cap;
    memset(more, 0xff, (size_t)cap * sizeof *more);
    for (uint32_t l = 0; l < p->locations.n; l++)
        *slot(p, p->locations.at[l].object, p->locations.at[l].offset) = l;
    return true;
}

uint32_t dh_pts_lookup(const struct dh_pts *p, uint32_t object, uint32_t offset)
{
    return p->index_cap ? *slot(p, object, offset) : DH_PTS_NONE;
}

uint32_t dh_pts_standing(const struct dh_pts *p, uint32_t location)
{
    while (p->locations.at[location].forward != location)
        location = p->locations.at[location].forward;
    return location;
}

/* Make the location; the object is not asked whether it has too many. */
static uint32_t make(struct dh_pts *p, uint32_t object, uint32_t offset)
{
    if (p->failed || !index_room(p))
        return DH_PTS_NONE;
    uint32_t *at = slot(p, object, offset);
    if (*at != DH_PTS_NONE)
        return *at;
    struct location *l = PUSH(p, p->locations);
    if (!l)
        return DH_PTS_NONE;
    uint32_t id = *at = p->locations.n - 1;
    *l = (struct location){object, offset, DH_PTS_NONE, DH_PTS_NONE, id, DH_PTS_NONE};
    struct object *o = &p->objects.at[object];
    if (o->first == DH_PTS_NONE)
        o->first = id;
    else
        p->locations.at[o->last].next = id;
    o->last = id;
    if (offset == DH_PTS_ANY)
        o->any = id;
    else
        o->fields++;
    return id;
}

uint32_t dh_pts_location_at(struct dh_pts *p, uint32_t object, uint32_t canonical_offset)
{
    uint32_t l = make(p, object, canonical_offset);
    if (l != DH_PTS_NONE && p->objects.at[object].fields > p->options.max_fields &&
        !p->objects.at[object].collapsed)
        dh_pts_collapse(p, object);
    return l == DH_PTS_NONE ? l : dh_pts_standing(p, l);
}

static void hatch(struct dh_pts *p, uint32_t location)
{
    uint32_t *h = PUSH(p, p->hatched);
    if (h)
        *h = location;
}

static uint32_t contents(struct dh_pts *p, uint32_t location, bool store)
{
    if (p->failed || location == DH_PTS_NONE)
        return DH_PTS_NONE;
    location = dh_pts_standing(p, location);
    struct location *l = &p->locations.at[location];
    const struct object *o = &p->objects.at[l->object];
    if (o->function)
        return DH_PTS_NONE;
    if (l->reads == DH_PTS_NONE) {
        l->reads = l->writes = dh_pts_node_add(p);
        if (l->offset == DH_PTS_ANY && !o->collapsed)
            l->writes = dh_pts_node_add(p);
        hatch(p, location);
    }
    return store ? l->writes : l->reads;
}

uint32_t dh_pts_reads(struct dh_pts *p, uint32_t location)
{
    return contents(p, location, false);
}

uint32_t dh_pts_writes(struct dh_pts *p, uint32_t location)
{
    return contents(p, location, true);
}

static void merge_later(struct dh_pts *p, uint32_t a, uint32_t b)
{
    struct pair *m = a == b ? NULL : PUSH(p, p->merges);
    if (m)
        *m = (struct pair){a, b};
}

/*
 * The nodes are merged before the next sweep, not here: a sweep may be in the middle of one of them. Till
 * then the old ones go on being read and written by whoever has an edge to them, which the merge makes up
 * for.
 */
static void forward(struct dh_pts *p, uint32_t location, uint32_t to)
{
    struct location *l = &p->locations.at[location], *t = &p->locations.at[to];
    l->forward = to;
    p->objects.at[l->object].fields--;
    if (l->reads == DH_PTS_NONE)
        return;
    if (t->reads == DH_PTS_NONE) {
        t->reads = l->reads;
        t->writes = l->writes;
        hatch(p, to);
    } else {
        merge_later(p, l->reads, t->reads);
        merge_later(p, l->writes, t->writes);
    }
}

void dh_pts_refold(struct dh_pts *p, uint32_t object)
{
    /* Locations made meanwhile come last in the list and are canonical. */
    for (uint32_t l = p->objects.at[object].first; l != DH_PTS_NONE && !p->failed;
         l = p->locations.at[l].next) {
        if (p->locations.at[l].forward != l)
            continue;
        uint32_t offset = p->locations.at[l].offset;
        uint32_t canon = dh_pts_canon(&p->objects.at[object], offset);
        if (canon == offset)
            continue;
        uint32_t to = make(p, object, canon);
        if (to != DH_PTS_NONE)
            forward(p, l, to);
    }
    p->objects.at[object].coarser = true;
    p->stale = true;
    uint32_t *r = PUSH(p, p->refolded);
    if (r)
        *r = object;
}

void dh_pts_collapse(struct dh_pts *p, uint32_t object)
{
    struct object *o = &p->objects.at[object];
    if (o->collapsed || o->function)
        return;
    o->collapsed = true;
    p->stats.collapsed++;
    uint32_t any = make(p, object, DH_PTS_ANY);
    if (any == DH_PTS_NONE)
        return;
    const struct location *l = &p->locations.at[any];
    if (l->reads != DH_PTS_NONE)
        merge_later(p, l->reads, l->writes);
    dh_pts_refold(p, object);
}
