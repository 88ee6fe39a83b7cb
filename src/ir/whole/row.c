/*
 * row.c - the rows of classes (bundle.h), one after the other.
 *
 * Each class is compared with all others, from its own side, and the result is stored once for all classes
 * that share it. So the work is done twice for each pair of classes, but nothing is stored for each pair: a
 * large program has a hundred million of them.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/whole/gather.h"

/* A group that has something in common with the one at hand. */
struct hit {
    u32 group;
    u32 at[2]; /* 1 + location, as in dh_w_gather.at */
    bool apart;
};

struct rows {
    struct dh_w_gather *g;
    struct dh_w_bundles *b;
    struct hit *hits;
    size_t n_hits;
    struct dh_w_judged related; /* by two aspects, and whether members are apart: a relation */
    u32 *relation;              /* those of the aspect at hand, 1 + number; 0: not known yet */
    struct dh_w_judged detail_of;
    struct entry {
        u32 detail, class;
    } *entries;
    size_t n_entries;
    /* By detail: how many entries of this row have it, and where they go. */
    u32 *count;
    size_t cap_count;
    u32 *order; /* the details of this row as they came */
    size_t n_order, cap_order;
    u32 *words;
};

static void *room(size_t n, size_t size)
{
    void *all = calloc(n + 1, size);
    if (all == NULL)
        dh_util_no_memory();
    return all;
}

/* ---- one class and all others ---- */

static void find_hits(struct rows *s, u32 of)
{
    struct dh_w_gather *g = s->g;
    struct dh_w *w = g->r->w;
    const struct dh_w_group *x = &g->groups[of];
    s->n_hits = 0;
    dh_w_gather_meet(g, x);
    for (u32 t = 0; t < w->n_types; t++) {
        if (g->type_groups[t] == g->type_groups[t + 1] || !dh_w_alias(w, x->type, t))
            continue;
        for (u32 k = g->type_groups[t]; k < g->type_groups[t + 1]; k++) {
            const struct dh_w_group *y = &g->groups[k];
            if (!dh_w_conflict(x->conduct, y->conduct))
                continue;
            g->compared[0] += k >= of;
            struct hit h = {k, {g->at[0][y->cover], g->at[1][y->own_cover]}, false};
            if ((h.at[0] | h.at[1]) == 0)
                continue;
            h.apart = dh_w_members_apart(w, x->member, y->member);
            s->hits[s->n_hits++] = h;
        }
    }
}

/* The number of what is said of two classes, but for the place; 0: they do not race. */
static u32 relate(struct rows *s, u32 i, u32 j, bool apart)
{
    struct dh_w_gather *g = s->g;
    const struct dh_w_brief *m = &g->brief[i], *n = &g->brief[j];
    u32 number = dh_w_judged_get(&s->related, m->aspect, n->aspect * 2 + apart);
    if (number != DH_W_JUDGED_NONE)
        return number;
    number = 0;
    if (!(m->marks & n->marks & DH_W_MARK_FRESH)) { /* else each has its own */
        struct dh_w_verdict v = dh_w_gather_verdict(g, dh_w_gather_judge(g, i, j), apart);
        dh_w_gather_not_owned(&v);
        struct dh_w_found f = dh_w_gather_detail(g, i, j, &v);
        if (v.flags != 0)
            number = dh_w_pool_add(&s->b->relations, &f, sizeof f);
    }
    dh_w_judged_put(&s->related, m->aspect, n->aspect * 2 + apart, number);
    return number;
}

static u32 detail_number(struct rows *s, u32 relation, dh_pts_location at)
{
    struct dh_w_bundles *b = s->b;
    u32 number = dh_w_judged_get(&s->detail_of, relation, at);
    if (number != DH_W_JUDGED_NONE)
        return number;
    number = (u32)b->n_details;
    b->details = dh_util_grow(b->details, b->n_details, &b->details_cap, sizeof *b->details);
    b->details[b->n_details++] = (struct dh_w_detail){relation, at};
    size_t before = s->cap_count;
    s->count = dh_util_grow(s->count, number, &s->cap_count, sizeof *s->count);
    if (s->cap_count != before)
        memset(s->count + before, 0, (s->cap_count - before) * sizeof *s->count);
    dh_w_judged_put(&s->detail_of, relation, at, number);
    return number;
}

static void add_entry(struct rows *s, u32 detail, u32 class)
{
    if (s->count[detail]++ == 0) {
        s->order = dh_util_grow(s->order, s->n_order, &s->cap_order, sizeof *s->order);
        s->order[s->n_order++] = detail;
    }
    s->entries[s->n_entries++] = (struct entry){detail, class};
}

static void find_entries(struct rows *s, u32 i, u32 of)
{
    struct dh_w_gather *g = s->g;
    u8 root = g->brief[i].root;
    u32 relation = 0, at = 0, detail = 0;
    s->n_entries = s->n_order = 0;
    memset(s->relation, 0, 2 * g->aspects.n * sizeof *s->relation);
    for (const struct hit *h = s->hits; h < s->hits + s->n_hits; h++)
        for (u32 j = g->groups[h->group].first; j < g->groups[h->group].end; j++) {
            const struct dh_w_brief *n = &g->brief[j];
            u32 here = h->at[n->root == root];
            if (here == 0)
                continue;
            g->compared[1] += j >= i && h->group >= of;
            u32 *known = &s->relation[n->aspect * 2 + h->apart];
            if (*known == 0)
                *known = relate(s, i, j, h->apart) + 1;
            if (*known == 1)
                continue;
            if (*known != relation || here != at)
                detail = detail_number(s, *known - 1, here - 1);
            relation = *known;
            at = here;
            add_entry(s, detail, j);
        }
}

