/*
 * handles.h - the runtime's cells and ids from plain numbers, and back; for unit tests, in which they are counted
 * through and compared.
 */
#ifndef DH_TESTS_UNIT_HANDLES_H
#define DH_TESTS_UNIT_HANDLES_H

#include "runtime/shadow/cell.h"
#include "unit/check.h"

#define assert_cell_equal(a, b) assert_int_equal(dh_cell_raw(a), dh_cell_raw(b))

/* One access to the bytes of mask. */
static inline dh_cell_t cell_of(u32 id, u32 mask)
{
    return dh_cell_make(dh_id_from(id), dh_mask_from(mask));
}

static inline u32 id_of(dh_cell_t cell)
{
    return dh_id_raw(dh_cell_id(cell));
}

#endif
