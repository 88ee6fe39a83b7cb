/*
 * link.c - copies between objects (memcpy), and how the locations of one object are connected.
 *
 * A memcpy goes through an intermediate object: everything its source may point to is linked to that object,
 * and that one to everything its destination may point to. So n sources and m destinations make n + m links,
 * not n * m, and an offset in the middle object is the distance from the start of the copy.
 *
 * Fields can be created at any time. So a link stays with its source object, and a location is connected when
 * it gets its nodes ("hatches"). Folds travel along links as well: a field of a folded array stands for all
 * elements, and would otherwise be copied to the first one only.
 */
#include "ir/pts/solver.h"

/* The smallest offset, not below `low`, that `offset` stands for; DH_PTS_ANY: none. */
static uint32_t first_from(const struct object *o, uint32_t offset, uint32_t low)
{
    if (offset >= low)
        return offset;
    for (uint32_t i = o->folds_n; i-- > 0;) {
        const struct fold *g = &o->folds[i];
        if (offset < g->start || offset >= g->end)
            continue;
        uint64_t x = offset + ((uint64_t)(low - offset) + g->stride - 1) / g->stride * g->stride;
        if (x < g->end)
            return (uint32_t)x;
    }
    return DH_PTS_ANY;
}

/* The location of a link's target for a distance from the start of the copy; DH_PTS_NONE: outside. */
static uint32_t target(struct dh_pts *p, uint32_t to, uint32_t to_offset, uint32_t distance)
{
    const struct object *o = &p->objects.at[to];
    uint64_t x = (uint64_t)to_offset + distance;
    if (to_offset == DH_PTS_ANY || o->collapsed)
        return dh_pts_location_at(p, to, DH_PTS_ANY);
    if (x >= o->size || x >= DH_PTS_ANY)
        return DH_PTS_NONE;
    return dh_pts_location_at(p, to, dh_pts_canon(o, (uint32_t)x));
}

/*
 * Copy what may be anywhere in the source: to anywhere in the target; or, if it is known where the copy
 * begins and ends there, to each word of it, and not to what lies around it.
 */
static void copy_anywhere(struct dh_pts *p, const struct link *k, uint32_t from)
{
    enum { WORD = 8, MAX_WORDS = 64 };
    bool known = k->to_offset != DH_PTS_ANY && k->to_offset % WORD == 0 && k->length <= WORD * MAX_WORDS &&
                 !p->objects.at[k->to].collapsed;
    if (!known) {
        dh_pts_edge(p, from, dh_pts_writes(p, dh_pts_location_at(p, k->to, DH_PTS_ANY)));
        return;
    }
    for (uint32_t x = 0; x < k->length; x += WORD) {
        uint32_t to = target(p, k->to, k->to_offset, x);
        if (to != DH_PTS_NONE)
            dh_pts_edge(p, from, dh_pts_writes(p, to));
    }
}

/* Copy what is at one location of the source. */
static void copy_field(struct dh_pts *p, const struct link *k, uint32_t location)
{
    struct location l = p->locations.at[location];
    uint32_t to;
    if (l.offset == DH_PTS_ANY || k->from_offset == DH_PTS_ANY) {
        /* What was stored anywhere in the source; or, from anywhere in it, what any load reads. */
        copy_anywhere(p, k, k->from_offset == DH_PTS_ANY ? l.reads : l.writes);
        return;
    }
    uint32_t x = first_from(&p->objects.at[l.object], l.offset, k->from_offset);
    if (x >= p->objects.at[l.object].size || (k->length != DH_PTS_ANY && x - k->from_offset >= k->length))
        return;
    to = target(p, k->to, k->to_offset, x - k->from_offset);
    if (to != DH_PTS_NONE)
        dh_pts_edge(p, l.reads, dh_pts_writes(p, to));
}

