/*
 * order.c - the order of the next sweep, and the cycles found in the process.
 *
 * Wave propagation (Pereira and Berlin, "Wave propagation and deep propagation for pointer analysis", CGO
 * 2009): before each sweep the part of the graph that changes can reach is sorted topologically, so that a
 * set is sent along an edge only when it is complete for this sweep. Strongly connected components are found
 * in the same walk. Their nodes have equal sets if copies alone connect them, and are merged. If offsets take
 * part as well, the parts connected by copies are merged, and the offsets become strided by the greatest
 * common divisor of what the cycles add: going round often enough reaches all multiples of it (fold.c).
 */
#include "ir/pts/solver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct frame {
    uint32_t node;
    uint32_t use; /* next use to look at */
    struct dh_set_iter edges;
};

/* One walk. Arrays have an element a node. */
struct walk {
    uint32_t *number; /* order of discovery; 0: not seen */
    uint32_t *low;
    uint32_t *part; /* component; NONE while it is not complete */
    VECTOR(uint32_t) stack;
    VECTOR(struct frame) path;
    VECTOR(uint32_t) out;    /* nodes, component after component, sinks first */
    VECTOR(uint32_t) starts; /* of the components in out */
    uint32_t count;
    const uint32_t *within; /* stay in these components of another walk, and follow copies only; or NULL */
};

static bool walk_init(struct dh_pts *p, struct walk *w)
{
    size_t n = p->nodes.n;
    memset(w, 0, sizeof *w);
    w->number = calloc(n, sizeof *w->number);
    w->low = malloc(n * sizeof *w->low);
    w->part = malloc(n * sizeof *w->part);
    if (w->number && w->low && w->part)
        memset(w->part, 0xff, n * sizeof *w->part);
    else
        p->failed = -ENOMEM;
    return !p->failed;
}

static void walk_done(struct walk *w)
{
    free(w->number);
    free(w->low);
    free(w->part);
    free(w->stack.at);
    free(w->path.at);
    free(w->out.at);
    free(w->starts.at);
}

static void enter(struct dh_pts *p, struct walk *w, uint32_t node)
{
    struct frame *f = PUSH(p, w->path);
    uint32_t *s = PUSH(p, w->stack);
    if (!f || !s)
        return;
    *s = f->node = node;
    f->use = w->within ? DH_PTS_NONE : p->nodes.at[node].uses;
    dh_set_iter_init(&f->edges, &p->nodes.at[node].next);
    w->number[node] = w->low[node] = ++w->count;
}

/* The next node an edge leads to; DH_PTS_NONE: no more. */
static uint32_t successor(struct dh_pts *p, struct frame *f)
{
    uint32_t to;
    if (dh_set_next(&f->edges, &to))
        return dh_pts_root(p, to);
    while (f->use != DH_PTS_NONE) {
        const struct use *u = &p->uses.at[f->use];
        f->use = u->next;
        if (u->kind == USE_OFFSET || u->kind == USE_ANY)
            return dh_pts_root(p, u->other);
    }
    return DH_PTS_NONE;
}

static void leave(struct dh_pts *p, struct walk *w, uint32_t node)
{
    if (w->low[node] == w->number[node]) {
        uint32_t *start = PUSH(p, w->starts);
        if (!start)
            return;
        *start = w->out.n;
        for (uint32_t member = DH_PTS_NONE; member != node;) {
            uint32_t *o = PUSH(p, w->out);
            if (!o)
                return;
            *o = member = w->stack.at[--w->stack.n];
            w->part[member] = w->starts.n - 1;
        }
    }
    w->path.n--;
    if (w->path.n) {
        uint32_t up = w->path.at[w->path.n - 1].node;
        if (w->low[node] < w->low[up])
            w->low[up] = w->low[node];
    }
}

static void walk_from(struct dh_pts *p, struct walk *w, uint32_t root)
{
    if (w->number[root])
        return;
    enter(p, w, root);
    while (w->path.n && !p->failed) {
        struct frame *f = &w->path.at[w->path.n - 1];
        uint32_t node = f->node, to = successor(p, f);
        if (to == DH_PTS_NONE)
            leave(p, w, node);
        else if (w->within && w->within[to] != w->within[node])
            continue;
        else if (!w->number[to])
            enter(p, w, to);
        else if (w->part[to] == DH_PTS_NONE && w->number[to] < w->low[node])
            w->low[node] = w->number[to];
    }
}

static uint32_t component_end(const struct walk *w, uint32_t i)
{
    return i + 1 < w->starts.n ? w->starts.at[i + 1] : w->out.n;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}

static uint64_t size_of(int64_t x)
{
    return x < 0 ? -(uint64_t)x : (uint64_t)x;
}

/*
 * What the cycles of a component add: give each node a distance from the first one; whatever an edge adds
 * beyond the difference of the distances of its ends is the weight of a cycle, and these generate all others.
 */
