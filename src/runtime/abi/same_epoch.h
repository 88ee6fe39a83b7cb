/*
 * same_epoch.h - the test of every access: did this thread make such an access to these bytes in its current
 * epoch? Inlined into the program by fastpath.c, and into what other compilers call by compat/fastpath.c.
 *
 * Why subtract-and-compare instead of equality: the ids of one epoch are consecutive, one per
 * calling context, so a range test accepts all of them (docs/design/engine.md).
 */
#ifndef DH_RUNTIME_ABI_SAME_EPOCH_H
#define DH_RUNTIME_ABI_SAME_EPOCH_H

#include "runtime/abi/abi.h"

/* How far the cell of an address is from the ids of this epoch; below __dh_hot.span: a hit. */
DH_INLINE u32 dh_distance(uptr addr, enum dh_plane plane)
{
    const u32 *cell = (const u32 *)dh_plane_of(addr & ~(uptr)3, plane);
    return __atomic_load_n(cell, __ATOMIC_RELAXED) - __dh_hot.base;
}

/* Of four bytes that the compiler takes for aligned. Where the program broke that promise (by a cast of any
 * address to that of an int), parts of two cells are read as one, which is no id of this epoch; the slow path
 * then looks at the address. The same goes for eight bytes. */
DH_INLINE u32 dh_distance4(uptr addr, enum dh_plane plane)
{
    return __atomic_load_n((const u32 *)dh_plane_of(addr, plane), __ATOMIC_RELAXED) - __dh_hot.base;
}

DH_INLINE u32 dh_distance8(uptr addr, enum dh_plane plane)
{
    u64 two = __atomic_load_n((const u64 *)dh_plane_of(addr, plane), __ATOMIC_RELAXED);
    return ((u32)two - __dh_hot.base) | ((u32)(two >> 32) - __dh_hot.base);
}

/*
 * Several cells are one test of their distances or-ed together, which is never below the largest of them.
 * Cells of different calling contexts of one epoch may fail it although each would pass, but only when the
 * ids taken are nearly used up, and then the slow path finds out. One branch a check instead of one a cell is
 * less code for the backend and for the processor.
 */
DH_INLINE u32 dh_distance_any(uptr addr, u64 n, enum dh_plane plane)
{
    u32 d = dh_distance(addr, plane) | dh_distance(addr + n - 1, plane);
    for (u64 at = 4; at < 16; at += 4)
        if (at < n - 1)
            d |= dh_distance(addr + at, plane);
    return d;
}

#endif
