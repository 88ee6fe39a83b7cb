/*
 * touched.c - see touched.h.
 */
#include "runtime/shadow/touched.h"

#include "base/sys.h"
#include "runtime/abi/abi.h"

/* Below so many blocks a program is small, and pages that it may never need would show in its memory. */
enum { FEW = 256 };

u8 dh_touched[DH_TOUCHED];
static u32 blocks; /* marked so far; atomic, may miss a few */

static void get_pages(uptr block, u8 fresh)
{
    uptr addr = block << DH_TOUCHED_SHIFT;
    size_t n = (size_t)1 << DH_TOUCHED_SHIFT;
    if (fresh & DH_TOUCHED_READ)
        dh_sys_populate((uptr)dh_plane_of(addr, DH_PLANE_READ), n);
    if (fresh & DH_TOUCHED_WRITE & ~DH_TOUCHED_READ)
        dh_sys_populate((uptr)dh_plane_of(addr, DH_PLANE_WRITE), n);
}

void dh_touched_set(uptr addr, size_t n, u8 mark)
{
    uptr first = addr >> DH_TOUCHED_SHIFT, last = (addr + n) >> DH_TOUCHED_SHIFT;
    for (uptr i = first; i <= last && i - first < DH_TOUCHED; i++) {
        u8 *p = &dh_touched[i % DH_TOUCHED], had = __atomic_load_n(p, __ATOMIC_RELAXED);
        if ((had & mark) == mark)
            continue;
        __atomic_store_n(p, had | mark, __ATOMIC_RELAXED);
        u32 n_blocks = __atomic_add_fetch(&blocks, had == 0, __ATOMIC_RELAXED);
        /* Long ranges see to their pages themselves (range.c). */
        if (n_blocks > FEW && n < (size_t)1 << DH_TOUCHED_SHIFT)
            get_pages(i, mark & ~had);
    }
}

bool dh_touched_any(uptr addr, size_t n)
{
    uptr first = addr >> DH_TOUCHED_SHIFT, last = (addr + n) >> DH_TOUCHED_SHIFT;
    for (uptr i = first; i <= last && i - first < DH_TOUCHED; i++)
        if (__atomic_load_n(&dh_touched[i % DH_TOUCHED], __ATOMIC_RELAXED))
            return true;
    return false;
}
