/*
 * touched.h - where anything was ever recorded, and by whom: a word of marks for each block of 16 KB of the
 * program's memory.
 *
 *   bits 0-7    class c has read there: a write must check the read plane of that class
 *   bits 8-15   cells of read plane c were stored: by reads of class c, or by its writes, which stand
 *               for reads
 *   bit 16      cells of the write plane were stored
 *   bit 17      several classes have marked it, and all of them know that (exclusive.h)
 *
 * A write need not check the plane of a class that has only written there: the write plane has these writes
 * too, or later ones that were checked against them.
 *
 * The marks also make it cheap to clear or copy the history of memory that has none, which is most of what a
 * language runtime asks for when few accesses are instrumented.
 *
 * In programs that use much memory, marking a block also populates the pages of its shadow. A page that the
 * inlined check reads before anything is stored there is mapped twice: first the kernel's zero page, then a
 * page of its own, with a TLB shootdown on every processor that runs a thread of the program.
 *
 * Invariants: a plane that is marked is mapped there. Before a non-zero cell is stored, its block is marked
 * for its plane, and if it contains a read, for its class. Marks are set by a locked instruction and never
 * removed: a write that loads the marks after it was published finds every class that could have missed it.
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
/* What an access of a thread of class c marks; a write is stored in both of its planes. */
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

/* Do the marks say that plane n (dh_plane_nth) was stored to? */
DH_INLINE bool dh_touched_plane(u32 marks, u32 n)
{
    return marks >> (DH_READ_CLASSES + n) & 1;
}

/* Something is about to be recorded for [addr, addr + n). n may be 0. False: impossible, because some of its
 * shadow cannot be mapped (counted). */
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
