/*
 * openmp.h - where the run-time system of OpenMP is, if the program has one.
 *
 * libomp is compiled by nobody we know. It guards its data by atomics that are not seen, so what it passes to
 * libc, mutexes that it initialises at the first use for one, would be reported as its races, which are none
 * of the program's. Interceptors that it calls therefore order as ever, and access nothing. What libomp
 * orders for the program is told by a tool of LLVM's, libarcher (docs/guide/openmp.md).
 */
#ifndef DH_RUNTIME_THREADS_OPENMP_H
#define DH_RUNTIME_THREADS_OPENMP_H

#include "base/base.h"

enum { DH_OPENMP_MAX = 4 };
struct dh_openmp_range {
    uptr lo, hi;
};
/* Written under the modules' lock, read by all without one. */
extern DH_HIDDEN struct dh_openmp_range dh_openmp_ranges[DH_OPENMP_MAX];
extern DH_HIDDEN u32 dh_openmp_n;

/* Is pc in it? */
DH_INLINE bool dh_openmp_has(const void *pc)
{
    for (u32 i = 0, n = __atomic_load_n(&dh_openmp_n, __ATOMIC_ACQUIRE); DH_UNLIKELY(i < n); i++)
        if ((uptr)pc - dh_openmp_ranges[i].lo < dh_openmp_ranges[i].hi - dh_openmp_ranges[i].lo)
            return true;
    return false;
}

/* Does the file belong to it? */
bool dh_openmp_is(const char *path);
/* These are all its modules that are loaded now; at most DH_OPENMP_MAX. Under the modules' lock. */
void dh_openmp_set(const struct dh_openmp_range *ranges, u32 n);

#endif
