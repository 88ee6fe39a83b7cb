/*
 * openmp.h - where the OpenMP runtime is, if the program uses one.
 *
 * libomp is not instrumented. It protects its data by atomics that we do not see, so what it passes to libc,
 * such as mutexes that it initialises on first use, would be reported as races that are not the program's.
 * Interceptors that it calls therefore create ordering as usual, but record no accesses. The ordering that
 * libomp provides for the program is reported by LLVM's libarcher (docs/guide/openmp.md).
 *
 * libarcher has one mutex for its table of the program's locks, a variable of its own, and takes it before
 * every lock and unlock that it reports. If it counted, all critical sections would be ordered with each
 * other.
 */
#ifndef DH_RUNTIME_THREADS_OPENMP_H
#define DH_RUNTIME_THREADS_OPENMP_H

#include "base/base.h"

enum { DH_OPENMP_MAX = 4 };
struct dh_openmp_range {
    uptr lo, hi;
    uptr tool; /* 1: it is libarcher; else 0 */
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

/* Is this lock a variable of libarcher? It orders nothing in the program. */
DH_INLINE bool dh_openmp_owns(const void *lock)
{
    for (u32 i = 0, n = __atomic_load_n(&dh_openmp_n, __ATOMIC_ACQUIRE); DH_UNLIKELY(i < n); i++)
        if (dh_openmp_ranges[i].tool &&
            (uptr)lock - dh_openmp_ranges[i].lo < dh_openmp_ranges[i].hi - dh_openmp_ranges[i].lo)
            return true;
    return false;
}

/* Is the file part of it? *ret_tool: it is libarcher. */
bool dh_openmp_is(const char *path, bool *ret_tool);
/* Set the list of its loaded modules; at most DH_OPENMP_MAX. Under the modules' lock. */
void dh_openmp_set(const struct dh_openmp_range *ranges, u32 n);

#endif
