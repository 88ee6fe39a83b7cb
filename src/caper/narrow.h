/*
 * narrow.h - a table of pairs without those that are not in dpPairs, by a filter file of `deadheat caper
 * export --to=filter`. The table may be of another build than the file, a field build of the same sources:
 * sites are known by their ids.
 */
#ifndef DH_CAPER_NARROW_H
#define DH_CAPER_NARROW_H

#include "report/pairs.h"

struct dh_caper_narrowed {
    u8 *bytes; /* the table that is left, from malloc */
    size_t n_bytes;
    u64 sites;         /* of the table that are in a pair */
    u64 escaped;       /* ... and have escaped, as the file says */
    u64 unknown;       /* ... and that the file does not know; they count as not escaped */
    u64 before, after; /* pairs of sites: of the set sound, and of those in dpPairs */
};

/* Nothing in the bytes and in the text is trusted. 0, or -1 and *ret_why: what is wrong with the file, to be
 * put behind its name. */
int dh_caper_narrow(const void *bytes, size_t len, const char *filter, struct dh_caper_narrowed *ret,
                    const char **ret_why);

#endif
