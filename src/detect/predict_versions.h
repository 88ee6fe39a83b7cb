/*
 * predict_versions.h - the predecessors of events as numbered immutable vectors: how many events of each
 * thread.
 *
 * A version usually differs from an earlier one in the entries of a few threads. So versions are in pages:
 * the first of a page in full, those that follow as successive changes. A version is its page up to some
 * length. It can only follow another on its page if that one is the last there and nowhere greater; anything
 * else begins a page. With 113 threads one takes 90 bytes instead of 452.
 */
#ifndef DH_DETECT_PREDICT_VERSIONS_H
#define DH_DETECT_PREDICT_VERSIONS_H

#include "detect/detector.h"

struct dh_version {
    u32 page;
    u32 changes; /* how many of those on the page are part of it */
};

/* All zero but `d` and `threads` is a valid start; freed with the detector. */
struct dh_versions {
    struct dh_detector *d;
    u32 threads;
    struct dh_version *items;
    u32 n, cap;
    u32 **chunks; /* of pages */
    u32 n_pages, cap_chunks;
    u32 *last; /* used by dh_versions_add: the version that is continued */
};

/* The most threads that a change has room for. */
enum { DH_VERSION_THREADS = 4096 };

/* A version with these counts, none of which is below that of version `from`; UINT32_MAX for `from`: it is
 * like no other. UINT32_MAX: no memory. */
u32 dh_versions_add(struct dh_versions *v, u32 from, const u32 *counts);
u32 dh_versions_get(const struct dh_versions *v, u32 version, u32 t);
/* Is the count of thread t above `count`? */
bool dh_versions_has(const struct dh_versions *v, u32 version, u32 t, u32 count);
/* counts := counts joined with the version. */
void dh_versions_join(const struct dh_versions *v, u32 version, u32 *counts);
/* Is it nowhere above these counts, ignoring thread `but`? */
bool dh_versions_within(const struct dh_versions *v, u32 version, const u32 *counts, u32 but);

#endif
