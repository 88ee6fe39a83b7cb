/*
 * pairs_impl.h - what the files pairs*.c share in addition to pairs.h.
 */
#ifndef DH_REPORT_PAIRS_IMPL_H
#define DH_REPORT_PAIRS_IMPL_H

#include "report/pairs.h"

/* Whether the element at a position equals the key; the hash of the element at a position. */
typedef bool dh_pairs_equal(const struct dh_pairs *p, u32 at, const void *key);
typedef u64 dh_pairs_hash(const struct dh_pairs *p, u32 at);

/* pairs_index.c: the first position that equals the key, or DH_PAIRS_NONE. */
u32 dh_pairs_index_find(const struct dh_pairs *p, const struct dh_pairs_index *index, u64 hash,
                        dh_pairs_equal *equal, const void *key);
/* Enters position `at`, which is one more than the largest entered so far. */
void dh_pairs_index_enter(struct dh_pairs *p, struct dh_pairs_index *index, u32 at, dh_pairs_hash *hash);

/* No string of a table contains such a character. */
bool dh_pairs_is_control(char c);
/* DH_PAIRS_NONE if it is not interned. */
u32 dh_pairs_string_index(const struct dh_pairs *p, const char *s);

/* Strings must be interned, the ordinal set and the sides in order, as they were written. False if there is
 * an equal one, which never happens in a table that we wrote. */
bool dh_pairs_put_site(struct dh_pairs *p, const struct dh_pairs_site *site);
bool dh_pairs_put_pair(struct dh_pairs *p, const struct dh_pairs_pair *pair);

/* Merges another occurrence into the pair at `at` (pairs_merge.c). */
void dh_pairs_merge(struct dh_pairs *p, u32 at, const struct dh_pairs_pair *again);

#endif
