/*
 * sites.h - from positions in the source to the instructions to chase.
 */
#ifndef DH_CHASE_SITES_H
#define DH_CHASE_SITES_H

#include "chase/target.h"

/* Everything found at one position, in all modules. */
struct dh_chase_found {
    struct dh_chase_accesses in[DH_CONTROL_MODULES];
    size_t n_chased; /* accesses of the requested kind */
    bool has_code, has_frame, many_columns;
    const char *file, *other; /* two files of the same name */
};

/* There are at most DH_CONTROL_MODULES modules. */
void dh_chase_sites_look(const struct dh_chase_module *modules, size_t n, const struct dh_chase_position *at,
                         struct dh_chase_found *ret);
/* The same for a machine-written position: if nothing matches, directories (perhaps of another machine) and
 * columns (perhaps of another compiler) are ignored. *at becomes what was found. */
void dh_chase_sites_look_leniently(const struct dh_chase_module *modules, size_t n,
                                   struct dh_chase_position *at, struct dh_chase_found *ret);
/* Adds the accesses of these kinds to this side (DH_CONTROL_FIRST, _SECOND). False: there are too many. */
bool dh_chase_sites_add(struct dh_chase_sites *sites, const struct dh_chase_module *modules, size_t n,
                        u8 kinds, const struct dh_chase_found *found, u8 side);
/* Adds other instructions that take part because they order threads. Same result. */
bool dh_chase_sites_add_atomics(struct dh_chase_sites *sites, const struct dh_chase_module *module,
                                const struct dh_chase_accesses *atomics);
/* Does one of the two sides write? */
bool dh_chase_sites_can_conflict(const struct dh_chase_sites *sites);

#endif
