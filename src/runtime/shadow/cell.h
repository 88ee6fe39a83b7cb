/*
 * cell.h - what a 32-bit shadow cell holds.
 *
 *   bit 31      0: one access                            1: more than one can say
 *   bits 30-27  byte mask of the 4 application bytes     bit 30: 0: an interned history (history.h)
 *   bits 26-0   access id (ids.h); 0 with mask 0:                1: a cell for each byte (split.h)
 *               never accessed                           bits 29-0: its index
 *
 * The mask stands above the id so that one subtract-and-compare tests "all four bytes, by an id of my
 * current epoch" (fastpath.c). Overflow: ids are recycled by collect.c; if all 2^27 - 1 are live the
 * access is dropped and counted (LOST_IDS). Equal cells mean equal histories: cells can be compared
 * and memoised as plain numbers; but for split ones, which belong to one word and change in place.
 */
#ifndef DH_RUNTIME_SHADOW_CELL_H
#define DH_RUNTIME_SHADOW_CELL_H

#include "base/base.h"

#define DH_ID_BITS 27
#define DH_ID_MAX ((1u << DH_ID_BITS) - 1)
#define DH_MASK_FULL 15u
#define DH_CELL_HISTORY (2u << 30)
#define DH_CELL_SPLIT (3u << 30)

/* In the write plane of a program that is sampled: nobody has written here, but somebody has read. The id is
 * none that any thread takes; its record says that it happened before everything (ids.c), so all rules hold
 * for it as for an old write. docs/design/sampling.md says who puts it there and who takes it away. */
#define DH_ID_READS 1u
#define DH_CELL_READS (DH_MASK_FULL << DH_ID_BITS | DH_ID_READS)

_Static_assert(DH_ID_BITS + 4 == 31, "id, a bit for each of four bytes, and the bit that says which form");
_Static_assert((DH_MASK_FULL << DH_ID_BITS | DH_ID_MAX) == ~DH_CELL_HISTORY, "one access never has bit 31");

DH_INLINE u32 dh_cell_make(u32 id, u32 mask)
{
    return mask << DH_ID_BITS | id;
}

/* One access, or none. */
DH_INLINE bool dh_cell_is_simple(u32 c)
{
    return c >> 31 == 0;
}

DH_INLINE bool dh_cell_is_history(u32 c)
{
    return c >> 30 == DH_CELL_HISTORY >> 30;
}

DH_INLINE bool dh_cell_is_split(u32 c)
{
    return c >> 30 == DH_CELL_SPLIT >> 30;
}

DH_INLINE u32 dh_cell_id(u32 c)
{
    return c & DH_ID_MAX;
}

DH_INLINE u32 dh_cell_mask(u32 c)
{
    return (c >> DH_ID_BITS) & DH_MASK_FULL;
}

DH_INLINE u32 dh_cell_history_index(u32 c)
{
    return c & ~DH_CELL_HISTORY;
}

DH_INLINE u32 dh_cell_split_index(u32 c)
{
    return c & ~DH_CELL_SPLIT;
}

#endif
