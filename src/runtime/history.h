/*
 * history.h - interned access histories, for cells that one access cannot describe: several readers that
 * are not ordered, bytes of one word with different last accesses, concurrent atomic writes.
 *
 * A history is an immutable sorted list of (id, byte mask) pairs; equal lists are the same object, so a cell
 * is compared and memoised by its number alone. Freed by collect.c when no cell holds it.
 */
#ifndef DH_RUNTIME_HISTORY_H
#define DH_RUNTIME_HISTORY_H

#include "base/lock.h"
#include "runtime/cell.h"

struct dh_history {
    u32 index; /* its own number */
    u32 next;  /* hash chain; under the shard's lock */
    u32 hash;
    u32 mark; /* collection that last saw it; atomic */
    u32 n;
    u32 cells[]; /* dh_cell_make(id, mask), rising by id, masks not 0 */
};

void dh_history_init(void);

/* The cell for these entries: sorts, merges equal ids, interns. n may be 0 (the empty cell) or 1 (no
 * history needed). The array is scratch. Returns false if no memory. */
bool dh_history_cell(u32 *entries, u32 n, u32 *ret_cell);

/* The history of a history cell; valid while the caller is inside the runtime. */
const struct dh_history *dh_history_get(u32 cell);

/* Many histories have been made: worth merging entries that differ only in where they were made (step.c). */
bool dh_history_pressure(void);
/* So many since the last collection that one should run. */
bool dh_history_want_collection(void);

/* For collect.c. While `on`, histories that are found or made count as live, and so do their ids. */
void dh_history_marking(bool on, u32 collection);
void dh_history_mark(u32 cell);
void dh_history_sweep(void);
void dh_history_each_lock(dh_lock_fn *fn);

#endif
