/*
 * apply.c - applies a use to the members of its node's set.
 *
 * Many nodes receive the same new members (intern.h), and many uses do the same with them: they load from the
 * same offset, or add the same offset. Such work is shared. For loads and stores there is an intermediate
 * node, a HUB: its connections, to each location of the set at the offset, do not depend on the use, and a
 * use is one edge from or to it. For copies of memory there is an intermediate object.
 */
#include "ir/pts/solver.h"

#include <errno.h>
#include <stdlib.h>

enum { HUB_FROM = 4 }; /* members */

static void tell(struct dh_pts *p, uint32_t watch, uint32_t location)
{
    struct watch *w = &p->watches.at[watch];
    struct location l = p->locations.at[location];
    if (w->functions && !p->objects.at[l.object].function)
        return;
    int r = dh_set_add(&w->seen, w->functions ? l.object : location);
    if (r < 0)
        p->failed = r;
    if (r > 0 && p->options.on_flow)
        p->options.on_flow(p->options.client, w->call, l.object, l.offset);
}

/* Where an offset leads from a location. */
static uint32_t target(struct dh_pts *p, const struct use *u, uint32_t location)
{
    uint32_t object = p->locations.at[location].object;
    if (u->kind == USE_ANY)
        return dh_pts_location_at(p, object, dh_pts_canon(&p->objects.at[object], DH_PTS_ANY));
    if (u->stride)
        return dh_pts_step_element(p, location, u->offset, u->stride, u->length);
    return u->weight ? dh_pts_step_round(p, location, u->offset, u->weight)
                     : dh_pts_step(p, location, u->offset);
}

void dh_pts_apply(struct dh_pts *p, uint32_t use, uint32_t location)
{
    struct use u = p->uses.at[use];
    location = dh_pts_standing(p, location);
    struct location l = p->locations.at[location];
    switch ((enum use_kind)u.kind) {
    case USE_OFFSET:
    case USE_ANY:
        dh_pts_member(p, u.other, target(p, &u, location));
        return;
    case USE_LOAD:
        if (!p->objects.at[l.object].function)
            dh_pts_edge(p, dh_pts_reads(p, dh_pts_step(p, location, u.offset)), u.other);
        return;
    case USE_STORE:
        if (!p->objects.at[l.object].function)
            dh_pts_edge(p, u.other, dh_pts_writes(p, dh_pts_step(p, location, u.offset)));
        return;
    case USE_COPY_FROM:
    case USE_COPY_TO: {
        int r = dh_set_add(&p->watches.at[u.watch].seen, location);
        if (r < 0)
            p->failed = r;
        else if (r > 0 && u.kind == USE_COPY_FROM)
            dh_pts_link(p, l.object, l.offset, u.other, 0, u.length);
        else if (r > 0)
            dh_pts_link(p, u.other, 0, l.object, l.offset, u.length);
        return;
    }
    case USE_WATCH:
        tell(p, u.watch, location);
        return;
    }
}

/* ---- Whole sets ---- */

/* What is the same for all uses of this kind with this number; 0: not to be remembered. */
static uint64_t key_of(const struct dh_pts *p, uint8_t kind, int64_t number)
{
    uint64_t n = (uint64_t)(number + ((int64_t)1 << 33)), k = (uint64_t)kind + 1;
    return p->epoch >> 20 ? 0 : k | (uint64_t)p->epoch << 4 | n << 24;
}

static uint64_t step_hash(const struct step *s)
{
    uint64_t h = (uint64_t)s->offset * 0x9e3779b97f4a7c15u ^ ((uint64_t)s->stride << 32 | s->length);
    h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u + s->weight;
    return h ^ h >> 32;
}

static bool step_room(struct dh_pts *p)
{
    if (p->step_index_cap / 2 > p->steps.n)
        return true;
    uint32_t cap = p->step_index_cap ? p->step_index_cap * 2 : 256;
    uint32_t *more = calloc(cap, sizeof *more);
    if (!more) {
        p->failed = -ENOMEM;
        return false;
    }
    for (uint32_t i = 0; i < p->steps.n; i++) {
        uint64_t at = step_hash(&p->steps.at[i]);
        while (more[at & (cap - 1)])
            at++;
        more[at & (cap - 1)] = i + 1;
    }
    free(p->step_index);
    p->step_index = more;
    p->step_index_cap = cap;
    return true;
}

/* 1 + the number of what a use does, equal for equal steps; 0: out of memory. */
static uint32_t step_of(struct dh_pts *p, struct use *u)
{
    struct step s = {u->offset, u->stride, u->length, u->weight};
    if (u->step || !step_room(p))
        return u->step;
    uint32_t mask = p->step_index_cap - 1;
    uint64_t at = step_hash(&s);
    for (uint32_t n; (n = p->step_index[at & mask]); at++) {
        const struct step *t = &p->steps.at[n - 1];
        if (t->offset == s.offset && t->stride == s.stride && t->length == s.length && t->weight == s.weight)
            return u->step = n;
    }
    struct step *made = PUSH(p, p->steps);
    if (!made)
        return 0;
    *made = s;
    return u->step = p->step_index[at & mask] = p->steps.n;
}

