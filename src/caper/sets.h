/*
 * sets.h - spPairs, dpPairs and deSites (Caper, CC 2017, section 5.1), over a table of pairs.
 *
 * deSites is a set of bits, one for each site of the table. The other two follow: a pair of the set `sound`
 * is in dpPairs if both its sites are in deSites, else in spPairs. Neither is ever listed.
 */
#ifndef DH_CAPER_SETS_H
#define DH_CAPER_SETS_H

#include "report/pairs.h"

/* One side of a pair of the table: its own site and a list of others. */
struct dh_caper_side {
    u32 site, list;
};

/* For each of some things the numbers of others, one after the other: those of i are
 * items[first[i]] ... items[first[i + 1] - 1]. */
struct dh_caper_index {
    u64 *first;
    u32 *items;
};

struct dh_caper_sets {
    const struct dh_pairs *table;
    size_t words;              /* of a set of sites */
    u64 *in_pair;              /* sites that are in a pair of `sound` */
    u64 *escaped;              /* deSites; a part of in_pair */
    struct dh_caper_index own; /* of each site: the sides that it is the own site of, as pair * 2 + side */
    struct dh_caper_index sharing; /* of each list: the sides that it is the list of */
    struct dh_caper_index lists;   /* of each site: the lists of sides that it is in */
    size_t n_sites, n_escaped;     /* in_pair and escaped have so many */
    /* Of the alias analysis, in which a site that is in such a pair counts as escaped: */
    u64 *seen; /* pairs that were seen, dh_alias_pair(), in order; on the heap */
    size_t n_seen;
};

/* Pairs of sites. A pair that several bundles stand for counts once. */
struct dh_caper_count {
    u64 sp, dp;
};

DH_INLINE bool dh_caper_has(const u64 *set, u32 site)
{
    return set[site / 64] >> site % 64 & 1;
}

void dh_caper_sets_init(struct dh_caper_sets *s, const struct dh_pairs *table);
void dh_caper_sets_done(struct dh_caper_sets *s);
/* Puts a site into deSites. False: it is there already, or in no pair. */
bool dh_caper_sets_add(struct dh_caper_sets *s, u32 site);
/* Is it in a pair of dpPairs? */
bool dh_caper_sets_is_dynamic(const struct dh_caper_sets *s, u32 site);
struct dh_caper_count dh_caper_sets_count(const struct dh_caper_sets *s);

/* Who is paired with a site, as bits: s->words of them. */
void dh_caper_sets_partners(const struct dh_caper_sets *s, u32 site, u64 *ret);

enum dh_caper_set { DH_CAPER_DP, DH_CAPER_SP, DH_CAPER_SOUND /* both */ };

/* choose.c: the pairs of one of the sets are left in the table, bundles with the sites that are in it; others
 * are taken out. How many pairs of sites they are is in the table's counter. In what is left of a bundle in
 * spPairs, all sites of one of its sides have not escaped. */
void dh_caper_choose(struct dh_pairs *table, const struct dh_caper_sets *s, enum dh_caper_set set,
                     const struct dh_caper_count *count);
/* dpPairs, for those who know bundles by their ids, which are made of all their sites: what is left of a
 * bundle is written out as pairs if these are at most so many; else the bundle stays as it is. The table's
 * counters stay, too. */
void dh_caper_choose_named(struct dh_pairs *table, const struct dh_caper_sets *s, u64 most);
/* Bundles are written out as pairs: at first one pair of each, then the rest of the smallest ones, up to a
 * number of pairs in all; 0: all of them. How many pairs of sites are left out, at most. */
u64 dh_caper_expand(struct dh_pairs *table, u64 limit);

#endif
