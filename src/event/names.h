/*
 * names.h - strings and their dense numbers, in order of first appearance.
 *
 * Names up to seven bytes are their own key, so that finding one again compares no text.
 */
#ifndef DH_EVENT_NAMES_H
#define DH_EVENT_NAMES_H

#include "base/base.h"

struct dh_name {
    u64 key;    /* packed text of a short name, else a hash */
    u32 number; /* + 1; 0: empty slot */
    u32 len;
};

/* All zero is a valid start. */
struct dh_names {
    struct dh_name *slots; /* open addressing */
    u64 *order;            /* by number: offset into text */
    char *text;            /* each name with a final 0 */
    u64 text_len, text_cap;
    u32 n;
    u32 cap; /* of slots; 0 or a power of two */
};

void dh_names_done(struct dh_names *t);
/* The number of a name, a new one if it is new. UINT32_MAX: no memory, or 2^31 names. */
u32 dh_names_intern(struct dh_names *t, const char *s, size_t len);
/* The same in two halves, for callers that can do something else while memory is fetched: the key, which
 * changes nothing, and the number. Eight bytes at s must be readable. */
u64 dh_names_soon(const struct dh_names *t, const char *s, size_t len);
u32 dh_names_intern_key(struct dh_names *t, const char *s, size_t len, u64 key);
/* The number of a name that must be there already; UINT32_MAX: it is not. */
u32 dh_names_find(const struct dh_names *t, const char *s, size_t len);
const char *dh_names_get(const struct dh_names *t, u32 number); /* "?" if there is no such number */

#endif
