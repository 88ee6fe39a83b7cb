/*
 * sets.c - see sets.h.
 *
 * Counting: the products of bundles overlap, and are too large to be expanded (sqlite: 50 million pairs of
 * 23556 sites). So for each site the set of its partners is built as a bit set: the union of the other sides
 * of all bundles that it is in. Each pair of two different sites is counted from both. A list that several
 * bundles of a site share is added once, and a long one word by word. The bundles of a site are found through
 * its lists, since many bundles share a list, and lists are long.
 */
#include "caper/sets.h"

#include <stdlib.h>
#include <string.h>

static void *zeroed(size_t n, size_t size)
{
    void *p = calloc(n + 1, size);
    if (!p)
        dh_util_no_memory();
    return p;
}

static void set_bit(u64 *set, u32 site)
{
    set[site / 64] |= 1ull << site % 64;
}

/* ---- Who is paired with whom ---- */

/* Two passes: the first counts the items of each key, the second stores them, starting at the end. */
static void index_put(struct dh_caper_index *index, u32 of, u32 item)
{
    if (index->items)
        index->items[--index->first[of]] = item;
    else
        index->first[of]++;
}

static void index_make_room(struct dh_caper_index *index, size_t n)
{
    u64 sum = 0;
    for (size_t i = 0; i <= n; i++)
        index->first[i] = sum += index->first[i];
    index->items = zeroed(sum, sizeof(*index->items));
}

static void index_done(struct dh_caper_index *index)
{
    free(index->first);
    free(index->items);
}

/* The members of a list are visited once, at the first side that uses it. */
static void put_list(struct dh_caper_sets *s, u32 list, u32 side, bool *seen)
{
    size_t n;
    const u32 *items = dh_pairs_items(s->table, list, &n);
    if (!n)
        return;
    index_put(&s->sharing, list, side);
    for (size_t i = 0; i < n && !seen[list]; i++) {
        index_put(&s->lists, items[i], list);
        set_bit(s->in_pair, items[i]);
    }
    seen[list] = true;
}

static void put_all(struct dh_caper_sets *s)
{
    const struct dh_pairs *t = s->table;
    bool *seen = zeroed(t->n_lists, sizeof(*seen));
    for (u32 i = 0; i < t->n_pairs; i++)
        for (u32 k = 0; k < 2 && (t->pairs[i].flags & DH_PAIRS_SOUND); k++) {
            u32 site = t->pairs[i].side[k].site;
            index_put(&s->own, site, i * 2 + k);
            set_bit(s->in_pair, site);
            put_list(s, t->pairs[i].alike[k], i * 2 + k, seen);
        }
    free(seen);
}

void dh_caper_sets_init(struct dh_caper_sets *s, const struct dh_pairs *table)
{
    *s = (struct dh_caper_sets){.table = table, .words = table->n_sites / 64 + 1};
    s->in_pair = zeroed(s->words, sizeof(u64));
    s->escaped = zeroed(s->words, sizeof(u64));
    s->own.first = zeroed(table->n_sites, sizeof(u64));
    s->sharing.first = zeroed(table->n_lists, sizeof(u64));
    s->lists.first = zeroed(table->n_sites, sizeof(u64));
    put_all(s);
    index_make_room(&s->own, table->n_sites);
    index_make_room(&s->sharing, table->n_lists);
    index_make_room(&s->lists, table->n_sites);
    put_all(s);
    for (size_t i = 0; i < s->words; i++)
        s->n_sites += (size_t)__builtin_popcountll(s->in_pair[i]);
}

void dh_caper_sets_done(struct dh_caper_sets *s)
{
    free(s->in_pair);
    free(s->escaped);
    index_done(&s->own);
    index_done(&s->sharing);
    index_done(&s->lists);
    free(s->seen);
    *s = (struct dh_caper_sets){0};
}

/* Calls back with the other side of each bundle that the site is in, until told to stop. Returns whether it
 * was. */
static bool each_partner(const struct dh_caper_sets *s, u32 site,
                         bool (*call)(void *ctx, struct dh_caper_side other), void *ctx)
{
    const struct dh_pairs_pair *pairs = s->table->pairs;
    bool stop = false;
    for (u64 i = s->own.first[site]; !stop && i < s->own.first[site + 1]; i++) {
        u32 at = s->own.items[i];
        const struct dh_pairs_pair *pair = &pairs[at / 2];
        stop = call(ctx, (struct dh_caper_side){pair->side[!(at & 1)].site, pair->alike[!(at & 1)]});
    }
    for (u64 i = s->lists.first[site]; !stop && i < s->lists.first[site + 1]; i++) {
        u32 list = s->lists.items[i];
        for (u64 k = s->sharing.first[list]; !stop && k < s->sharing.first[list + 1]; k++) {
            u32 at = s->sharing.items[k];
            const struct dh_pairs_pair *pair = &pairs[at / 2];
            stop = call(ctx, (struct dh_caper_side){pair->side[!(at & 1)].site, pair->alike[!(at & 1)]});
        }
    }
    return stop;
}

