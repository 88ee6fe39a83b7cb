/*
 * bundle.h - pairs as products of two sets of sites, for programs with too many pairs to list individually.
 *
 * The ROW of a class is everything that it meets, and why. Classes with equal rows form a BUNDLE: what one of
 * its sites may race with, all may. A row contains either all classes of a bundle, for the same reason, or
 * none.
 */
#ifndef DH_IR_WHOLE_BUNDLE_H
#define DH_IR_WHOLE_BUNDLE_H

#include "ir/whole/race.h"
#include "ir/whole/words.h"

/* Why two classes may race, seen from one side. */
struct dh_w_detail {
    u32 relation; /* struct dh_w_found without sites and place */
    dh_pts_location at;
};

struct dh_w_bundles {
    u32 n, n_classes;
    u32 *of;           /* by class: its bundle; DH_W_NONE: meets nobody */
    u32 *next, *first; /* the classes of a bundle: by bundle the first, by class the next */
    /* By bundle: for each detail its number, how many classes are met for it, and these. */
    struct dh_w_words rows;
    u32 *row_details; /* by bundle: how many details */
    size_t cap_details, cap_first;
    struct dh_w_detail *details;
    size_t n_details, details_cap;
    struct dh_w_pool relations;
    u32 *first_site, *site; /* those of class c are site[first_site[c]] to site[first_site[c + 1] - 1] */
};

/* Makes found bundles of them. */
void dh_w_bundle(struct dh_w_races *r, struct dh_w_bundles *b);
void dh_w_bundles_free(struct dh_w_bundles *b);
/* How many pairs of sites all that is found stands for, by style; `number` says which sites are one. */
void dh_w_bundle_count(const struct dh_w_races *r, const u32 *number, u64 ret[DH_W_STYLES]);

#endif