/* ---- equal rows ---- */

/* The entries by detail, as words of a row. */
static u32 arrange_entries(struct rows *s)
{
    u32 n = 0;
    for (size_t k = 0; k < s->n_order; k++) {
        u32 detail = s->order[k], count = s->count[detail];
        s->words[n] = detail;
        s->words[n + 1] = count;
        s->count[detail] = n + 2; /* where its classes go */
        n += count + 2;
    }
    for (size_t k = 0; k < s->n_entries; k++)
        s->words[s->count[s->entries[k].detail]++] = s->entries[k].class;
    for (size_t k = 0; k < s->n_order; k++)
        s->count[s->order[k]] = 0;
    return n;
}

/* The bundle with this row, new if there is none. */
static u32 bundle_of_row(struct rows *s, u32 n)
{
    struct dh_w_bundles *b = s->b;
    u32 bundle = dh_w_words_add(&b->rows, s->words, n);
    if (bundle < b->n)
        return bundle;
    b->row_details = dh_util_grow(b->row_details, b->n, &b->cap_details, sizeof *b->row_details);
    b->first = dh_util_grow(b->first, b->n, &b->cap_first, sizeof *b->first);
    b->row_details[bundle] = (u32)s->n_order;
    b->first[bundle] = DH_W_NONE;
    b->n++;
    return bundle;
}

static void list_sites(struct rows *s)
{
    struct dh_w_gather *g = s->g;
    struct dh_w_bundles *b = s->b;
    u32 n = 0;
    b->first_site = room(b->n_classes + 1, sizeof *b->first_site);
    b->site = room(g->n_uses, sizeof *b->site);
    for (u32 i = 0; i < b->n_classes; i++) {
        b->first_site[i] = n;
        for (u32 k = g->sites_of[g->order[i]]; k < g->sites_of[g->order[i] + 1]; k++)
            b->site[n++] = g->uses[k].site;
    }
    b->first_site[b->n_classes] = n;
}

/* The bundle of each class of a group. */
static void bundle_group(struct rows *s, u32 of, u32 *last)
{
    struct dh_w_gather *g = s->g;
    struct dh_w_bundles *b = s->b;
    find_hits(s, of);
    for (u32 i = g->groups[of].first; i < g->groups[of].end && s->n_hits > 0; i++) {
        /* One of the same aspect has the same row. */
        u32 like = g->groups[of].first;
        while (like < i && g->brief[like].aspect != g->brief[i].aspect)
            like++;
        if (like < i)
            b->of[i] = b->of[like];
        else {
            find_entries(s, i, of);
            b->of[i] = s->n_entries == 0 ? DH_W_NONE : bundle_of_row(s, arrange_entries(s));
        }
        if (b->of[i] == DH_W_NONE)
            continue;
        if (b->first[b->of[i]] == DH_W_NONE)
            b->first[b->of[i]] = i;
        else
            b->next[last[b->of[i]]] = i;
        last[b->of[i]] = i;
    }
}

/* Groups with the same covers one after the other: what these meet is looked up once. */
static int by_covers(const void *a, const void *b, void *arg)
{
    const u32 *m = a, *n = b;
    const struct dh_w_gather *g = arg;
    const struct dh_w_group *x = &g->groups[*m], *y = &g->groups[*n];
    if (x->own_cover != y->own_cover)
        return x->own_cover < y->own_cover ? -1 : 1;
    if (x->cover != y->cover)
        return x->cover < y->cover ? -1 : 1;
    return (*m > *n) - (*m < *n);
}

struct dh_w_bundles *dh_w_rows(struct dh_w_gather *g)
{
    struct dh_w_bundles *b = room(1, sizeof *b);
    struct rows s = {.g = g, .b = b};
    struct dh_w_found none;
    b->n_classes = (u32)g->classes.n;
    b->of = room(b->n_classes, sizeof *b->of);
    b->next = room(b->n_classes, sizeof *b->next);
    memset(b->of, 0xff, b->n_classes * sizeof *b->of);
    memset(b->next, 0xff, b->n_classes * sizeof *b->next);
    dh_w_pool_init(&b->relations, &g->r->w->arena);
    b->rows.arena = &g->r->w->arena;
    memset(&none, 0, sizeof none);
    dh_w_pool_add(&b->relations, &none, sizeof none);
    u32 *last = room(b->n_classes, sizeof *last);
    s.hits = room(g->n_groups, sizeof *s.hits);
    s.relation = room(2 * g->aspects.n, sizeof *s.relation);
    s.entries = room(b->n_classes, sizeof *s.entries);
    s.words = room(3ul * b->n_classes, sizeof *s.words);
    u32 *order = room(g->n_groups, sizeof *order);
    for (u32 k = 0; k < g->n_groups; k++)
        order[k] = k;
    qsort_r(order, g->n_groups, sizeof *order, by_covers, g);
    for (u32 k = 0; k < g->n_groups; k++)
        bundle_group(&s, order[k], last);
    free(order);
    list_sites(&s);
    free(last);
    free(s.hits);
    free(s.relation);
    free(s.entries);
    free(s.words);
    free(s.order);
    free(s.count);
    free(s.related.at);
    free(s.detail_of.at);
    return b;
}

void dh_w_bundles_free(struct dh_w_bundles *b)
{
    if (b == NULL)
        return;
    dh_w_pool_done(&b->relations);
    free(b->of);
    free(b->next);
    free(b->first);
    dh_w_words_done(&b->rows);
    free(b->row_details);
    free(b->details);
    free(b->first_site);
    free(b->site);
    free(b);
}