static void one_by_one(struct dh_pts *p, uint32_t use, uint32_t set)
{
    struct dh_set members = *dh_intern_set(&p->sets, set); /* the table may move, the members do not */
    struct dh_set_iter it;
    uint32_t l;
    dh_set_iter_init(&it, &members);
    while (!p->failed && dh_set_next(&it, &l))
        dh_pts_apply(p, use, l);
}

/*
 * The locations that an offset leads to from those of a set, as a set. What a strided step does may change
 * when its objects get coarser; like all that is remembered of sets, it is good until they are restated.
 */
static uint32_t moved(struct dh_pts *p, struct use *u, uint32_t set)
{
    uint32_t step = u->kind == USE_OFFSET ? step_of(p, u) : 0;
    uint64_t key = p->failed ? 0 : key_of(p, u->kind, step);
    uint32_t known = key ? dh_intern_recall(&p->sets, key, set) : 0, l;
    if (known)
        return known - 1;
    struct dh_set members = *dh_intern_set(&p->sets, set), made = {0};
    struct dh_set_iter it;
    int r = 0;
    dh_set_iter_init(&it, &members);
    while (r >= 0 && !p->failed && dh_set_next(&it, &l)) {
        l = target(p, u, dh_pts_standing(p, l));
        if (l != DH_PTS_NONE)
            r = dh_set_add(&made, l);
    }
    uint32_t result = dh_intern_take(&p->sets, &made);
    if (r < 0 || result == DH_INTERN_FAILED) {
        p->failed = -ENOMEM;
        return 0;
    }
    if (key)
        dh_intern_remember(&p->sets, key, set, result + 1);
    return result;
}

uint32_t dh_pts_anywhere(struct dh_pts *p, uint32_t set)
{
    struct use u = {.kind = USE_ANY};
    return moved(p, &u, set);
}

/* The node that reads (or writes) all locations of a set at an offset. */
static uint32_t hub(struct dh_pts *p, const struct use *u, uint32_t set)
{
    uint64_t key = key_of(p, u->kind, u->offset);
    uint32_t node = key ? dh_intern_recall(&p->sets, key, set) : 0, l;
    if (node)
        return node - 1;
    node = dh_pts_node_add(p);
    struct dh_set members = *dh_intern_set(&p->sets, set);
    struct dh_set_iter it;
    dh_set_iter_init(&it, &members);
    while (!p->failed && dh_set_next(&it, &l)) {
        l = dh_pts_standing(p, l);
        if (p->objects.at[p->locations.at[l].object].function)
            continue;
        l = dh_pts_step(p, l, u->offset);
        if (u->kind == USE_LOAD)
            dh_pts_edge(p, dh_pts_reads(p, l), node);
        else
            dh_pts_edge(p, node, dh_pts_writes(p, l));
    }
    if (key && !p->failed)
        dh_intern_remember(&p->sets, key, set, node + 1);
    return node;
}

/* The object to which (from which) all locations of a set are copied. */
static uint32_t hub_object(struct dh_pts *p, const struct use *u, uint32_t set)
{
    uint64_t key = key_of(p, u->kind, u->length);
    uint32_t object = key ? dh_intern_recall(&p->sets, key, set) : 0, l;
    if (object)
        return object - 1;
    object = dh_pts_object_add(p, u->length, 0);
    struct dh_set members = *dh_intern_set(&p->sets, set);
    struct dh_set_iter it;
    dh_set_iter_init(&it, &members);
    while (!p->failed && dh_set_next(&it, &l)) {
        struct location at = p->locations.at[dh_pts_standing(p, l)];
        if (u->kind == USE_COPY_FROM)
            dh_pts_link(p, at.object, at.offset, object, 0, u->length);
        else
            dh_pts_link(p, object, 0, at.object, at.offset, u->length);
    }
    if (key && !p->failed)
        dh_intern_remember(&p->sets, key, set, object + 1);
    return object;
}

static void copy_by_hub(struct dh_pts *p, const struct use *u, uint32_t set)
{
    uint32_t object = hub_object(p, u, set);
    if (p->failed)
        return;
    /* Locations have small numbers; an object is told from them by the highest bit. */
    int r = dh_set_add(&p->watches.at[u->watch].seen, object | 1u << 31);
    if (r < 0)
        p->failed = r;
    else if (r > 0 && u->kind == USE_COPY_FROM)
        dh_pts_link(p, object, 0, u->other, 0, u->length);
    else if (r > 0)
        dh_pts_link(p, u->other, 0, object, 0, u->length);
}

void dh_pts_apply_all(struct dh_pts *p, uint32_t use, uint32_t set)
{
    struct use u = p->uses.at[use];
    bool large = dh_intern_count(&p->sets, set) >= HUB_FROM;
    if (u.kind == USE_OFFSET || u.kind == USE_ANY) {
        uint32_t to = moved(p, &u, set);
        p->uses.at[use].step = u.step;
        dh_pts_send(p, u.other, to);
    } else if (u.kind == USE_LOAD && large)
        dh_pts_edge(p, hub(p, &u, set), u.other);
    else if (u.kind == USE_STORE && large)
        dh_pts_edge(p, u.other, hub(p, &u, set));
    else if ((u.kind == USE_COPY_FROM || u.kind == USE_COPY_TO) && large)
        copy_by_hub(p, &u, set);
    else
        one_by_one(p, use, set);
}
