/*
 * race.c - the pairs: accesses to one object that overlap, one of them writing, in threads that may run at
 * the same time, without a lock in common.
 *
 * No work is done for each pair of accesses. Accesses that agree in all that matters form a class; classes
 * that touch the same memory with the same type form a group. Types are compared once for each pair, then
 * groups of types that may overlap (cover.c), then the contexts of classes whose groups meet (guard.c). Only
 * the remaining ones become pairs of sites, or products of sets of sites where there are too many (bundle.c).
 */
#include "ir/whole/race.h"

#include <stdlib.h>
#include <string.h>

#include "ir/whole/gather.h"
#include "ir/whole/owner.h"

/* So many pairs are named one by one; more become products (bundle.c). */
enum { MAX_NAMED = 400 * 1000 };

/* Every access of every instance: its op, and the pointer it goes through. */
static void each_access(struct dh_w_gather *g,
                        void (*visit)(struct dh_w_gather *, u32 inst, u32 op, u32 part, dh_pts_node))
{
    struct dh_w *w = g->r->w;
    for (u32 i = 0; i < w->n_insts; i++) {
        const struct dh_w_fn *fn = &w->fns[w->insts[i].fn];
        for (u32 o = 0; o < fn->n_ops; o++) {
            const struct dh_w_op *op = &fn->ops[o];
            for (u32 part = 0; part < 2; part++) {
                dh_pts_node node = dh_w_node(w, i, part ? op->b : op->a);
                if ((part ? op->access_b : op->access) != DH_W_NO_ACCESS && node != DH_PTS_NONE)
                    visit(g, i, o, part, node);
            }
        }
    }
}

static const struct dh_w_op *op_at(const struct dh_w *w, u32 inst, u32 op)
{
    return &w->fns[w->insts[inst].fn].ops[op];
}

static void note_access(struct dh_w_gather *g, u32 inst, u32 op, u32 part, dh_pts_node node)
{
    const struct dh_w_op *o = op_at(g->r->w, inst, op);
    dh_w_covers_note(&g->covers, node, part ? o->access_b : o->access, g->r->w->insts[inst].root);
}

static bool is_atomic(u8 access)
{
    return access == DH_PAIRS_ATOMIC_READ || access == DH_PAIRS_ATOMIC_WRITE ||
           access == DH_PAIRS_ATOMIC_UPDATE;
}

static void classify(struct dh_w_gather *g, u32 inst, u32 op, u32 part, dh_pts_node node)
{
    struct dh_w *w = g->r->w;
    const struct dh_w_op *o = op_at(w, inst, op);
    u32 root = w->insts[inst].root;
    dh_w_value pointer = part ? o->b : o->a;
    struct dh_w_class c;
    memset(&c, 0, sizeof c);
    c.access = part ? o->access_b : o->access;
    c.relaxed = is_atomic(c.access) && (o->flags & DH_W_RELAXED);
    struct dh_w_touch touch = {node, o->length, c.access};
    c.cover = dh_w_cover(&g->covers, &touch, root, false);
    c.own_cover = dh_w_cover(&g->covers, &touch, root, true);
    if (c.cover == 0 && c.own_cover == 0)
        return;
    c.guards = dh_w_guards(g->r, inst, op, pointer);
    if (g->r->guards.size[c.guards] == 0)
        return; /* never reached */
    c.type = o->type;
    c.member = part ? 0 : o->member;
    c.root = (u8)root;
    c.region = dh_w_region_guard(g->r, inst, op, pointer);
    c.own = dh_w_own(w, inst, pointer);
    c.element = dh_w_ticket(g->r, inst, op, pointer);
    if (c.element == 0)
        c.element = dh_w_element(g->r->teams, inst, op, pointer);
    c.marks = dh_w_marks(g->r, inst, op, pointer);
    if (dh_w_owner_strange(g->r, inst, op, pointer))
        c.marks |= DH_W_MARK_STRANGE;
    struct dh_w_use use = {dh_w_pool_add(&g->classes, &c, sizeof c), o->site + part};
    struct dh_w_key key = DH_W_KEY(use.class, use.site);
    if (dh_w_table_get(&g->used, key) != DH_W_TABLE_NONE)
        return;
    dh_w_table_put(&g->used, key, 0);
    g->uses = dh_util_grow(g->uses, g->n_uses, &g->cap_uses, sizeof *g->uses);
    g->uses[g->n_uses++] = use;
}

