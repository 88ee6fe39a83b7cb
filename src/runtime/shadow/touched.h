/*
 * touched.h - where anything was ever recorded, and by whom: a word of marks for each block of 16 KB of the
 * program's memory.
 *
 *   bits 0-7    class c has read there: a write must look at the read plane of that class
 *   bits 8-15   cells of read plane c were stored: by reads of class c, or by its writes, which stand
 *               for reads
 *   bit 16      cells of the write plane were stored
 *   bit 17      several classes have marked it, and all know (exclusive.h)
 *
 * A class whose plane holds nothing but writes there is none that a write must look at: the write plane has
 * these writes too, or later ones that were checked against them.
 *
 * Clearing and copying histories of memory that has none is most of what a run-time system asks for where few
 * accesses are looked at, and should cost nothing.
 *
 * Whoever marks a block also asks the kernel for the pages of its shadow, in programs that use much memory. A
 * page that the inlined check reads before anything is stored there is mapped twice: the kernel's page of
 * zeros, then one of its own, for which it interrupts every processor that runs a thread of the program.
 *
 * Invariants: a plane that is marked is mapped there. A cell that is not zero is in a block that is marked
 * for its plane, and one with a read in it in a block marked for its class, before the cell is stored. Marks
 * are set by a locked instruction and never taken away: a write that looks at the marks after it was
 * published finds every class that could have missed it.
 */
#ifndef DH_RUNTIME_SHADOW_TOUCHED_H
#define DH_RUNTIME_SHADOW_TOUCHED_H

#include "runtime/abi/abi.h"

#define DH_TOUCHED_SHIFT 14
#define DH_TOUCHED_LEAF_SHIFT 20 /* blocks per leaf */
#define DH_TOUCHED_LEAVES (1u << (47 - DH_TOUCHED_LEAF_SHIFT - DH_TOUCHED_SHIFT))

#define DH_TOUCHED_READERS ((1u << DH_READ_CLASSES) - 1)
#define DH_TOUCHED_WRITES (1u << (2 * DH_READ_CLASSES))
#define DH_TOUCHED_SHARED (1u << (2 * DH_READ_CLASSES + 1))
#define DH_TOUCHED_PLANES (DH_TOUCHED_READERS << DH_READ_CLASSES)
/* What an access of a thread of class c marks; a write is put into both its planes. */
#define DH_TOUCHED_BY_READ(c) (((1u << DH_READ_CLASSES) | 1u) << (c))
#define DH_TOUCHED_BY_WRITE(c) (DH_TOUCHED_WRITES | (1u << DH_READ_CLASSES) << (c))
_Static_assert(2 * DH_READ_CLASSES + 2 <= 32, "the marks of a block are one u32");

extern u32 *dh_touched[DH_TOUCHED_LEAVES]; /* each set once, when its first block is marked */

DH_INLINE u32 dh_touched_mark(uptr addr)
{
    const u32 *leaf = __atomic_load_n(
        &dh_touched[addr >> (DH_TOUCHED_LEAF_SHIFT + DH_TOUCHED_SHIFT) & (DH_TOUCHED_LEAVES - 1)],
        __ATOMIC_ACQUIRE);
    uptr block = addr >> DH_TOUCHED_SHIFT & ((1u << DH_TOUCHED_LEAF_SHIFT) - 1);
    return DH_LIKELY(leaf != NULL) ? __atomic_load_n(&leaf[block], __ATOMIC_RELAXED) : 0;
}

/* Is plane n (dh_plane_nth) among those that were stored to, by these marks? */
DH_INLINE bool dh_touched_plane(u32 marks, u32 n)
{
    return marks >> (DH_READ_CLASSES + n) & 1;
}

/* Something is about to be recorded of [addr, addr + n). n may be 0. False: it cannot be, because there is no
 * room for some of its shadow (counted). */
bool dh_touched_set(uptr addr, size_t n, u32 mark);
DH_INLINE bool dh_touched_note(uptr addr, size_t n, u32 mark)
{
    bool ends = (dh_touched_mark(addr) & dh_touched_mark(addr + n - (n != 0)) & mark) == mark;
    return DH_LIKELY(ends && n <= 1u << DH_TOUCHED_SHIFT) || dh_touched_set(addr, n, mark);
}

/* The same for an access that is aligned. */
DH_INLINE bool dh_touched_note_within(uptr addr, u32 mark)
{
    return DH_LIKELY((dh_touched_mark(addr) & mark) == mark) || dh_touched_set(addr, 1, mark);
}

/* The marks of all blocks of [addr, addr + n). 0: nothing is recorded there. */
u32 dh_touched_any(uptr addr, size_t n);

#endif
