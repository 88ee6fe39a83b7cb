/*
 * valid.h - predicates for DH_ASSERT: is a cell, an id or a history well-formed?
 *
 * The definitions (valid.c) are in the checked runtime only; other builds do not call them. Only for threads
 * inside the runtime: outside it a collection may free what a cell names.
 */
#ifndef DH_RUNTIME_SHADOW_VALID_H
#define DH_RUNTIME_SHADOW_VALID_H

#include "clock/vclock.h"
#include "runtime/abi/abi.h"
#include "runtime/shadow/cell.h"

struct dh_bytes; /* split.h */

/* An id that may be in a cell: taken, with a record whose slot and clock are possible. */
bool dh_valid_id(dh_id_t id);
/* Entries of a history: ascending by id, each with some bytes. */
bool dh_valid_entries(const dh_cell_t *entries, u32 n);
/* The cell of one byte in a split one: all four bits of the mask, no further split, nothing that changes in
 * place. */
bool dh_valid_byte(dh_cell_t cell);
/* A cell that may be in this plane: writes in the write plane; in the read plane reads, and plain writes that
 * stand for reads. For a split one only its number is checked. */
bool dh_valid_cell(dh_cell_t cell, enum dh_plane plane);
/* A cell in a block exclusive to a thread (exclusive.h) whose clock is vc: everything in it is its own, or
 * happened before. Split ones are not checked. */
bool dh_valid_own(dh_cell_t cell, const struct dh_vclock *vc);
/* The bytes that were read from a split cell of this plane. */
bool dh_valid_bytes(const struct dh_bytes *bytes, enum dh_plane plane);

#endif
