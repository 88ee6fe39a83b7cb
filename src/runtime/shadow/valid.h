/*
 * valid.h - what a cell, an id and a history must look like, in words that DH_ASSERT can ask.
 *
 * The definitions (valid.c) are in the checked runtime only; elsewhere nobody calls them. All of them are for
 * threads inside the runtime: outside it a collection may free what a cell names.
 */
#ifndef DH_RUNTIME_SHADOW_VALID_H
#define DH_RUNTIME_SHADOW_VALID_H

#include "clock/vclock.h"
#include "runtime/abi/abi.h"
#include "runtime/shadow/cell.h"

struct dh_bytes; /* split.h */

/* An id that may stand in a cell: taken, with a record, of a slot and a clock that there can be. */
bool dh_valid_id(dh_id_t id);
/* Entries of a history: rising by id, each with some bytes. */
bool dh_valid_entries(const dh_cell_t *entries, u32 n);
/* The cell of one byte in a split one: all four bits of the mask, no further split, nothing that changes in
 * place. */
bool dh_valid_byte(dh_cell_t cell);
/* A cell as it may stand in this plane: writes in the write plane; in the read plane reads, and plain writes
 * that stand for reads. Of a split one only its number is looked at. */
bool dh_valid_cell(dh_cell_t cell, enum dh_plane plane);
/* A cell in a block that one thread has to itself (exclusive.h), whose clock is vc: all in it is its own, or
 * has happened before. Of a split one nothing is looked at. */
bool dh_valid_own(dh_cell_t cell, const struct dh_vclock *vc);
/* The bytes that were read from a split cell of this plane. */
bool dh_valid_bytes(const struct dh_bytes *bytes, enum dh_plane plane);

#endif
