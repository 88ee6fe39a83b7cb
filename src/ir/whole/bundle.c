/*
 * bundle.c - see bundle.h.
 *
 * A bundle and what it meets for one reason are the two sides of a product. Each pair of bundles is emitted
 * from one side only. A pointer that points nearly anywhere meets each small bundle at a different place,
 * while each of those meets all such pointers at one place: so the bundle with fewer reasons emits the pair.
 * And what it meets of those with many reasons is emitted separately from the rest, since it is the same for
 * many bundles, and equal lists are stored once.
 */
#include "ir/whole/bundle.h"

#include <stdlib.h>
#include <string.h>

/* The sites of a list of classes. */
struct list {
    const u32 *sites;
    u32 n_sites;
};

struct bundler {
    struct dh_w_races *r;
    struct dh_w_bundles *b;
    struct dh_w_words classes; /* of each list */
    struct list *lists;
    size_t n_lists, cap_lists;
    u64 *seen; /* by site, while sites are collected */
    u32 *some; /* classes of a list in the making */
};

static void *room(size_t n, size_t size)
{
    void *all = calloc(n + 1, size);
    if (all == NULL)
        dh_util_no_memory();
    return all;
}

/* ---- lists of sites ---- */

/* The sites of classes, ascending, each once. */
static u32 collect(struct bundler *s, const u32 *classes, u32 n, const u32 **ret_sites)
{
    const struct dh_w_bundles *b = s->b;
    size_t low = SIZE_MAX, high = 0;
    u32 count = 0, at = 0;
    for (u32 i = 0; i < n; i++)
        for (u32 k = b->first_site[classes[i]]; k < b->first_site[classes[i] + 1]; k++) {
            size_t word = b->site[k] / 64;
            u64 bit = 1ull << b->site[k] % 64;
            count += !(s->seen[word] & bit);
            s->seen[word] |= bit;
            low = word < low ? word : low;
            high = word > high ? word : high;
        }
    u32 *sites = dh_arena_array(&s->r->w->arena, count, sizeof *sites);
    for (size_t word = low; count > 0 && word <= high; word++) {
        for (u64 bits = s->seen[word]; bits != 0; bits &= bits - 1)
            sites[at++] = (u32)(word * 64) + (u32)__builtin_ctzll(bits);
        s->seen[word] = 0;
    }
    *ret_sites = sites;
    return count;
}

static const struct list *list_of(struct bundler *s, const u32 *classes, u32 n)
{
    u32 k = dh_w_words_add(&s->classes, classes, n);
    if (k < s->n_lists)
        return &s->lists[k];
    struct list made = {0};
    made.n_sites = collect(s, classes, n, &made.sites);
    s->lists = dh_util_grow(s->lists, s->n_lists, &s->cap_lists, sizeof *s->lists);
    s->lists[s->n_lists] = made;
    return &s->lists[s->n_lists++];
}

/* ---- products ---- */

static void add_found(struct bundler *s, const struct dh_w_detail *d, struct list x, struct list y)
{
    struct dh_w_races *r = s->r;
    struct dh_pts_place at = dh_pts_place(r->w->pts, d->at);
    struct dh_w_found f;
    memcpy(&f, s->b->relations.item[d->relation], sizeof f);
    f.object = at.object;
    f.offset = at.offset;
    const struct list *side[2] = {&x, &y};
    for (int i = 0; i < 2; i++) {
        f.site[i] = side[i]->sites[0];
        f.alike[i] = side[i]->sites;
        f.n_alike[i] = side[i]->n_sites;
    }
    r->found = dh_util_grow(r->found, r->n_found, &r->cap_found, sizeof *r->found);
    r->found[r->n_found++] = f;
}

/* How many reasons a bundle has, roughly: a power of four. */
static u32 rank(const struct bundler *s, u32 bundle)
{
    return (31 - (u32)__builtin_clz(s->b->row_details[bundle])) / 2;
}

