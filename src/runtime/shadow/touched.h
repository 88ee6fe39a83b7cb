/*
 * touched.h - where nothing was ever recorded, roughly: a byte for each 16 KB of the program's memory, modulo
 * so many. Clearing and copying histories of memory that has none is most of what a run-time system asks for
 * where few accesses are looked at, and should cost nothing.
 *
 * Whoever marks a block also asks the kernel for the pages of its shadow, in programs that use much memory. A
 * page that the inlined check reads before anything is stored there is mapped twice: the kernel's page of
 * zeros, then one of its own, for which it interrupts every processor that runs a thread of the program.
 *
 * Invariant: a cell that is not zero is in a block that is marked. Marks are never taken away.
 */
#ifndef DH_RUNTIME_SHADOW_TOUCHED_H
#define DH_RUNTIME_SHADOW_TOUCHED_H

#include "base/base.h"

#define DH_TOUCHED_SHIFT 14
#define DH_TOUCHED (1u << 18)

/* What a mark says: cells of which plane were stored. A write is put into both. */
enum { DH_TOUCHED_READ = 1, DH_TOUCHED_WRITE = 3 };

extern u8 dh_touched[DH_TOUCHED]; /* written by anybody; a bit that is lost is found missing, and set again */

DH_INLINE u8 dh_touched_mark(uptr addr)
{
    return __atomic_load_n(&dh_touched[(addr >> DH_TOUCHED_SHIFT) % DH_TOUCHED], __ATOMIC_RELAXED);
}

/* Something is about to be recorded of [addr, addr + n). n may be 0. */
void dh_touched_set(uptr addr, size_t n, u8 mark);
DH_INLINE void dh_touched_note(uptr addr, size_t n, u8 mark)
{
    bool ends = (dh_touched_mark(addr) & dh_touched_mark(addr + n) & mark) == mark;
    if (DH_UNLIKELY(!ends || n > 1u << DH_TOUCHED_SHIFT))
        dh_touched_set(addr, n, mark);
}

/* The same for an access that is aligned. */
DH_INLINE void dh_touched_note_within(uptr addr, u8 mark)
{
    if (DH_UNLIKELY((dh_touched_mark(addr) & mark) != mark))
        dh_touched_set(addr, 1, mark);
}

/* False: nothing is recorded of [addr, addr + n). */
bool dh_touched_any(uptr addr, size_t n);

#endif
