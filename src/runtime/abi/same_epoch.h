/*
 * same_epoch.h - the test of every access: did this thread make such an access to these bytes in its current
 * epoch? Inlined into the program by fastpath.c, and into the functions that other compilers call by
 * compat/fastpath.c.
 *
 * Why subtract-and-compare instead of equality: the ids of one epoch are consecutive, one per
 * calling context, so a range test accepts all of them (docs/design/engine.md).
 */
#ifndef DH_RUNTIME_ABI_SAME_EPOCH_H
#define DH_RUNTIME_ABI_SAME_EPOCH_H

#include "runtime/abi/abi.h"

/* The distance of an address's cell from the ids of this epoch; below __dh_hot.span: a hit. flip is that of
 * the plane, bases is __dh_hot.bases, of which one cell needs the lower half; a test of several accesses
 * loads them only once. */
DH_INLINE u32 dh_far(uptr addr, u64 flip, u64 bases)
{
    return __atomic_load_n((const u32 *)((addr & ~(uptr)3) ^ flip), __ATOMIC_RELAXED) - (u32)bases;
}

/* For four bytes that the compiler assumes to be aligned. If the program breaks that promise (by casting an
 * arbitrary address to int *), parts of two cells are read as one, which is no id of this epoch; the slow
 * path then checks the address. The same goes for eight bytes. */
DH_INLINE u32 dh_far4(uptr addr, u64 flip, u64 bases)
{
    return __atomic_load_n((const u32 *)(addr ^ flip), __ATOMIC_RELAXED) - (u32)bases;
}

/* For two cells at once, one in each half. If the lower difference borrows from the upper one, its cell is
 * below the base, which has the full byte mask in its upper bits: then the lower difference is 2^31 or more,
 * beyond every span, and the upper one does not matter. */
DH_INLINE u64 dh_far8(uptr addr, u64 flip, u64 bases)
{
    return __atomic_load_n((const u64 *)(addr ^ flip), __ATOMIC_RELAXED) - bases;
}

/*
 * Several cells take one test of their distances or-ed together, which is never below the largest of them.
 * Cells of different calling contexts of one epoch may fail it although each would pass, but only when the
 * current ids are nearly used up, and then the slow path finds out. One branch per check instead of one per
 * cell means less code for the backend and for the processor.
 */
DH_INLINE u32 dh_farthest(u64 far)
{
    return (u32)far | (u32)(far >> 32);
}

/* Any alignment, up to 16 bytes. */
DH_INLINE u32 dh_far_any(uptr addr, u64 n, u64 flip, u64 bases)
{
    u32 far = dh_far(addr, flip, bases) | dh_far(addr + n - 1, flip, bases);
    for (u64 at = 4; at < 16; at += 4)
        if (at < n - 1)
            far |= dh_far(addr + at, flip, bases);
    return far;
}

/* The same for a single access, by plane. */
DH_INLINE u32 dh_distance(uptr addr, enum dh_plane plane)
{
    return dh_far(addr, dh_plane_flip(plane), __dh_hot.base);
}

DH_INLINE u32 dh_distance4(uptr addr, enum dh_plane plane)
{
    return dh_far4(addr, dh_plane_flip(plane), __dh_hot.base);
}

DH_INLINE u32 dh_distance8(uptr addr, enum dh_plane plane)
{
    return dh_farthest(dh_far8(addr, dh_plane_flip(plane), __dh_hot.bases));
}

DH_INLINE u32 dh_distance_any(uptr addr, u64 n, enum dh_plane plane)
{
    return dh_far_any(addr, n, dh_plane_flip(plane), __dh_hot.base);
}

#endif
