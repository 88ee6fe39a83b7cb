/*
 * handles.h - assertions about the runtime's cells, for unit tests.
 */
#ifndef DH_TESTS_UNIT_HANDLES_H
#define DH_TESTS_UNIT_HANDLES_H

#include "runtime/shadow/cell.h"
#include "unit/check.h"

#define assert_cell_equal(a, b) assert_int_equal(dh_cell_raw(a), dh_cell_raw(b))

#endif
