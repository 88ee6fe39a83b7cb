/*
 * history.h - interned access histories, for cells that one access cannot describe: several unordered
 * readers, bytes of one word with different last accesses, concurrent atomic writes.
 *
 * A history is an immutable sorted list of (id, byte mask) pairs; equal lists are the same object, so a cell
 * is compared and memoised by its number alone. Freed by collect.c when no cell holds it.
 *
 * A word that several threads keep accessing epoch after epoch (a global everyone reads, an atomic counter)
 * would need a new history each time. When it has been replaced often enough, the cell gets a private history
 * that is changed in place, `by_slot`: it has an entry for each slot, written only by the thread in that
 * slot, with a full fence. Such a cell must not be memoised, cleared as dead, or copied to another word. A
 * thread that replaces such a history closes it first, then reads it: so an entry that was stored before its
 * thread saw the closing is among those read. Entries have their own cache lines as long as there are few, to
 * avoid false sharing. But histories of plain reads, all of one class (the plane's), may be as numerous as
 * the program's words, so they have entries for that class only, next to each other.
 */
#ifndef DH_RUNTIME_SHADOW_HISTORY_H
#define DH_RUNTIME_SHADOW_HISTORY_H

#include "base/lock.h"
#include "clock/vclock.h"
#include "runtime/abi/abi.h"
#include "runtime/shadow/cell.h"

/* Kinds of by_slot histories. Plain accesses are never added to one with atomic accesses, so its plain ones
 * are always those it was created with. */
enum dh_by_slot { DH_BY_SLOT_PLAIN = 1, DH_BY_SLOT_MIXED, DH_BY_SLOT_ATOMIC };

/* The header is small so that a history with up to five entries, as nearly all have, is half a cache line. */
struct dh_history {
    u32 n;
    u8 by_slot; /* entries by slot, changed in place: enum dh_by_slot; 0: no */
    u8 first;   /* entries are cells[first], cells[first + step] and so on, below n */
    u8 step;
    u8 closed;         /* by_slot: it is being replaced, by its current contents; atomic, set once */
    u8 mark;           /* collection that last saw it; atomic */
    u8 class;          /* by_slot: 1 + the class of threads whose slots have entries; 0: all slots have */
    u16 age;           /* roughly how many histories of the same cell came before it */
    dh_cell_t cells[]; /* dh_cell_make(id, mask); if not by_slot: rising by id, masks not 0 */
};

/*
 * Storage: units of 32 bytes, numbered across chunks; the number of a history is that of its first unit. So a
 * cell leads to its history by arithmetic and one of a few chunk addresses; a table of all histories would
 * cost another cache miss. No history spans more cache lines than necessary.
 */
#define DH_HISTORY_CHUNK_SHIFT 16
#define DH_HISTORY_CHUNK (1u << DH_HISTORY_CHUNK_SHIFT)
#define DH_HISTORY_CHUNKS (1u << (30 - DH_HISTORY_CHUNK_SHIFT))

_Static_assert(DH_HISTORY_CHUNK_SHIFT < 30, "bits 29 to 0 of a cell are the number");

struct dh_history_unit {
    u64 words[4];
};
_Static_assert(sizeof(struct dh_history) + 4 * sizeof(dh_cell_t) <= sizeof(struct dh_history_unit),
               "four entries");
extern struct dh_history_unit *dh_history_chunks[DH_HISTORY_CHUNKS]; /* set once */

/* The history of a history cell; valid while the caller is inside the runtime. */
DH_INLINE const struct dh_history *dh_history_get(dh_cell_t cell)
{
    u32 i = dh_cell_history_index(cell);
    DH_ASSERT(dh_cell_is_history(cell) && i && dh_history_chunks[i >> DH_HISTORY_CHUNK_SHIFT]);
    const void *h = &dh_history_chunks[i >> DH_HISTORY_CHUNK_SHIFT][i & (DH_HISTORY_CHUNK - 1)];
    return h;
}

/* The entry of a slot in a by_slot history; NULL: it has none. */
DH_INLINE dh_cell_t *dh_history_entry(const struct dh_history *h, dh_slot_t slot)
{
    DH_ASSERT(h->first && h->step); /* only by_slot histories have them */
    u32 s = dh_slot_raw(slot);
    if (h->class && s % DH_READ_CLASSES != h->class - 1u)
        return NULL;
    u32 i = h->first + (h->class ? s / DH_READ_CLASSES : s) * h->step;
    return i < h->n ? (dh_cell_t *)&h->cells[i] : NULL;
}

void dh_history_init(void);

/* The cell for these entries: sorts, merges equal ids, interns. n may be 0 (the empty cell) or 1 (no
 * history needed). The array is scratch. Returns false if no memory. */
bool dh_history_cell(dh_cell_t *entries, u32 n, u32 age, dh_cell_t *ret_cell);

/* A private history for one cell, changed in place, with the entries of h. None: not worth it or not
 * possible. */
dh_cell_t dh_history_private(const struct dh_history *h);

/* How many were created, and how many lookups found an existing one; since the start. */
void dh_history_counts(u64 *ret_made, u64 *ret_found);
/* Many histories have been created: merging entries that differ only in context pays (step.c). */
bool dh_history_pressure(void);
/* There are so many since the last collection that another should run. */
bool dh_history_want_collection(void);

/* For collect.c. While `on`, histories that are found or created count as live, and so do their ids. */
void dh_history_marking(bool on, u32 collection);
void dh_history_mark(dh_cell_t cell);
void dh_history_sweep(void);
void dh_history_each_lock(dh_lock_fn *fn);

#endif
