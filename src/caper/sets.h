/*
 * sets.h - spPairs, dpPairs and deSites (Caper, CC 2017, section 5.1), over a table of pairs.
 *
 * deSites is a bit set, with one bit for each site of the table. The other two are derived: a pair of the set
 * `sound` is in dpPairs if both its sites are in deSites, otherwise in spPairs. Neither is ever stored as a
 * list.
 */
#ifndef DH_CAPER_SETS_H
#define DH_CAPER_SETS_H

#include "report/pairs.h"

/* One side of a pair of the table: its own site and a list of others. */
struct dh_caper_side {
    u32 site, list;
};

/* Maps each of a number of keys to a list of items, stored consecutively: those of key i are items[first[i]]
 * ... items[first[i + 1] - 1]. */
struct dh_caper_index {
    u64 *first;
    u32 *items;
};

struct dh_caper_sets {
    const struct dh_pairs *table;
    size_t words;                  /* in a set of sites */
    u64 *in_pair;                  /* sites that are in a pair of `sound` */
    u64 *escaped;                  /* deSites; a subset of in_pair */
    struct dh_caper_index own;     /* for each site: the sides whose own site it is, as pair * 2 + side */
    struct dh_caper_index sharing; /* for each list: the sides that use it */
    struct dh_caper_index lists;   /* for each site: the lists that contain it */
    size_t n_sites, n_escaped;     /* how many in_pair and escaped contain */
    /* For the alias analysis, in which a site that is in a pair seen counts as escaped: */
    u64 *seen; /* pairs that were seen, as dh_alias_pair(), sorted; on the heap */
    size_t n_seen;
};

/* Pairs of sites. A pair that is in several bundles counts once. */
struct dh_caper_count {
    u64 sp, dp;
};

DH_INLINE bool dh_caper_has(const u64 *set, u32 site)
{
    return set[site / 64] >> site % 64 & 1;
}

void dh_caper_sets_init(struct dh_caper_sets *s, const struct dh_pairs *table);
void dh_caper_sets_done(struct dh_caper_sets *s);
/* Adds a site to deSites. False: it is there already, or in no pair. */
bool dh_caper_sets_add(struct dh_caper_sets *s, u32 site);
/* Is it in a pair of dpPairs? */
bool dh_caper_sets_is_dynamic(const struct dh_caper_sets *s, u32 site);
struct dh_caper_count dh_caper_sets_count(const struct dh_caper_sets *s);

/* The sites paired with this one, as a bit set of s->words words. */
void dh_caper_sets_partners(const struct dh_caper_sets *s, u32 site, u64 *ret);

enum dh_caper_set { DH_CAPER_DP, DH_CAPER_SP, DH_CAPER_SOUND /* both */ };

/* choose.c: keeps only the pairs of one of the sets in the table, with bundles reduced to their sites in it.
 * The table's counter then has the number of pairs of sites. In the rest of a bundle in spPairs, no site of
 * one of its sides has escaped. */
void dh_caper_choose(struct dh_pairs *table, const struct dh_caper_sets *s, enum dh_caper_set set,
                     const struct dh_caper_count *count);
/* dpPairs, for users that identify bundles by ids, which are derived from all sites of a bundle: the rest of
 * a bundle is expanded to pairs if these are at most `most`; otherwise the bundle is kept whole. The table's
 * counters do not change either. */
void dh_caper_choose_named(struct dh_pairs *table, const struct dh_caper_sets *s, u64 most);
/* Expands bundles to pairs: first one pair of each, then the rest of the smallest ones, up to `limit` pairs
 * in all; 0: all of them. Returns how many pairs of sites are left out, at most. */
u64 dh_caper_expand(struct dh_pairs *table, u64 limit);

#endif
