/*
 * found.h - what one detector has found, counted by event, variable and pair of sites.
 *
 * Grows with the number of distinct variables and pairs, not with the number of reports.
 */
#ifndef DH_DETECT_FOUND_H
#define DH_DETECT_FOUND_H

#include "detect/detector.h"

/* A set of numbers below 2^64 - 1; open addressing, 0 is an empty slot, a number is stored + 1. */
struct dh_found_set {
    u64 *slots;
    u64 n;
    u64 cap;  /* 0 or a power of two */
    u64 last; /* as stored: spares the look-up when a loop races over and over */
};

struct dh_found {
    u64 reports;
    u64 racy_events;
    u64 variables;
    u64 first_event;
    u64 last_event;
    struct dh_table seen;       /* one byte per variable */
    struct dh_found_set pairs;  /* of sites, the smaller in the high half */
    struct dh_found_set places; /* sites of the later accesses */
};

void dh_found_init(struct dh_found *f);
void dh_found_done(struct dh_found *f);
/* False: no memory; counts may be too low from here on. */
bool dh_found_add(struct dh_found *f, const struct dh_race *race);

#endif
