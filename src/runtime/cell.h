/*
 * cell.h - what a 32-bit shadow cell holds.
 *
 *   bit 31      0: one access        1: an interned history (history.h)
 *   bits 30-27  byte mask of the 4 application bytes     bits 30-0: index of the history
 *   bits 26-0   access id (ids.h); 0 with mask 0: never accessed
 *
 * The mask stands above the id so that one subtract-and-compare tests "all four bytes, by an id of my
 * current epoch" (fastpath.c). Overflow: ids are recycled by collect.c; if all 2^27 - 1 are live the
 * access is dropped and counted (LOST_IDS). Equal cells mean equal histories: cells can be compared
 * and memoised as plain numbers.
 */
#ifndef DH_RUNTIME_CELL_H
#define DH_RUNTIME_CELL_H

#include "base/base.h"

#define DH_ID_BITS 27
#define DH_ID_MAX ((1u << DH_ID_BITS) - 1)
#define DH_MASK_FULL 15u
#define DH_CELL_HISTORY (1u << 31)

DH_INLINE u32 dh_cell_make(u32 id, u32 mask)
{
    return mask << DH_ID_BITS | id;
}

DH_INLINE bool dh_cell_is_history(u32 c)
{
    return (c & DH_CELL_HISTORY) != 0;
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

#endif
