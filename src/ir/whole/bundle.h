/*
 * bundle.h - pairs by the product of two sets of sites, for programs with too many to be named one by one.
 */
#ifndef DH_IR_WHOLE_BUNDLE_H
#define DH_IR_WHOLE_BUNDLE_H

#include "ir/whole/race.h"

/* The sites of each class: those of class c are site[first[c]] to site[first[c + 1] - 1], ascending. */
struct dh_w_class_sites {
    const u32 *first, *site;
    u32 n; /* classes */
};

/* Two classes that may race, a <= b, and what is known of it, seen from either side: in `details`. */
struct dh_w_meeting {
    u32 a, b;
    u32 detail, turned;
};

/* Makes found bundles of them. details: struct dh_w_found without sites. */
void dh_w_bundle(struct dh_w_races *r, const struct dh_w_meeting *all, size_t n,
                 const struct dh_w_pool *details, const struct dh_w_class_sites *sites);
/* How many pairs of sites all that is found stands for, by style; `number` says which sites are one. */
void dh_w_bundle_count(const struct dh_w_races *r, const u32 *number, u32 n_numbers, u64 ret[DH_W_STYLES]);

#endif
