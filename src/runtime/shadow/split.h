/*
 * split.h - words whose bytes have different histories.
 *
 * A cell describes four bytes. Code that goes through memory byte by byte, or reads words at odd addresses,
 * leaves words whose bytes were accessed in different places, or one in this epoch and the others long ago.
 * Such a cell is split: it names a record with a cell for every byte, each complete in itself (full mask, or
 * a history of full masks). Interning these mixtures as histories would need a new one for nearly every word.
 *
 * A record belongs to one cell. It is stored by compare-exchange with its bytes already filled in; a byte
 * changes by compare-exchange; the thread that replaces the cell by something else, again by
 * compare-exchange, owns the record and may free it. A thread that has changed a byte then checks the cell:
 * if it no longer names the record, the access was lost and must be recorded again. A record can be reused at
 * once, because the upper half of every byte's entry counts its uses: a late exchange or read fails to match.
 *
 * Cells that are cleared in bulk (copy.c) leave their records behind; collect.c finds those.
 */
#ifndef DH_RUNTIME_SHADOW_SPLIT_H
#define DH_RUNTIME_SHADOW_SPLIT_H

#include "base/lock.h"
#include "runtime/shadow/cell.h"
#include "runtime/shadow/valid.h"
#include "runtime/threads/thread.h"

/* What a split cell held at some moment. */
struct dh_bytes {
    dh_cell_t cell[4];
    u32 use; /* of the record, to be passed to dh_split_change */
};

/* A split cell with these bytes. None: no memory or no number. */
dh_cell_t dh_split_new(struct dh_thread *t, const dh_cell_t bytes[4]);
/* The caller has taken it out of its cell, or never put it there. */
void dh_split_free(struct dh_thread *t, dh_cell_t cell);

#define DH_SPLIT_CHUNK_SHIFT 12
#define DH_SPLIT_CHUNK (1u << DH_SPLIT_CHUNK_SHIFT)
#define DH_SPLIT_CHUNKS (1u << 14)

_Static_assert((u64)DH_SPLIT_CHUNKS << DH_SPLIT_CHUNK_SHIFT <= 1u << 30,
               "bits 29 to 0 of a cell are the number");

struct dh_split_chunk {
    u64 bytes[DH_SPLIT_CHUNK][4];   /* use << 32 | cell; atomic */
    u64 spare[DH_SPLIT_CHUNK / 64]; /* a bit for each: it is free. Changed under split.c's lock */
    u64 mark[DH_SPLIT_CHUNK / 64];  /* a bit for each: the collection under way has seen it; atomic */
};
extern struct dh_split_chunk *dh_split_chunks[DH_SPLIT_CHUNKS];

DH_INLINE u64 *dh_split_record(u32 number)
{
    DH_ASSERT(number >> DH_SPLIT_CHUNK_SHIFT < DH_SPLIT_CHUNKS &&
              dh_split_chunks[number >> DH_SPLIT_CHUNK_SHIFT]);
    return dh_split_chunks[number >> DH_SPLIT_CHUNK_SHIFT]->bytes[number & (DH_SPLIT_CHUNK - 1)];
}

/* Read the split cell that was seen in *p. False: *p has changed since. */
DH_INLINE bool dh_split_read(const dh_cell_t *p, dh_cell_t cell, struct dh_bytes *ret)
{
    const u64 *b = dh_split_record(dh_cell_split_index(cell));
    u64 x[4], differ = 0;
    for (u32 k = 0; k < 4; k++) {
        x[k] = __atomic_load_n(&b[k], __ATOMIC_ACQUIRE);
        differ |= x[k] ^ x[0];
        ret->cell[k] = dh_cell_from((u32)x[k]);
    }
    ret->use = (u32)(x[0] >> 32);
    return differ >> 32 == 0 && dh_cell_eq(dh_cell_load_acquire(p), cell) &&
           __atomic_load_n(&b[0], __ATOMIC_RELAXED) >> 32 == ret->use;
}

/* What a cell of any form held at some moment: `cell`, and what that means if it is split. */
struct dh_content {
    dh_cell_t cell;
    struct dh_bytes bytes;
};

DH_INLINE struct dh_content dh_split_content(const dh_cell_t *p)
{
    struct dh_content c;
    do {
        c.cell = dh_cell_load(p);
    } while (DH_UNLIKELY(dh_cell_is_split(c.cell)) && !dh_split_read(p, c.cell, &c.bytes));
    return c;
}

/* Read a record that the caller has just taken out of its cell. */
DH_INLINE void dh_split_read_taken(dh_cell_t cell, struct dh_bytes *ret)
{
    const u64 *b = dh_split_record(dh_cell_split_index(cell));
    for (u32 k = 0; k < 4; k++)
        ret->cell[k] = dh_cell_from((u32)__atomic_load_n(&b[k], __ATOMIC_ACQUIRE));
    ret->use = (u32)(b[0] >> 32);
}

/* Change byte k, which held what *seen says, to `fresh`. A full fence. False: it has changed. */
DH_INLINE bool dh_split_change(dh_cell_t cell, const struct dh_bytes *seen, u32 k, dh_cell_t fresh)
{
    u64 was = (u64)seen->use << 32 | dh_cell_raw(seen->cell[k]);
    DH_ASSERT((seen->use & 1) && k < 4 && dh_valid_byte(fresh));
    return __atomic_compare_exchange_n(&dh_split_record(dh_cell_split_index(cell))[k], &was,
                                       (u64)seen->use << 32 | dh_cell_raw(fresh), false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_RELAXED);
}

/* This thread creates so many of these, or of equivalent histories (step.c), that they are the main cost. */
DH_INLINE bool dh_split_pressure(const struct dh_thread *t)
{
    return t->mixtures > 4096;
}

/* The same, and it has created some in its current epoch too. From then on, bytes of a word that it accesses
 * in this epoch from different places are all attributed to one of these accesses. The races found are the
 * same, but a report may show another of the accesses to these four bytes. A thread that does little between
 * two synchronisations never gets here, however long it runs, so its reports are exact. */
DH_INLINE bool dh_split_blurs(const struct dh_thread *t)
{
    const u64 exact = 64;
    return dh_split_pressure(t) && t->mixtures - t->mixtures_before > exact;
}

bool dh_split_want_collection(void);

/* A thread ends: make its spare records available to others. */
void dh_split_give_back(struct dh_thread *t);

/* For collect.c, as in history.h. */
void dh_split_marking(bool on);
void dh_split_mark(dh_cell_t cell);
void dh_split_sweep(void);
void dh_split_each_lock(dh_lock_fn *fn);

#endif
