/*
 * search.h - binary search in rows sorted by a 64-bit member.
 */
#ifndef DH_BASE_SEARCH_H
#define DH_BASE_SEARCH_H

#include "base/base.h"

#include <stddef.h>

/* How many of the n rows have a key of at most `key`: the last such row is at that index minus 1. `at` is the
 * offset of the key in a row of `size` bytes. */
DH_INLINE size_t dh_search_upto(const void *rows, size_t n, size_t size, size_t at, u64 key)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        u64 here;
        __builtin_memcpy(&here, (const char *)rows + mid * size + at, sizeof(here));
        if (here <= key)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The same by the name of the member. */
#define DH_SEARCH_UPTO(rows, n, member, key) \
    dh_search_upto((rows), (n), sizeof(*(rows)), offsetof(__typeof__(*(rows)), member), (key))

/* How many have a key below `key`: the index of the first that does not. */
#define DH_SEARCH_BELOW(rows, n, member, key) ((key) ? DH_SEARCH_UPTO(rows, n, member, (key) - 1) : (size_t)0)

#endif
