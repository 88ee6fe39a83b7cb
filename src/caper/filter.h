/*
 * filter.h - which checks of a full build can be skipped, given a Caper build of the same sources
 * (docs/design/filter.md).
 */
#ifndef DH_CAPER_FILTER_H
#define DH_CAPER_FILTER_H

#include "caper/build.h"
#include "caper/sets.h"

struct dh_caper_filter {
    const char *text; /* DH_FILTER_ENV (base/filter.h) */
    u32 checks;       /* in the program */
    u32 safe;         /* skipped: their accesses are in no pair */
    u32 unescaped;    /* skipped: ... or have not escaped so far */
    u32 sites,
        known_sites; /* sites of the program that are in a pair, and those of them that the Caper build has */
};

/* path: the full build. 0, or -1 with *ret_why: what is wrong with it, worded to follow its name. */
int dh_caper_filter_make(struct dh_arena *arena, const char *path, const struct dh_caper_build *caper,
                         const struct dh_caper_sets *sets, struct dh_caper_filter *ret, const char **ret_why);

#endif
