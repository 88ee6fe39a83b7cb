/*
 * filter.h - which checks of a full build are skipped, by what is known of a Caper build of the same sources
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
        known_sites; /* of the program that are in a pair, and those of them that the Caper build has */
};

/* path: the full build. 0, or -1 and *ret_why: what is wrong with it, to be put behind its name. */
int dh_caper_filter_make(struct dh_arena *arena, const char *path, const struct dh_caper_build *caper,
                         const struct dh_caper_sets *sets, struct dh_caper_filter *ret, const char **ret_why);

#endif
