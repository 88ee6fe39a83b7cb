/*
 * sets.c - see sets.h.
 *
 * Counting: the products of bundles overlap, and are too large to be written out (sqlite: 61 million pairs).
 * So for each site the set of its partners is made, as bits: the union of the other sides of all bundles that
 * it is in. Each pair of two different sites is counted from both. A list that several bundles of a site
 * share is added once, and a long one by words.
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

/* Calls for each site of each side, with the other side. */
static void each_site(const struct dh_pairs *t,
                      void (*call)(struct dh_caper_sets *s, u32 site, struct dh_caper_side other),
                      struct dh_caper_sets *s)
{
    for (size_t i = 0; i < t->n_pairs; i++) {
        const struct dh_pairs_pair *pair = &t->pairs[i];
        if (!(pair->flags & DH_PAIRS_SOUND))
            continue;
        for (int k = 0; k < 2; k++) {
            struct dh_caper_side other = {pair->side[!k].site, pair->alike[!k]};
            size_t n;
            const u32 *alike = dh_pairs_items(t, pair->alike[k], &n);
            call(s, pair->side[k].site, other);
            for (size_t m = 0; m < n; m++)
                call(s, alike[m], other);
        }
    }
}

static void count_partner(struct dh_caper_sets *s, u32 site, struct dh_caper_side other)
{
    (void)other;
    s->first[site]++;
    s->n_sites += !dh_caper_has(s->in_pair, site);
    set_bit(s->in_pair, site);
}

/* From the end: `first` becomes what its name says. */
static void put_partner(struct dh_caper_sets *s, u32 site, struct dh_caper_side other)
{
    s->partners[--s->first[site]] = other;
}

void dh_caper_sets_init(struct dh_caper_sets *s, const struct dh_pairs *table)
{
    *s = (struct dh_caper_sets){.table = table, .words = table->n_sites / 64 + 1};
    s->in_pair = zeroed(s->words, sizeof(u64));
    s->escaped = zeroed(s->words, sizeof(u64));
    s->first = zeroed(table->n_sites, sizeof(u64));
    each_site(table, count_partner, s);
    u64 sum = 0;
    for (size_t i = 0; i <= table->n_sites; i++)
        s->first[i] = sum += s->first[i];
    s->partners = zeroed(sum, sizeof(*s->partners));
    each_site(table, put_partner, s);
}

void dh_caper_sets_done(struct dh_caper_sets *s)
{
    free(s->in_pair);
    free(s->escaped);
    free(s->first);
    free(s->partners);
    free(s->seen);
    *s = (struct dh_caper_sets){0};
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

static bool has_escaped(const struct dh_caper_sets *s, struct dh_caper_side side)
{
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
    for (u64 i = s->first[site]; dh_caper_has(s->escaped, site) && i < s->first[site + 1]; i++)
        if (has_escaped(s, s->partners[i]))
            return true;
    return false;
}

void dh_caper_sets_partners(const struct dh_caper_sets *s, u32 site, u64 *ret)
{
    memset(ret, 0, s->words * sizeof(*ret));
    for (u64 i = s->first[site]; i < s->first[site + 1]; i++) {
        size_t n;
        const u32 *items = dh_pairs_items(s->table, s->partners[i].list, &n);
        set_bit(ret, s->partners[i].site);
        for (size_t k = 0; k < n; k++)
            set_bit(ret, items[k]);
    }
}

/* ---- Counting ---- */

struct counter {
    const struct dh_caper_sets *s;
    u64 *partners;    /* of the present site */
    u64 **long_lists; /* as bits, once they were needed */
    u32 *seen;        /* of each list: the last site, plus one, that it was added for */
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

static void add_list(struct counter *c, u32 site, u32 list)
{
    size_t n;
    const u32 *items = dh_pairs_items(c->s->table, list, &n);
    if (!n || c->seen[list] == site + 1)
        return;
    c->seen[list] = site + 1;
    if (n < c->s->words) {
        for (size_t i = 0; i < n; i++)
            set_bit(c->partners, items[i]);
        return;
    }
    const u64 *bits = list_bits(c, list, items, n);
    for (size_t i = 0; i < c->s->words; i++)
        c->partners[i] |= bits[i];
}

/* Twice the number of its pairs, so that each end of a pair counts for one. */
static void count_site(struct counter *c, u32 site, struct dh_caper_count *twice)
{
    const struct dh_caper_sets *s = c->s;
    bool out = dh_caper_has(s->escaped, site);
    u64 all = 0, dynamic = 0;
    memset(c->partners, 0, s->words * sizeof(u64));
    for (u64 i = s->first[site]; i < s->first[site + 1]; i++) {
        set_bit(c->partners, s->partners[i].site);
        add_list(c, site, s->partners[i].list);
    }
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
    struct counter c = {s, zeroed(s->words, sizeof(u64)), zeroed(n_lists, sizeof(u64 *)),
                        zeroed(n_lists, sizeof(u32))};
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