static uint64_t cycle_weight(struct dh_pts *p, const struct walk *w, uint32_t part, int64_t *distance,
                             uint32_t *stack)
{
    uint32_t first = dh_pts_root(p, w->out.at[w->starts.at[part]]);
    uint32_t n = 0;
    uint64_t weight = 0;
    for (uint32_t i = w->starts.at[part]; i < component_end(w, part); i++)
        distance[w->out.at[i]] = INT64_MIN;
    distance[first] = 0;
    stack[n++] = first;
    while (n) {
        uint32_t from = stack[--n];
        struct dh_set_iter it;
        uint32_t to, u = p->nodes.at[from].uses;
        dh_set_iter_init(&it, &p->nodes.at[from].next);
        for (;;) {
            int64_t step = 0;
            if (!dh_set_next(&it, &to)) {
                while (u != DH_PTS_NONE && p->uses.at[u].kind != USE_OFFSET)
                    u = p->uses.at[u].next;
                if (u == DH_PTS_NONE)
                    break;
                to = p->uses.at[u].other;
                step = p->uses.at[u].offset;
                if (w->part[dh_pts_root(p, to)] == part)
                    weight = gcd(weight, p->uses.at[u].stride);
                u = p->uses.at[u].next;
            }
            to = dh_pts_root(p, to);
            if (w->part[to] != part)
                continue;
            if (distance[to] == INT64_MIN) {
                distance[to] = distance[from] + step;
                stack[n++] = to;
            } else
                weight = gcd(weight, size_of(distance[from] + step - distance[to]));
        }
    }
    return weight;
}

/* Make the offsets inside a component strided. */
static void stride_cycle(struct dh_pts *p, const struct walk *w, uint32_t part, uint64_t weight)
{
    bool changed = false;
    for (uint32_t i = w->starts.at[part]; i < component_end(w, part) && !p->failed; i++) {
        uint32_t node = w->out.at[i];
        for (uint32_t u = p->nodes.at[node].uses; u != DH_PTS_NONE; u = p->uses.at[u].next) {
            struct use *use = &p->uses.at[u];
            if (use->kind != USE_OFFSET || w->part[dh_pts_root(p, use->other)] != part)
                continue;
            uint32_t *step = use->stride ? &use->stride : &use->weight;
            uint32_t before = *step;
            *step = (uint32_t)gcd(before, weight);
            use->step = 0;
            if (*step == before && use->length == 0)
                continue;
            use->length = 0;
            changed = true;
            const uint32_t *list;
            uint32_t n = dh_pts_snapshot(p, dh_intern_set(&p->sets, p->nodes.at[node].all), &list);
            for (uint32_t k = 0; k < n; k++)
                dh_pts_apply(p, u, list[k]);
        }
    }
    if (changed)
        p->stats.strided_cycles++;
}

/* Merge what copies connect in the components of more than one node. */
static void merge_copies(struct dh_pts *p, const struct walk *w)
{
    struct walk copies;
    if (walk_init(p, &copies)) {
        copies.within = w->part;
        for (uint32_t c = 0; c < w->starts.n && !p->failed; c++)
            if (component_end(w, c) - w->starts.at[c] > 1)
                for (uint32_t i = w->starts.at[c]; i < component_end(w, c) && !p->failed; i++)
                    walk_from(p, &copies, w->out.at[i]);
        for (uint32_t c = 0; c < copies.starts.n && !p->failed; c++)
            for (uint32_t i = copies.starts.at[c] + 1; i < component_end(&copies, c); i++)
                dh_pts_merge(p, copies.out.at[copies.starts.at[c]], copies.out.at[i]);
    }
    walk_done(&copies);
}

static bool has_inner_offset(struct dh_pts *p, const struct walk *w, uint32_t part)
{
    for (uint32_t i = w->starts.at[part]; i < component_end(w, part); i++)
        for (uint32_t u = p->nodes.at[w->out.at[i]].uses; u != DH_PTS_NONE; u = p->uses.at[u].next)
            if (p->uses.at[u].kind == USE_OFFSET && w->part[dh_pts_root(p, p->uses.at[u].other)] == part)
                return true;
    return false;
}

static void handle_cycles(struct dh_pts *p, const struct walk *w)
{
    uint32_t larger = 0;
    for (uint32_t c = 0; c < w->starts.n; c++)
        larger += component_end(w, c) - w->starts.at[c] > 1;
    if (larger && !p->options.no_cycles)
        merge_copies(p, w);
    int64_t *distance = NULL;
    uint32_t *stack = NULL;
    uint32_t crowd = p->crowd == DH_PTS_NONE ? DH_PTS_NONE : w->part[p->crowd];
    for (uint32_t c = 0; c < w->starts.n && !p->failed; c++) {
        /* What is in a cycle with the crowd joins it. */
        if (c == crowd || !has_inner_offset(p, w, c))
            continue;
        if (!distance) {
            distance = malloc(p->nodes.n * sizeof *distance);
            stack = malloc(p->nodes.n * sizeof *stack);
            if (!distance || !stack) {
                p->failed = -ENOMEM;
                break;
            }
        }
        uint64_t weight = cycle_weight(p, w, c, distance, stack);
        if (weight)
            stride_cycle(p, w, c, weight > UINT32_MAX ? UINT32_MAX : weight);
    }
    free(distance);
    free(stack);
    if (crowd != DH_PTS_NONE && !p->failed)
        dh_pts_join_crowd(p, NULL, 0);
}

void dh_pts_order(struct dh_pts *p)
{
    struct walk w;
    p->sequence.n = 0;
    if (walk_init(p, &w)) {
        for (uint32_t i = 0; i < p->dirty.n && !p->failed; i++)
            walk_from(p, &w, dh_pts_root(p, p->dirty.at[i]));
        if (!p->failed)
            handle_cycles(p, &w);
        for (uint32_t i = w.out.n; i-- > 0 && !p->failed;) {
            uint32_t *s = dh_pts_root(p, w.out.at[i]) == w.out.at[i] ? PUSH(p, p->sequence) : NULL;
            if (s)
                *s = w.out.at[i];
        }
    }
    walk_done(&w);
}
