/*
 * alias.h - the pairs that the alias analysis has seen (base/alias.h): those of them that are in the set
 * `sound`, in a state of their own kind.
 */
#ifndef DH_CAPER_ALIAS_H
#define DH_CAPER_ALIAS_H

#include "caper/build.h"
#include "caper/sets.h"
#include "caper/state.h"

/* For a new run file: its size; its contents, returning the number of watched sites. */
size_t dh_caper_alias_size(const struct dh_caper_build *b);
u32 dh_caper_alias_fill(struct dh_alias_run *run, const struct dh_caper_build *b,
                        const struct dh_caper_sets *sets);
bool dh_caper_alias_is_whole(const struct dh_caper_run *run, u64 size);
/* Adds what a run has seen to the sets and the state. Returns how many pairs are new. */
u64 dh_caper_alias_merge(const struct dh_alias_run *run, size_t size, struct dh_caper_sets *sets,
                         struct dh_caper_state *state);
/* Adds the state's pairs that exist in the program to the sets; others are forgotten. Returns how many were
 * forgotten. */
u64 dh_caper_alias_load(struct dh_caper_sets *sets, struct dh_caper_state *state);
/* Keeps the pairs that were seen in the table; removes the others. */
void dh_caper_alias_choose(struct dh_pairs *table, const struct dh_caper_sets *s);

#endif
