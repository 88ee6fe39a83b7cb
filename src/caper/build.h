/*
 * build.h - a program built with `deadheat cc --dh-mode=caper`, as described by its file: its table of pairs,
 * its groups of sites (base/caper.h), and its build id.
 */
#ifndef DH_CAPER_BUILD_H
#define DH_CAPER_BUILD_H

#include "base/alias.h"
#include "report/pairs.h"

struct dh_caper_build {
    const char *path;
    struct dh_pairs *table;
    u32 n_groups;
    const u32 *groups; /* as in DH_CAPER_GROUPS; checked */
    bool alias;        /* an alias build (base/alias.h), which has no groups */
    u8 id[DH_CAPER_BUILD_ID];
    const char *id_text; /* all of it, in hexadecimal */
    const char *sources; /* DH_SOURCES (base/filter.h); "" if there is none */
    const u8 *bytes;     /* of dh_caper_build_bytes: the table as it is in the file */
    size_t n_bytes;
};

/* alias: it must be an alias build; otherwise it must not. 0, or -1 with *ret_why: what is wrong with the
 * file, worded to follow its name. */
int dh_caper_build_read(struct dh_arena *arena, const char *path, bool alias, struct dh_caper_build *ret,
                        const char **ret_why);
/* For any build with a table of pairs: just its id and the bytes of the table, in the arena. */
int dh_caper_build_bytes(struct dh_arena *arena, const char *path, struct dh_caper_build *ret,
                         const char **ret_why);
void dh_caper_build_done(struct dh_caper_build *b);

#endif
