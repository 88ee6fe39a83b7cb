/*
 * finding_pairs.h - findings of the static analysis, from its table of pairs.
 */
#ifndef DH_REPORT_FINDING_PAIRS_H
#define DH_REPORT_FINDING_PAIRS_H

#include "report/finding.h"
#include "report/pairs.h"
#include "util/map.h"

struct dh_finding_pairs {
    const struct dh_pairs *table;
    struct dh_arena *arena; /* for readable names, each of which is made once */
    struct dh_map names;    /* linkage name -> readable name */
    u32 set;                /* DH_PAIRS_RELAY or DH_PAIRS_SOUND */
    bool alike;             /* also say which places a bundle stands for */
    u64 most;               /* of each side, list at most this many such places and threads; 0: all */
    bool full_names;        /* show C++ names unshortened to people */
};

/* Everything that these return lives in the arena given, or as long as the table. */
struct dh_finding *dh_finding_of_pair(struct dh_finding_pairs *from, struct dh_arena *arena, u32 pair);
/* The same, for two of the sites that the pair stands for. */
struct dh_finding *dh_finding_of_sites(struct dh_finding_pairs *from, struct dh_arena *arena, u32 pair,
                                       const u32 sites[2]);
/* DH_PAIRS_NONE: memory unknown to the analysis. */
void dh_finding_of_variable(struct dh_finding_pairs *from, struct dh_arena *arena, u32 variable,
                            struct dh_finding_location *ret);
void dh_finding_of_entry(struct dh_finding_pairs *from, struct dh_arena *arena, u32 entry,
                         struct dh_finding_thread *ret);
const char *dh_finding_readable(struct dh_finding_pairs *from, const char *linkage_name);

#endif