static const struct dh_w_class *class_at(const struct dh_w_gather *g, u32 n)
{
    return g->classes.item[n];
}

static int by_class(const void *a, const void *b)
{
    const struct dh_w_use *x = a, *y = b;
    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    return (x->site > y->site) - (x->site < y->site);
}

/* Of the kind of an access only this decides about conflicts: 2: it writes, 1: it is atomic, and orders. */
static u32 conduct(const struct dh_w_class *c)
{
    return (dh_pairs_access_writes(c->access) ? 2u : 0u) | (is_atomic(c->access) && !c->relaxed ? 1u : 0u);
}

static int by_group(const struct dh_w_class *x, const struct dh_w_class *y)
{
    const u32 a[] = {x->type, x->cover, x->own_cover, x->member, conduct(x)};
    const u32 b[] = {y->type, y->cover, y->own_cover, y->member, conduct(y)};
    for (size_t i = 0; i < DH_ARRAY_LEN(a); i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int by_group_and_number(const void *a, const void *b, void *arg)
{
    const u32 *x = a, *y = b;
    int order = by_group(class_at(arg, *x), class_at(arg, *y));
    return order != 0 ? order : (*x > *y) - (*x < *y);
}

static void *array(struct dh_w_gather *g, size_t n, size_t size)
{
    return dh_arena_array(&g->r->w->arena, n + 1, size);
}

/* Of a class, all that dh_w_gather_detail looks at beside the verdict. */
static u32 traits(const struct dh_w_class *c)
{
    return (u32)c->root << 3 | (c->marks & DH_W_MARK_SPINS ? 4u : 0u) |
           (c->access == DH_PAIRS_FREE ? 2u : 0u) | (is_atomic(c->access) ? 1u : 0u);
}

static struct dh_w_brief brief(struct dh_w_gather *g, u32 n)
{
    const struct dh_w_class *c = class_at(g, n);
    const u32 context[] = {c->guards, c->own, c->element, c->root, c->marks};
    struct dh_w_brief b = {.root = c->root, .marks = c->marks};
    b.context = dh_w_pool_add(&g->contexts, context, sizeof context);
    const u32 aspect[] = {b.context, traits(c)};
    b.aspect = dh_w_pool_add(&g->aspects, aspect, sizeof aspect);
    b.sites = g->sites_of[n + 1] - g->sites_of[n];
    return b;
}

/* Each class finds its sites and its context, each group its classes, each type its groups. */
static void arrange(struct dh_w_gather *g)
{
    u32 n = (u32)g->classes.n;
    if (g->n_uses > 0)
        qsort(g->uses, g->n_uses, sizeof *g->uses, by_class);
    g->sites_of = array(g, n + 1, sizeof *g->sites_of);
    for (size_t i = 0; i < g->n_uses; i++)
        g->sites_of[g->uses[i].class + 1] = (u32)i + 1;
    g->order = array(g, n, sizeof *g->order);
    g->brief = array(g, n, sizeof *g->brief);
    g->groups = array(g, n, sizeof *g->groups);
    g->type_groups = array(g, g->r->w->n_types + 1, sizeof *g->type_groups);
    for (u32 i = 0; i < n; i++)
        g->order[i] = i;
    qsort_r(g->order, n, sizeof *g->order, by_group_and_number, g);
    for (u32 i = 0; i < n; i++) {
        const struct dh_w_class *c = class_at(g, g->order[i]);
        if (i == 0 || by_group(class_at(g, g->order[i - 1]), c) != 0) {
            g->groups[g->n_groups++] =
                (struct dh_w_group){i, i, c->type, c->member, c->cover, c->own_cover, conduct(c)};
            for (u32 t = c->type + 1; t <= g->r->w->n_types; t++)
                g->type_groups[t] = g->n_groups;
        }
        g->groups[g->n_groups - 1].end = i + 1;
        g->brief[i] = brief(g, g->order[i]);
    }
}

/* ---- what is known of two classes ---- */

u32 dh_w_gather_judge(struct dh_w_gather *g, u32 i, u32 j)
{
    bool turned = g->brief[i].context > g->brief[j].context;
    u32 x = turned ? j : i, y = turned ? i : j, s = g->brief[x].context, t = g->brief[y].context;
    u32 n = dh_w_judged_get(&g->judged, s, t);
    if (n == DH_W_JUDGED_NONE) {
        g->compared[2]++;
        struct dh_w_verdict v = dh_w_judge(g->r, class_at(g, g->order[x]), class_at(g, g->order[y]));
        n = dh_w_pool_add(&g->verdicts, &v, sizeof v);
        dh_w_judged_put(&g->judged, s, t, n);
    }
    return n * 2 + turned;
}

struct dh_w_verdict dh_w_gather_verdict(const struct dh_w_gather *g, u32 judged, bool apart)
{
    const struct dh_w_verdict *known = g->verdicts.item[judged / 2];
    struct dh_w_verdict v = *known;
    if (judged % 2) {
        v.locks[0] = known->locks[1];
        v.locks[1] = known->locks[0];
    }
    for (int s = 0; s < DH_W_STYLES && apart; s++)
        v.unless[s] &= ~(u32)DH_PAIRS_IF_MEMBERS;
    return v;
}

struct dh_w_found dh_w_gather_detail(const struct dh_w_gather *g, u32 i, u32 j, const struct dh_w_verdict *v)
{
    const struct dh_w_class *a = class_at(g, g->order[i]), *b = class_at(g, g->order[j]);
    struct dh_w_found f;
    memset(&f, 0, sizeof f);
    f.flags = v->flags;
    f.reasons = v->reasons;
    memcpy(f.unless, v->unless, sizeof f.unless);
    if (is_atomic(a->access) != is_atomic(b->access))
        f.reasons |= DH_PAIRS_BY_ATOMIC;
    if (a->access == DH_PAIRS_FREE || b->access == DH_PAIRS_FREE)
        f.reasons |= DH_PAIRS_BY_FREE;
    if ((a->marks | b->marks) & DH_W_MARK_SPINS)
        f.flags |= DH_PAIRS_AD_HOC;
    f.roots[0] = 1ull << a->root;
    f.roots[1] = 1ull << b->root;
    memcpy(f.locks, v->locks, sizeof f.locks);
    return f;
}

static struct dh_w_found turned(const struct dh_w_found *f)
{
    struct dh_w_found t = *f;
    for (int i = 0; i < 2; i++) {
        t.locks[i] = f->locks[!i];
        t.roots[i] = f->roots[!i];
    }
    return t;
}

/* ---- pairs, one by one ---- */

static void add_pair(struct dh_w_gather *g, u32 sa, u32 sb, const struct dh_w_found *way)
{
    struct dh_w_races *r = g->r;
    if (sa > sb) {
        struct dh_w_found t = turned(way);
        add_pair(g, sb, sa, &t);
        return;
    }
    struct dh_w_key key = DH_W_KEY(sa, sb);
    u32 n = dh_w_table_get(&r->found_of, key);
    if (n == DH_W_TABLE_NONE) {
        n = (u32)r->n_found;
        r->found = dh_util_grow(r->found, r->n_found, &r->cap_found, sizeof *r->found);
        r->found[r->n_found] = *way;
        r->found[r->n_found].site[0] = sa;
        r->found[r->n_found++].site[1] = sb;
        dh_w_table_put(&r->found_of, key, n);
    }
    struct dh_w_found *f = &r->found[n];
    f->flags |= way->flags;
    f->reasons |= way->reasons;
    for (int i = 0; i < DH_W_STYLES; i++)
        f->unless[i] |= way->unless[i];
    for (int i = 0; i < 2; i++) {
        f->roots[i] |= way->roots[i];
        f->locks[i] = dh_w_set_meet(&r->flow->locks, f->locks[i], way->locks[i]);
    }
    dh_w_owner_found(r, way->object, n);
}

static void add_pairs(struct dh_w_gather *g, u32 a, u32 b, const struct dh_w_found *way)
{
    const struct dh_w_use *x = &g->uses[g->sites_of[a]], *x_end = &g->uses[g->sites_of[a + 1]];
    const struct dh_w_use *y_end = &g->uses[g->sites_of[b + 1]];
    for (; x < x_end; x++)
        for (const struct dh_w_use *y = a == b ? x : &g->uses[g->sites_of[b]]; y < y_end; y++)
            add_pair(g, x->site, y->site, way);
}

void dh_w_gather_not_owned(struct dh_w_verdict *v)
{
    for (int s = 0; s < DH_W_STYLES; s++)
        v->unless[s] |= DH_PAIRS_IF_OWNED;
}

/* Two classes that may race here. */
static void name_way(struct dh_w_gather *g, const struct dh_w_met *m, const struct dh_w_verdict *v,
                     u32 object, u32 offset)
{
    struct dh_w_found way = dh_w_gather_detail(g, m->a, m->b, v);
    way.object = object;
    way.offset = offset;
    add_pairs(g, g->order[m->a], g->order[m->b], &way);
}

/* They may race at all places where they meet in one object. */
static void note_places(struct dh_w_gather *g, const struct dh_w_met *m, const struct dh_w_postponed *way)
{
    struct dh_w_races *r = g->r;
    const struct dh_w_class *a = class_at(g, g->order[m->a]), *b = class_at(g, g->order[m->b]);
    struct dh_w_verdict v = dh_w_gather_verdict(g, m->verdict, m->apart);
    if (!dh_w_owner_handed(r, way->object))
        dh_w_gather_not_owned(&v);
    for (u32 i = 0; i < way->places; i++) {
        dh_w_owner_raced(r, &way->place[i], a, b, &v);
        dh_w_publish_raced(r, &way->place[i]);
    }
}

static void name_object(struct dh_w_gather *g, const struct dh_w_postponed *way)
{
    struct dh_pts *pts = g->r->w->pts;
    const struct dh_w_met *m = &g->met[way->met];
    struct dh_pts_place at = dh_pts_place(pts, m->at);
    struct dh_w_verdict v = dh_w_gather_verdict(g, m->verdict, m->apart);
    if (!dh_w_owner_handed(g->r, way->object))
        dh_w_gather_not_owned(&v);
    if (g->r->owner->any || at.object != way->object)
        at = dh_pts_place(pts, way->place[0].at[0]);
    name_way(g, m, &v, at.object, at.offset);
}

static void name_postponed(void *arg, const struct dh_w_postponed *way)
{
    struct dh_w_gather *g = arg;
    note_places(g, &g->met[way->met], way);
    name_object(g, way);
}

/* Where objects are handed over, each object that two classes meet in counts; else any in which they may race
 * is as good as another. */
static void name_pairs(struct dh_w_gather *g, u32 n)
{
    struct dh_w_races *r = g->r;
    const struct dh_w_met *m = &g->met[n];
    const struct dh_w_class *a = class_at(g, g->order[m->a]), *b = class_at(g, g->order[m->b]);
    bool itself = a->root == b->root;
    u32 preferred = dh_pts_place(r->w->pts, m->at).object;
    struct dh_w_postponed named = {.met = DH_W_NONE};
    size_t count;
    const struct dh_w_place *all = dh_w_covers_places(&g->covers, itself ? a->own_cover : a->cover,
                                                      itself ? b->own_cover : b->cover, &count);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && all[end].object == all[i].object;)
            end++;
        struct dh_w_postponed way = {n, all[i].object, (u32)(end - i), &all[i]};
        if (dh_w_region_excludes(r, way.object, a->region, b->region) || dh_w_publish_postpone(r, a, b, &way))
            continue;
        note_places(g, m, &way);
        if (r->owner->any)
            name_object(g, &way);
        else if (named.met == DH_W_NONE || way.object == preferred)
            named = way;
    }
    if (named.met != DH_W_NONE)
        name_object(g, &named);
}

