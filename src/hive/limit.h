/*
 * limit.h - rate limiting: token buckets in a table of fixed size.
 *
 * Two clients that share an entry take it from each other, which at worst forgives what was spent. The caller
 * does the locking.
 */
#ifndef DH_HIVE_LIMIT_H
#define DH_HIVE_LIMIT_H

#include "base/base.h"

enum { DH_HIVE_LIMIT_ENTRIES = 1 << 14 };

struct dh_hive_limit {
    double per_second, burst;
    struct {
        u64 who, last_us;
        double left;
    } entries[DH_HIVE_LIMIT_ENTRIES];
};

/* May `who` (a hash, not 0) send a request now? Counts it if so. */
bool dh_hive_limit_ask(struct dh_hive_limit *l, u64 who, u64 now_us);

#endif
