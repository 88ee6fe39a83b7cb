/*
 * pairs_impl.h - what the files pairs*.c share beyond pairs.h.
 */
#ifndef DH_REPORT_PAIRS_IMPL_H
#define DH_REPORT_PAIRS_IMPL_H

#include "report/pairs.h"

/* Whether the thing at a position is what the key says; the hash of the thing at a position. */
typedef bool dh_pairs_equal(const struct dh_pairs *p, u32 at, const void *key);
typedef u64 dh_pairs_hash(const struct dh_pairs *p, u32 at);

/* pairs_index.c: the first position that equals the key, or DH_PAIRS_NONE. */
u32 dh_pairs_index_find(const struct dh_pairs *p, const struct dh_pairs_index *index, u64 hash,
                        dh_pairs_equal *equal, const void *key);
/* Enters position `at`, one more than all that are there. */
void dh_pairs_index_enter(struct dh_pairs *p, struct dh_pairs_index *index, u32 at, dh_pairs_hash *hash);

/* No string of a table has such a character. */
bool dh_pairs_is_control(char c);
/* DH_PAIRS_NONE if it is not interned. */
u32 dh_pairs_string_index(const struct dh_pairs *p, const char *s);

/* With strings interned, an ordinal and sides in order, as they were written. False if there is an equal
 * one, which a table written by us does not have. */
bool dh_pairs_put_site(struct dh_pairs *p, const struct dh_pairs_site *site);
bool dh_pairs_put_pair(struct dh_pairs *p, const struct dh_pairs_pair *pair);

/* The pair at `at` is found again (pairs_merge.c). */
void dh_pairs_merge(struct dh_pairs *p, u32 at, const struct dh_pairs_pair *again);

#endif