/* ---- comparing ---- */

void dh_w_gather_meet(struct dh_w_gather *g, const struct dh_w_group *x)
{
    const u32 cover[] = {x->cover, x->own_cover};
    for (int i = 0; i < 2; i++) {
        if (g->at_cover[i] != cover[i])
            dh_w_covers_row(&g->covers, cover[i], g->at[i]);
        g->at_cover[i] = cover[i];
    }
}

/* Two groups; where the first meets others is known. */
static void compare_groups(struct dh_w_gather *g, const struct dh_w_group *x, const struct dh_w_group *y)
{
    if (!dh_w_conflict(x->conduct, y->conduct))
        return;
    g->compared[0]++;
    u32 at[2] = {g->at[0][y->cover], g->at[1][y->own_cover]}; /* of two roots, and of one with itself */
    if ((at[0] | at[1]) == 0)
        return;
    bool apart = dh_w_members_apart(g->r->w, x->member, y->member);
    for (u32 i = x->first; i < x->end; i++)
        for (u32 j = x == y ? i : y->first; j < y->end; j++) {
            const struct dh_w_brief *m = &g->brief[i], *n = &g->brief[j];
            bool itself = m->root == n->root;
            if (!at[itself] || (m->marks & n->marks & DH_W_MARK_FRESH))
                continue; /* nowhere; or each has its own */
            g->compared[1]++;
            u32 judged = dh_w_gather_judge(g, i, j);
            if (((const struct dh_w_verdict *)g->verdicts.item[judged / 2])->flags == 0)
                continue;
            g->pairs += (u64)m->sites * n->sites;
            g->met = dh_util_grow(g->met, g->n_met, &g->cap_met, sizeof *g->met);
            g->met[g->n_met++] = (struct dh_w_met){i, j, judged, at[itself] - 1, apart};
        }
}