static void copy_folds(struct dh_pts *p, uint32_t from, const struct link *k)
{
    if (k->from_offset == DH_PTS_ANY || k->to_offset == DH_PTS_ANY)
        return;
    uint64_t stop = k->length == DH_PTS_ANY ? UINT32_MAX : (uint64_t)k->from_offset + k->length;
    for (uint32_t i = 0; i < p->objects.at[from].folds_n; i++) {
        struct fold f = p->objects.at[from].folds[i];
        uint64_t start = f.start > k->from_offset ? f.start : k->from_offset;
        uint64_t end = f.end < stop ? f.end : stop;
        if (end <= start)
            continue;
        start = start - k->from_offset + k->to_offset;
        end = end == UINT32_MAX ? end : end - k->from_offset + k->to_offset;
        if (start < UINT32_MAX)
            dh_pts_fold_copied(p, k->to, (uint32_t)start, end > UINT32_MAX ? UINT32_MAX : (uint32_t)end,
                               f.stride);
    }
}

/* A copy of unknown length ends with the part of the object it began in. */
static uint32_t reach(struct dh_pts *p, uint32_t object, uint32_t offset, uint32_t length)
{
    if (length != DH_PTS_ANY || !p->options.reach)
        return length;
    return p->options.reach(p->options.client, object, offset);
}

void dh_pts_link(struct dh_pts *p, uint32_t from, uint32_t from_offset, uint32_t to, uint32_t to_offset,
                 uint32_t length)
{
    length = reach(p, from, from_offset, length);
    length = reach(p, to, to_offset, length);
    if (!length || p->failed || p->objects.at[from].function || p->objects.at[to].function)
        return;
    struct link *made = PUSH(p, p->links);
    if (!made)
        return;
    struct link k = {p->objects.at[from].links, from_offset, to, to_offset, length};
    *made = k;
    p->objects.at[from].links = p->links.n - 1;
    copy_folds(p, from, &k);
    for (uint32_t l = p->objects.at[from].first; l != DH_PTS_NONE; l = p->locations.at[l].next)
        if (p->locations.at[l].forward == l && p->locations.at[l].reads != DH_PTS_NONE)
            copy_field(p, &k, l);
}

/* Any field of the object and "anywhere in it" see each other; see solver.h. */
static void connect(struct dh_pts *p, uint32_t location)
{
    struct location l = p->locations.at[location];
    uint32_t any = p->objects.at[l.object].any;
    if (l.forward != location)
        return;
    if (any != DH_PTS_NONE && any != location && p->locations.at[any].reads != DH_PTS_NONE) {
        dh_pts_edge(p, l.reads, p->locations.at[any].reads);
        dh_pts_edge(p, p->locations.at[any].writes, l.writes);
    } else if (any == location) {
        dh_pts_edge(p, l.writes, l.reads);
        for (uint32_t f = p->objects.at[l.object].first; f != DH_PTS_NONE; f = p->locations.at[f].next) {
            if (f == location || p->locations.at[f].reads == DH_PTS_NONE)
                continue;
            dh_pts_edge(p, p->locations.at[f].reads, l.reads);
            dh_pts_edge(p, l.writes, p->locations.at[f].writes);
        }
    }
    for (uint32_t k = p->objects.at[l.object].links; k != DH_PTS_NONE; k = p->links.at[k].next) {
        struct link copy = p->links.at[k];
        copy_field(p, &copy, location);
    }
}

void dh_pts_settle(struct dh_pts *p)
{
    while (!p->failed && (p->hatched.n || p->refolded.n)) {
        if (p->refolded.n) {
            uint32_t object = p->refolded.at[--p->refolded.n];
            for (uint32_t k = p->objects.at[object].links; k != DH_PTS_NONE; k = p->links.at[k].next) {
                struct link copy = p->links.at[k];
                copy_folds(p, object, &copy);
            }
            continue;
        }
        connect(p, p->hatched.at[--p->hatched.n]);
    }
}
