/*
 * touched.c - see touched.h.
 */
#include "runtime/touched.h"

u8 dh_touched[DH_TOUCHED];

void dh_touched_set(uptr addr, size_t n)
{
    uptr first = addr >> DH_TOUCHED_SHIFT, last = (addr + n) >> DH_TOUCHED_SHIFT;
    for (uptr i = first; i <= last && i - first < DH_TOUCHED; i++)
        __atomic_store_n(&dh_touched[i % DH_TOUCHED], 1, __ATOMIC_RELAXED);
}

bool dh_touched_any(uptr addr, size_t n)
{
    uptr first = addr >> DH_TOUCHED_SHIFT, last = (addr + n) >> DH_TOUCHED_SHIFT;
    for (uptr i = first; i <= last && i - first < DH_TOUCHED; i++)
        if (__atomic_load_n(&dh_touched[i % DH_TOUCHED], __ATOMIC_RELAXED))
            return true;
    return false;
}