/* Until it is clear that there are too many to be named. */
static void compare(struct dh_w_gather *g)
{
    const struct dh_w *w = g->r->w;
    for (u32 k = 0; k < g->n_groups && g->pairs <= MAX_NAMED; k++) {
        const struct dh_w_group *x = &g->groups[k];
        dh_w_gather_meet(g, x);
        for (u32 t = x->type; t < w->n_types; t++)
            for (u32 o = g->type_groups[t]; o < g->type_groups[t + 1] && dh_w_alias(w, x->type, t); o++)
                if (o >= k)
                    compare_groups(g, x, &g->groups[o]);
    }
}

/* Strict aliasing: what the compiler may assume, we may too. */
static void count_apart(struct dh_w_gather *g)
{
    const struct dh_w *w = g->r->w;
    for (u32 s = 0; s < w->n_types; s++)
        for (u32 t = s; t < w->n_types; t++)
            if (!dh_w_alias(w, s, t))
                g->r->apart += (u64)(g->type_groups[s + 1] - g->type_groups[s]) *
                               (g->type_groups[t + 1] - g->type_groups[t]);
}

static void count(const struct dh_w_gather *g)
{
    struct dh_w *w = g->r->w;
    dh_pairs_add_counter(w->pairs, "classes", g->classes.n);
    dh_pairs_add_counter(w->pairs, "class uses", g->n_uses);
    dh_pairs_add_counter(w->pairs, "groups of classes", g->n_groups);
    dh_pairs_add_counter(w->pairs, "compared groups", g->compared[0]);
    dh_pairs_add_counter(w->pairs, "compared classes", g->compared[1]);
    dh_pairs_add_counter(w->pairs, "compared contexts", g->compared[2]);
    dh_w_assume(w, DH_W_ASSUME_TYPES, g->r->apart, NULL);
}

