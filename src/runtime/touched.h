/*
 * touched.h - where nothing was ever recorded, roughly: a byte for each megabyte of the program's memory,
 * modulo so many. Clearing and copying histories of memory that has none is most of what a run-time system
 * asks for where few accesses are looked at, and should cost nothing.
 *
 * Invariant: a cell that is not zero is in a megabyte that is marked. Marks are never taken away.
 */
#ifndef DH_RUNTIME_TOUCHED_H
#define DH_RUNTIME_TOUCHED_H

#include "base/base.h"

#define DH_TOUCHED_SHIFT 20
#define DH_TOUCHED 4096u

extern u8 dh_touched[DH_TOUCHED]; /* 0 or 1; written by anybody */

DH_INLINE u8 *dh_touched_mark(uptr addr)
{
    return &dh_touched[(addr >> DH_TOUCHED_SHIFT) % DH_TOUCHED];
}

/* Something is about to be recorded of [addr, addr + n). n may be 0. */
void dh_touched_set(uptr addr, size_t n);
DH_INLINE void dh_touched_note(uptr addr, size_t n)
{
    bool ends = __atomic_load_n(dh_touched_mark(addr), __ATOMIC_RELAXED) &&
                __atomic_load_n(dh_touched_mark(addr + n), __ATOMIC_RELAXED);
    if (DH_UNLIKELY(!ends || n > 1u << DH_TOUCHED_SHIFT))
        dh_touched_set(addr, n);
}

/* The same for an access that is aligned. */
DH_INLINE void dh_touched_note_within(uptr addr)
{
    if (DH_UNLIKELY(!__atomic_load_n(dh_touched_mark(addr), __ATOMIC_RELAXED)))
        dh_touched_set(addr, 1);
}

/* False: nothing is recorded of [addr, addr + n). */
bool dh_touched_any(uptr addr, size_t n);

#endif