/* Those of the classes whose bundles this one tells of: of higher rank, or of the same. */
static u32 told(struct bundler *s, u32 bundle, const u32 *classes, u32 n, bool higher)
{
    u32 count = 0, own = rank(s, bundle);
    for (u32 i = 0; i < n; i++) {
        u32 other = s->b->of[classes[i]], others = rank(s, other);
        if (higher ? others > own : others == own && other >= bundle)
            s->some[count++] = classes[i];
    }
    return count;
}

static void multiply(struct bundler *s, u32 bundle)
{
    const struct dh_w_bundles *b = s->b;
    u32 n = 0;
    for (u32 c = b->first[bundle]; c != DH_W_NONE; c = b->next[c])
        s->some[n++] = c;
    struct list all = *list_of(s, s->some, n); /* the table may move */
    for (const u32 *at = b->rows.item[bundle], *end = at + b->rows.len[bundle]; at < end; at += at[1] + 2)
        for (int higher = 0; higher < 2; higher++) {
            n = told(s, bundle, at + 2, at[1], higher);
            if (n > 0)
                add_found(s, &b->details[at[0]], all, *list_of(s, s->some, n));
        }
}

void dh_w_bundle(struct dh_w_races *r, struct dh_w_bundles *b)
{
    u64 *seen = room(r->w->n_sites / 64, sizeof *seen);
    u32 *some = room(b->n_classes, sizeof *some);
    struct bundler s = {.r = r, .b = b, .classes.arena = &r->w->arena, .seen = seen, .some = some};
    for (u32 k = 0; k < b->n; k++)
        multiply(&s, k);
    r->bundles = b;
    dh_pairs_add_counter(r->w->pairs, "bundles of classes", b->n);
    dh_pairs_add_counter(r->w->pairs, "lists of sites", s.n_lists);
    free(s.lists);
    dh_w_words_done(&s.classes);
    free(seen);
    free(some);
}

/* ---- counting ---- */

/*
 * Sites that are one in the source, and are in the same bundles, have the same partners: they are counted
 * together, as a KIND.
 */
struct counting {
    const struct dh_w_bundles *b;
    u32 *first_bundle, *bundles; /* of each kind */
    u32 *first_kind, *kinds;     /* of each bundle */
    u64 *weight;                 /* of each kind: how many */
    u32 n;                       /* kinds */
    bool *counts;                /* by relation */
    u32 *told;                   /* by bundle: 1 + the last kind that has met it */
    u64 *met;                    /* by kind */
};

struct in {
    u32 number, bundle;
};

static int by_number(const void *a, const void *b)
{
    const struct in *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->bundle > y->bundle) - (x->bundle < y->bundle);
}

/* In which bundles each site is, by the number of the site. */
static size_t list_in(const struct dh_w_bundles *b, const u32 *number, struct in **ret)
{
    struct in *all = room(b->first_site[b->n_classes], sizeof *all);
    size_t n = 0, kept = 0;
    for (u32 c = 0; c < b->n_classes; c++)
        for (u32 k = b->first_site[c]; k < b->first_site[c + 1] && b->of[c] != DH_W_NONE; k++)
            all[n++] = (struct in){number[b->site[k]], b->of[c]};
    qsort(all, n, sizeof *all, by_number);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || by_number(&all[i], &all[kept - 1]) != 0)
            all[kept++] = all[i];
    *ret = all;
    return kept;
}