bool dh_caper_sets_add(struct dh_caper_sets *s, u32 site)
{
    DH_ASSERT(site < s->table->n_sites);
    if (!dh_caper_has(s->in_pair, site) || dh_caper_has(s->escaped, site))
        return false;
    set_bit(s->escaped, site);
    s->n_escaped++;
    return true;
}

static bool has_escaped(void *ctx, struct dh_caper_side side)
{
    const struct dh_caper_sets *s = ctx;
    size_t n;
    const u32 *items = dh_pairs_items(s->table, side.list, &n);
    if (dh_caper_has(s->escaped, side.site))
        return true;
    for (size_t i = 0; i < n; i++)
        if (dh_caper_has(s->escaped, items[i]))
            return true;
    return false;
}

bool dh_caper_sets_is_dynamic(const struct dh_caper_sets *s, u32 site)
{
    return dh_caper_has(s->escaped, site) && each_partner(s, site, has_escaped, (void *)s);
}

struct partners {
    const struct dh_caper_sets *s;
    u64 *set;
};

static bool set_partner(void *ctx, struct dh_caper_side side)
{
    const struct partners *p = ctx;
    size_t n;
    const u32 *items = dh_pairs_items(p->s->table, side.list, &n);
    set_bit(p->set, side.site);
    for (size_t i = 0; i < n; i++)
        set_bit(p->set, items[i]);
    return false;
}

void dh_caper_sets_partners(const struct dh_caper_sets *s, u32 site, u64 *ret)
{
    struct partners p = {s, ret};
    memset(ret, 0, s->words * sizeof(*ret));
    each_partner(s, site, set_partner, &p);
}

/* ---- Counting ---- */

struct counter {
    const struct dh_caper_sets *s;
    u32 site;
    u64 *partners;    /* of that site */
    u64 **long_lists; /* as bit sets, built when first needed */
    u32 *seen;        /* for each list: the last site, plus one, that it was added for */
};

static const u64 *list_bits(struct counter *c, u32 list, const u32 *items, size_t n)
{
    if (!c->long_lists[list]) {
        c->long_lists[list] = zeroed(c->s->words, sizeof(u64));
        for (size_t i = 0; i < n; i++)
            set_bit(c->long_lists[list], items[i]);
    }
    return c->long_lists[list];
}

static void add_list(struct counter *c, u32 list)
{
    size_t n;
    const u32 *items = dh_pairs_items(c->s->table, list, &n);
    if (!n || c->seen[list] == c->site + 1)
        return;
    c->seen[list] = c->site + 1;
    if (n < c->s->words) {
        for (size_t i = 0; i < n; i++)
            set_bit(c->partners, items[i]);
        return;
    }
    const u64 *bits = list_bits(c, list, items, n);
    for (size_t i = 0; i < c->s->words; i++)
        c->partners[i] |= bits[i];
}

static bool add_partner(void *ctx, struct dh_caper_side other)
{
    struct counter *c = ctx;
    set_bit(c->partners, other.site);
    add_list(c, other.list);
    return false;
}

/* Counts each pair twice, so that each end of a pair contributes one. */
static void count_site(struct counter *c, u32 site, struct dh_caper_count *twice)
{
    const struct dh_caper_sets *s = c->s;
    bool out = dh_caper_has(s->escaped, site);
    u64 all = 0, dynamic = 0;
    memset(c->partners, 0, s->words * sizeof(u64));
    c->site = site;
    each_partner(s, site, add_partner, c);
    for (size_t i = 0; i < s->words; i++) {
        all += (u64)__builtin_popcountll(c->partners[i]);
        dynamic += (u64)__builtin_popcountll(c->partners[i] & s->escaped[i]);
    }
    u64 itself = dh_caper_has(c->partners, site);
    twice->dp += out ? dynamic + itself : 0;
    twice->sp += all + itself - (out ? dynamic + itself : 0);
}

struct dh_caper_count dh_caper_sets_count(const struct dh_caper_sets *s)
{
    size_t n_lists = s->table->n_lists;
    struct counter c = {.s = s,
                        .partners = zeroed(s->words, sizeof(u64)),
                        .long_lists = zeroed(n_lists, sizeof(u64 *)),
                        .seen = zeroed(n_lists, sizeof(u32))};
    struct dh_caper_count twice = {0};
    for (u32 i = 0; i < s->table->n_sites; i++)
        if (dh_caper_has(s->in_pair, i))
            count_site(&c, i, &twice);
    for (size_t i = 0; i < n_lists; i++)
        free(c.long_lists[i]);
    free(c.long_lists);
    free(c.partners);
    free(c.seen);
    return (struct dh_caper_count){twice.sp / 2, twice.dp / 2};
}
