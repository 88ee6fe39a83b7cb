/*
 * choose.c - reduces a table to the pairs of one of Caper's sets, for code that prints, exports or chases
 * pairs: it need not know of Caper.
 */
#include <stdlib.h>

#include "caper/sets.h"

/* ---- Bundles that are reduced ---- */

/* Which sites of a side are wanted. */
enum sites { ESCAPED, OTHERS, ALL };

static bool is_wanted(const struct dh_caper_sets *s, u32 site, enum sites which)
{
    return which == ALL || dh_caper_has(s->escaped, site) == (which == ESCAPED);
}

/* How many. */
static size_t wanted_sites(const struct dh_pairs *t, const struct dh_caper_sets *s,
                           const struct dh_pairs_pair *pair, int side, enum sites which, u32 *to)
{
    size_t n, count = 0;
    const u32 *alike = dh_pairs_items(t, pair->alike[side], &n);
    if (is_wanted(s, pair->side[side].site, which))
        to[count++] = pair->side[side].site;
    for (size_t i = 0; i < n; i++)
        if (is_wanted(s, alike[i], which))
            to[count++] = alike[i];
    return count;
}

/* Adds the pair with these sites only, if there are any. */
static void add_part(struct dh_pairs *t, const struct dh_caper_sets *s, const struct dh_pairs_pair *pair,
                     enum sites first, enum sites second, u32 *room)
{
    const enum sites which[2] = {first, second};
    struct dh_pairs_pair part = *pair;
    for (int i = 0; i < 2; i++) {
        size_t n = wanted_sites(t, s, pair, i, which[i], room);
        if (!n)
            return;
        part.side[i].site = room[0];
        part.alike[i] = dh_pairs_add_list(t, room + 1, n - 1);
    }
    dh_pairs_add_pair(t, &part);
}

static u32 *room_for_sites(const struct dh_pairs *t)
{
    size_t most = 0;
    for (size_t i = 0; i < t->n_lists; i++)
        most = t->lists[i].n > most ? t->lists[i].n : most;
    return dh_util_alloc((most + 1) * sizeof(u32));
}

void dh_caper_choose(struct dh_pairs *table, const struct dh_caper_sets *s, enum dh_caper_set set,
                     const struct dh_caper_count *count)
{
    size_t n;
    struct dh_pairs_pair *all = dh_pairs_take_pairs(table, &n);
    u32 *room = room_for_sites(table);
    for (size_t i = 0; i < n; i++) {
        if (!(all[i].flags & DH_PAIRS_SOUND))
            continue;
        if (set == DH_CAPER_DP) {
            add_part(table, s, &all[i], ESCAPED, ESCAPED, room);
        } else if (set == DH_CAPER_SP) {
            add_part(table, s, &all[i], OTHERS, ALL, room);
            add_part(table, s, &all[i], ESCAPED, OTHERS, room);
        } else {
            dh_pairs_add_pair(table, &all[i]);
        }
    }
    free(room);
    free(all);
    u64 now = (set == DH_CAPER_SP ? 0 : count->dp) + (set == DH_CAPER_DP ? 0 : count->sp);
    dh_pairs_add_counter(table, DH_PAIRS_COUNT_SOUND, now - dh_pairs_counter(table, DH_PAIRS_COUNT_SOUND));
}

/* ---- Bundles that keep their ids ---- */

void dh_caper_choose_named(struct dh_pairs *table, const struct dh_caper_sets *s, u64 most)
{
    size_t n, n_left = 0;
    struct dh_pairs_pair *all = dh_pairs_take_pairs(table, &n);
    u32 *room = room_for_sites(table), *other = room_for_sites(table);
    for (size_t i = 0; i < n; i++) {
        u64 left = (u64)wanted_sites(table, s, &all[i], 0, ESCAPED, room) *
                   wanted_sites(table, s, &all[i], 1, ESCAPED, room);
        if (!(all[i].flags & DH_PAIRS_SOUND) || !left)
            continue;
        if (left > most)
            dh_pairs_add_pair(table, &all[i]);
        else
            all[n_left++] = all[i];
    }
    for (size_t i = 0; i < n_left; i++) {
        struct dh_pairs_pair one = all[i];
        size_t rows = wanted_sites(table, s, &all[i], 0, ESCAPED, room),
               columns = wanted_sites(table, s, &all[i], 1, ESCAPED, other);
        one.alike[0] = one.alike[1] = 0;
        for (size_t k = 0; k < rows * columns; k++) {
            one.side[0].site = room[k / columns];
            one.side[1].site = other[k % columns];
            dh_pairs_add_pair(table, &one);
        }
    }
    free(room);
    free(other);
    free(all);
}

/* ---- Bundles that are expanded ---- */

static u32 site_at(const struct dh_pairs *t, const struct dh_pairs_pair *pair, int side, size_t i)
{
    size_t n;
    const u32 *alike = dh_pairs_items(t, pair->alike[side], &n);
    return i ? alike[i - 1] : pair->side[side].site;
}

static void add_one(struct dh_pairs *t, const struct dh_pairs_pair *pair, size_t i, size_t k)
{
    struct dh_pairs_pair one = *pair;
    one.side[0].site = site_at(t, pair, 0, i);
    one.side[1].site = site_at(t, pair, 1, k);
    one.alike[0] = one.alike[1] = 0;
    dh_pairs_add_pair(t, &one);
}

static int compare_sizes(const void *left, const void *right, void *table)
{
    const struct dh_pairs_pair *a = left, *b = right;
    u64 x = dh_pairs_stands_for(table, a), y = dh_pairs_stands_for(table, b);
    return x != y ? (x > y) - (x < y) : (a->id > b->id) - (a->id < b->id);
}

u64 dh_caper_expand(struct dh_pairs *table, u64 limit)
{
    size_t n;
    u64 left_out = 0;
    struct dh_pairs_pair *all = dh_pairs_take_pairs(table, &n);
    qsort_r(all, n, sizeof(*all), compare_sizes, table);
    for (size_t i = 0; i < n; i++)
        if (!limit || table->n_pairs < limit)
            add_one(table, &all[i], 0, 0);
        else
            left_out++;
    for (size_t i = 0; i < n; i++) {
        size_t rows = 1 + table->lists[all[i].alike[0]].n, columns = 1 + table->lists[all[i].alike[1]].n;
        u64 added = 1;
        for (size_t k = 1; k < rows * columns && (!limit || table->n_pairs < limit); k++, added++)
            add_one(table, &all[i], k / columns, k % columns);
        left_out += rows * columns - added;
    }
    free(all);
    return left_out;
}