static void find_kinds(struct counting *c, const struct dh_w_races *r, const u32 *number)
{
    struct dh_w_pool kinds;
    struct in *in;
    size_t n = list_in(c->b, number, &in), total = 0;
    u32 *some = room(c->b->n, sizeof *some);
    c->weight = room(n, sizeof *c->weight);
    dh_w_pool_init(&kinds, &r->w->arena);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && in[end].number == in[i].number; end++)
            some[end - i] = in[end].bundle;
        c->weight[dh_w_pool_add(&kinds, some, (end - i) * sizeof *some)]++;
    }
    c->n = (u32)kinds.n;
    c->first_bundle = room(c->n + 1, sizeof *c->first_bundle);
    c->first_kind = room(c->b->n + 1, sizeof *c->first_kind);
    c->bundles = room(n, sizeof *c->bundles);
    c->kinds = room(n, sizeof *c->kinds);
    for (u32 k = 0; k < c->n; k++) {
        memcpy(&c->bundles[total], kinds.item[k], kinds.size[k]);
        total += kinds.size[k] / sizeof *c->bundles;
        c->first_bundle[k + 1] = (u32)total;
    }
    for (size_t i = 0; i < total; i++)
        c->first_kind[c->bundles[i] + 1]++;
    for (u32 k = 0; k < c->b->n; k++)
        c->first_kind[k + 1] += c->first_kind[k];
    memset(some, 0, c->b->n * sizeof *some);
    for (u32 k = 0; k < c->n; k++)
        for (u32 i = c->first_bundle[k]; i < c->first_bundle[k + 1]; i++) {
            u32 bundle = c->bundles[i];
            c->kinds[c->first_kind[bundle] + some[bundle]++] = k;
        }
    dh_w_pool_done(&kinds);
    free(some);
    free(in);
}

static bool counts(const struct dh_w_found *f, int style)
{
    if (style == DH_W_SOUND)
        return f->flags & DH_PAIRS_SOUND;
    return (f->flags & DH_PAIRS_RELAY) && !(DH_PAIRS_RELAY_ASSUMES & ~f->unless[DH_W_RELAY]);
}

/* The kinds that a bundle meets. */
static void meet(struct counting *c, u32 bundle, u32 kind)
{
    const struct dh_w_bundles *b = c->b;
    for (const u32 *at = b->rows.item[bundle], *end = at + b->rows.len[bundle]; at < end; at += at[1] + 2)
        for (u32 i = 0; i < at[1] && c->counts[b->details[at[0]].relation]; i++) {
            u32 other = b->of[at[2 + i]];
            if (c->told[other] == kind + 1)
                continue;
            c->told[other] = kind + 1;
            for (u32 k = c->first_kind[other]; k < c->first_kind[other + 1]; k++)
                c->met[c->kinds[k] / 64] |= 1ull << c->kinds[k] % 64;
        }
}

/* Twice the pairs of one kind; a site with itself is one pair, but is met once, not twice. */
static u64 count_kind(struct counting *c, u32 kind)
{
    u64 partners = 0;
    size_t words = c->n / 64 + 1;
    memset(c->met, 0, words * sizeof *c->met);
    for (u32 i = c->first_bundle[kind]; i < c->first_bundle[kind + 1]; i++)
        meet(c, c->bundles[i], kind);
    for (size_t w = 0; w < words; w++)
        for (u64 bits = c->met[w]; bits != 0; bits &= bits - 1)
            partners += c->weight[w * 64 + (size_t)__builtin_ctzll(bits)];
    return c->weight[kind] * (partners + (c->met[kind / 64] >> kind % 64 & 1));
}

void dh_w_bundle_count(const struct dh_w_races *r, const u32 *number, u64 ret[DH_W_STYLES])
{
    const struct dh_w_pool *relations = &r->bundles->relations;
    struct counting c = {.b = r->bundles};
    bool same = true;
    find_kinds(&c, r, number);
    c.counts = room(relations->n, sizeof *c.counts);
    c.told = room(c.b->n, sizeof *c.told);
    c.met = room(c.n / 64, sizeof *c.met);
    for (size_t i = 0; i < relations->n; i++)
        same &= counts(relations->item[i], DH_W_RELAY) == counts(relations->item[i], DH_W_SOUND);
    for (int s = DH_W_STYLES; s-- > 0;) {
        u64 twice = 0;
        for (size_t i = 0; i < relations->n; i++)
            c.counts[i] = counts(relations->item[i], s);
        memset(c.told, 0, c.b->n * sizeof *c.told);
        for (u32 k = 0; k < c.n && !(same && s != DH_W_SOUND); k++)
            twice += count_kind(&c, k);
        ret[s] = same && s != DH_W_SOUND ? ret[DH_W_SOUND] : twice / 2;
    }
    free(c.first_bundle);
    free(c.bundles);
    free(c.first_kind);
    free(c.kinds);
    free(c.weight);
    free(c.counts);
    free(c.told);
    free(c.met);
}
