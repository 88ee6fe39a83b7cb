/*
 * sites.h - from positions in the source to the instructions that are to be chased.
 */
#ifndef DH_CHASE_SITES_H
#define DH_CHASE_SITES_H

#include "chase/target.h"

/* All that was found of all modules at one position. */
struct dh_chase_found {
    struct dh_chase_accesses in[DH_CONTROL_MODULES];
    size_t n_chased; /* accesses of the kind that is asked for */
    bool has_code, has_frame, many_columns;
    const char *file, *other; /* two files of the same name */
};

/* The modules are DH_CONTROL_MODULES at most. */
void dh_chase_sites_look(const struct dh_chase_module *modules, size_t n, const struct dh_chase_position *at,
                         struct dh_chase_found *ret);
/* The same for a position that no person has written: if there is nothing, then directories of another
 * machine and columns of another compiler do not count. *at becomes what was found. */
void dh_chase_sites_look_leniently(const struct dh_chase_module *modules, size_t n,
                                   struct dh_chase_position *at, struct dh_chase_found *ret);
/* What was found of these kinds, on this side (DH_CONTROL_FIRST, _SECOND). False: there are too many. */
bool dh_chase_sites_add(struct dh_chase_sites *sites, const struct dh_chase_module *modules, size_t n,
                        u8 kinds, const struct dh_chase_found *found, u8 side);
/* And what else takes part, because it orders threads. The same. */
bool dh_chase_sites_add_atomics(struct dh_chase_sites *sites, const struct dh_chase_module *module,
                                const struct dh_chase_accesses *atomics);
/* Does one of the two sides write? */
bool dh_chase_sites_can_conflict(const struct dh_chase_sites *sites);

#endif
