/*
 * narrow.h - reduces a table of pairs to those in dpPairs, using a filter file of `deadheat caper export
 * --to=filter`. The table may come from another build than the file, namely a field build of the same
 * sources: sites are identified by their ids.
 */
#ifndef DH_CAPER_NARROW_H
#define DH_CAPER_NARROW_H

#include "report/pairs.h"

struct dh_caper_narrowed {
    u8 *bytes; /* the remaining table, from malloc */
    size_t n_bytes;
    u64 sites;         /* of the table that are in a pair */
    u64 escaped;       /* ... and have escaped, according to the file */
    u64 unknown;       /* ... and are not in the file; they count as not escaped */
    u64 before, after; /* pairs of sites: of the set sound, and of those in dpPairs */
};

/* Nothing in the bytes and in the text is trusted. 0, or -1 with *ret_why: what is wrong with the file,
 * worded to follow its name. */
int dh_caper_narrow(const void *bytes, size_t len, const char *filter, struct dh_caper_narrowed *ret,
                    const char **ret_why);

#endif