void dh_w_races_find(struct dh_w_races *r)
{
    struct dh_w *w = r->w;
    struct dh_w_gather g = {.r = r};
    for (u32 i = 0; i < w->n_roots; i++)
        g.many[i] = r->flow->many[i][DH_W_SOUND];
    dh_w_covers_init(&g.covers, w, g.many);
    dh_w_pool_init(&g.classes, &w->arena);
    dh_w_pool_init(&g.contexts, &w->arena);
    dh_w_pool_init(&g.aspects, &w->arena);
    dh_w_pool_init(&g.verdicts, &w->arena);
    each_access(&g, note_access);
    each_access(&g, classify);
    arrange(&g);
    dh_w_covers_index(&g.covers);
    for (int i = 0; i < 2; i++)
        g.at[i] = array(&g, g.covers.covers.n, sizeof *g.at[i]);
    compare(&g);
    for (size_t i = 0; i < g.n_met && g.pairs <= MAX_NAMED; i++)
        name_pairs(&g, (u32)i);
    if (g.pairs <= MAX_NAMED)
        dh_w_publish_settle(r, name_postponed, &g);
    if (g.pairs > MAX_NAMED) {
        memset(g.compared, 0, sizeof g.compared);
        dh_w_bundle(r, dh_w_rows(&g));
    }
    count_apart(&g);
    count(&g);
    dh_w_pool_done(&g.classes);
    dh_w_pool_done(&g.contexts);
    dh_w_pool_done(&g.aspects);
    dh_w_pool_done(&g.verdicts);
    dh_w_table_done(&g.used);
    free(g.judged.at);
    dh_w_covers_done(&g.covers);
    free(g.uses);
    free(g.met);
}
