/*
 * query.c - queries after solving. Nothing here modifies anything, so results cached by a client stay valid.
 */
#include "ir/pts/solver.h"

#include <assert.h>
#include <string.h>

static_assert(sizeof(struct dh_set_iter) <= sizeof(struct dh_pts_iter),
              "the public iterator has too little room");

static const struct dh_set *set_of(const struct dh_pts *p, dh_pts_node node)
{
    return dh_intern_set(&p->sets, node == DH_PTS_NONE ? 0 : p->nodes.at[dh_pts_root_const(p, node)].all);
}

struct dh_pts_iter dh_pts_iter(const struct dh_pts *p, dh_pts_node node)
{
    struct dh_set_iter in;
    struct dh_pts_iter out = {0};
    memset(&in, 0, sizeof in);
    dh_set_iter_init(&in, set_of(p, node));
    memcpy(&out, &in, sizeof in);
    return out;
}

bool dh_pts_next(struct dh_pts_iter *it, dh_pts_location *ret_location)
{
    struct dh_set_iter in;
    memcpy(&in, it, sizeof in);
    bool more = dh_set_next(&in, ret_location);
    memcpy(it, &in, sizeof in);
    return more;
}

uint32_t dh_pts_count(const struct dh_pts *p, dh_pts_node node)
{
    return dh_set_count(set_of(p, node));
}

struct dh_pts_place dh_pts_place(const struct dh_pts *p, dh_pts_location l)
{
    const struct location *at = &p->locations.at[dh_pts_standing(p, l)];
    return (struct dh_pts_place){at->object, at->offset};
}

uint32_t dh_pts_canonical(const struct dh_pts *p, dh_pts_object o, uint32_t offset)
{
    return dh_pts_canon(&p->objects.at[o], offset);
}

dh_pts_location dh_pts_find(const struct dh_pts *p, dh_pts_object o, uint32_t offset)
{
    return dh_pts_lookup(p, o, dh_pts_canonical(p, o, offset));
}

dh_pts_node dh_pts_contents(const struct dh_pts *p, dh_pts_location l)
{
    uint32_t node = l == DH_PTS_NONE ? DH_PTS_NONE : p->locations.at[dh_pts_standing(p, l)].reads;
    return node == DH_PTS_NONE ? node : dh_pts_root_const(p, node);
}

uint32_t dh_pts_fields(const struct dh_pts *p, dh_pts_object o, const dh_pts_location **ret_list)
{
    *ret_list = p->field_list + p->field_start[o];
    return p->field_start[o + 1] - p->field_start[o];
}

uint32_t dh_pts_size(const struct dh_pts *p, dh_pts_object o)
{
    return p->objects.at[o].size;
}

bool dh_pts_collapsed(const struct dh_pts *p, dh_pts_object o)
{
    return p->objects.at[o].collapsed;
}

dh_pts_node dh_pts_representative(const struct dh_pts *p, dh_pts_node node)
{
    return node == DH_PTS_NONE ? node : dh_pts_root_const(p, node);
}

uint32_t dh_pts_set_number(const struct dh_pts *p, dh_pts_node node)
{
    return node == DH_PTS_NONE ? 0 : p->nodes.at[dh_pts_root_const(p, node)].all;
}

bool dh_pts_points_to(const struct dh_pts *p, dh_pts_node node, dh_pts_location l)
{
    return dh_set_has(set_of(p, node), dh_pts_standing(p, l));
}

/* Do [a, a + a_size) and [b, b + b_size) meet? Sizes may be "to the end". */
static bool intervals(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
    return a < b + b_size && b < a + a_size;
}

bool dh_pts_locations_overlap(const struct dh_pts *p, dh_pts_location a, uint32_t a_size, dh_pts_location b,
                              uint32_t b_size)
{
    const struct location *x = &p->locations.at[dh_pts_standing(p, a)];
    const struct location *y = &p->locations.at[dh_pts_standing(p, b)];
    if (x->object != y->object)
        return false;
    if (x == y || x->offset == DH_PTS_ANY || y->offset == DH_PTS_ANY)
        return true;
    const struct object *o = &p->objects.at[x->object];
    uint64_t x_size = a_size, y_size = b_size;
    for (uint32_t i = o->folds_n; i-- > 0;) {
        const struct fold *f = &o->folds[i];
        bool x_in = x->offset >= f->start && x->offset < f->end,
             y_in = y->offset >= f->start && y->offset < f->end;
        if (x_in && y_in) {
            /* Both stand for any element: their distance counts modulo the element. */
            uint32_t forth =
                (y->offset - f->start + f->stride - (x->offset - f->start) % f->stride) % f->stride;
            if (forth < x_size || (forth ? f->stride - forth : 0) < y_size)
                return true;
        } else if (x_in) {
            uint64_t rest = f->end - x->offset;
            x_size = x_size > rest ? x_size : rest;
        } else if (y_in) {
            uint64_t rest = f->end - y->offset;
            y_size = y_size > rest ? y_size : rest;
        }
    }
    return intervals(x->offset, x_size, y->offset, y_size);
}

/* The locations of an object are few, and a set holds few of one object: walk the smaller side. */
bool dh_pts_may_overlap(const struct dh_pts *p, dh_pts_node a, uint32_t a_size, dh_pts_node b,
                        uint32_t b_size, dh_pts_object *ret_object)
{
    const struct dh_set *x = set_of(p, a), *y = set_of(p, b);
    if (dh_set_count(x) > dh_set_count(y)) {
        const struct dh_set *t = x;
        uint32_t size = a_size;
        x = y;
        y = t;
        a_size = b_size;
        b_size = size;
    }
    struct dh_set_iter it;
    uint32_t l;
    dh_set_iter_init(&it, x);
    while (dh_set_next(&it, &l)) {
        uint32_t object = p->locations.at[l].object;
        const dh_pts_location *fields;
        uint32_t n = dh_pts_fields(p, object, &fields);
        for (uint32_t i = 0; i < n; i++)
            if (dh_set_has(y, fields[i]) && dh_pts_locations_overlap(p, l, a_size, fields[i], b_size)) {
                if (ret_object)
                    *ret_object = object;
                return true;
            }
    }
    return false;
}

bool dh_pts_may_alias(const struct dh_pts *p, dh_pts_node a, dh_pts_node b)
{
    const struct dh_set *x = set_of(p, a), *y = set_of(p, b);
    return dh_set_meet(x, y) || dh_pts_may_overlap(p, a, 1, b, 1, NULL);
}

void dh_pts_statistics(const struct dh_pts *p, struct dh_pts_stats *ret_stats)
{
    struct dh_pts_stats s = p->stats;
    s.nodes = p->nodes.n;
    s.objects = p->objects.n;
    s.locations = p->locations.n;
    s.set_bytes = p->sets.bytes + (uint64_t)p->sets.n * sizeof *p->sets.at;
    for (uint32_t i = 0; i < p->nodes.n; i++) {
        const struct node *n = &p->nodes.at[i];
        s.set_bytes += dh_set_bytes(&n->next) + sizeof *n;
        if (n->parent != i)
            continue;
        uint32_t members = dh_intern_count(&p->sets, n->all);
        s.set_members += members;
        if (members > s.set_largest)
            s.set_largest = members;
        s.edges += dh_set_count(&n->next);
        for (uint32_t u = n->uses; u != DH_PTS_NONE; u = p->uses.at[u].next)
            s.edges += p->uses.at[u].kind == USE_OFFSET || p->uses.at[u].kind == USE_ANY;
    }
    *ret_stats = s;
}
