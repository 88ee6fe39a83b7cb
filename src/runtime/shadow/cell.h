/*
 * cell.h - what a 32-bit shadow cell holds.
 *
 *   bit 31      0: one access                            1: more than one can say
 *   bits 30-27  byte mask of the 4 application bytes     bit 30: 0: an interned history (history.h)
 *   bits 26-0   access id (ids.h); 0 with mask 0:                1: a cell for each byte (split.h)
 *               never accessed                           bits 29-0: its index
 *
 * The mask stands above the id so that one subtract-and-compare tests "all four bytes, by an id of my current
 * epoch" (fastpath.c). Overflow: ids are recycled by collect.c; if all 2^27 - 1 are live the access is
 * dropped and counted (LOST_IDS). Equal cells mean equal histories, so cells can be compared and memoised as
 * plain numbers; except split ones, which belong to one word and change in place.
 *
 * Cells, ids and masks have distinct types, so that they cannot be mixed up with each other or with plain
 * numbers. Inlined code knows cells as plain u32 (abi.h): dh_cell_raw and dh_cell_from convert.
 */
#ifndef DH_RUNTIME_SHADOW_CELL_H
#define DH_RUNTIME_SHADOW_CELL_H

#include "runtime/shadow/mask.h"

#define DH_ID_BITS 27
#define DH_ID_MAX ((1u << DH_ID_BITS) - 1)
#define DH_CELL_HISTORY (2u << 30)
#define DH_CELL_SPLIT (3u << 30)
#define DH_ID_READS_RAW 1u /* DH_ID_READS */

_Static_assert(DH_ID_BITS + DH_MASK_BITS == 31,
               "id, a bit for each of four bytes, and the bit that says which form");
_Static_assert((DH_MASK_ALL << DH_ID_BITS | DH_ID_MAX) == ~DH_CELL_HISTORY, "one access never has bit 31");

/* The number of an access (ids.h), from 1 to DH_ID_MAX. Those of one block, and usually those of one thread's
 * epoch, are consecutive. */
typedef struct {
    u32 v;
} dh_id_t;
_Static_assert(sizeof(dh_id_t) == 4, "records of threads and tables hold many");

#define DH_ID_NONE ((dh_id_t){0})

typedef struct {
    u32 v;
} dh_cell_t;
_Static_assert(sizeof(dh_cell_t) == 4 && _Alignof(dh_cell_t) == 4, "one cell per word of the program");

/* Never accessed. */
#define DH_CELL_NONE ((dh_cell_t){0})

/* In the write plane, when sampling: not written here, but read. No thread ever takes this id; its record
 * says that it happened before everything (ids.c), so all rules treat it like an old write.
 * docs/design/sampling.md describes who sets and who clears it. */
#define DH_ID_READS ((dh_id_t){DH_ID_READS_RAW})
#define DH_CELL_READS ((dh_cell_t){DH_MASK_ALL << DH_ID_BITS | DH_ID_READS_RAW})

/* ---- Ids ---- */

DH_INLINE dh_id_t dh_id_from(u32 raw)
{
    return (dh_id_t){raw};
}

/* For hashing, packing and printing it, or looking up what it stands for. */
DH_INLINE u32 dh_id_raw(dh_id_t id)
{
    return id.v;
}

DH_INLINE bool dh_id_is_none(dh_id_t id)
{
    return id.v == 0;
}

DH_INLINE bool dh_id_eq(dh_id_t a, dh_id_t b)
{
    return a.v == b.v;
}

DH_INLINE bool dh_id_less(dh_id_t a, dh_id_t b)
{
    return a.v < b.v;
}

/* The nth id after this one; and the distance from one to another. */
DH_INLINE dh_id_t dh_id_plus(dh_id_t id, u32 n)
{
    return (dh_id_t){id.v + n};
}

DH_INLINE u32 dh_id_count(dh_id_t from, dh_id_t to)
{
    DH_ASSERT(from.v <= to.v);
    return to.v - from.v;
}

/* ---- Forms ---- */

/* One access to the bytes of mask. */
DH_INLINE dh_cell_t dh_cell_make(dh_id_t id, dh_mask_t mask)
{
    return (dh_cell_t){dh_mask_raw(mask) << DH_ID_BITS | dh_id_raw(id)};
}

DH_INLINE dh_cell_t dh_cell_of_history(u32 index)
{
    return (dh_cell_t){index | DH_CELL_HISTORY};
}

DH_INLINE dh_cell_t dh_cell_of_split(u32 index)
{
    return (dh_cell_t){index | DH_CELL_SPLIT};
}

DH_INLINE bool dh_cell_is_none(dh_cell_t c)
{
    return c.v == 0;
}

DH_INLINE bool dh_cell_eq(dh_cell_t a, dh_cell_t b)
{
    return a.v == b.v;
}

DH_INLINE bool dh_cell_is_reads(dh_cell_t c)
{
    return dh_cell_eq(c, DH_CELL_READS);
}

/* One access, or none. */
DH_INLINE bool dh_cell_is_simple(dh_cell_t c)
{
    return c.v >> 31 == 0;
}

DH_INLINE bool dh_cell_is_history(dh_cell_t c)
{
    return c.v >> 30 == DH_CELL_HISTORY >> 30;
}

DH_INLINE bool dh_cell_is_split(dh_cell_t c)
{
    return c.v >> 30 == DH_CELL_SPLIT >> 30;
}

DH_INLINE dh_id_t dh_cell_id(dh_cell_t c)
{
    return dh_id_from(c.v & DH_ID_MAX);
}

DH_INLINE dh_mask_t dh_cell_mask(dh_cell_t c)
{
    return dh_mask_from((c.v >> DH_ID_BITS) & DH_MASK_ALL);
}

DH_INLINE u32 dh_cell_history_index(dh_cell_t c)
{
    return c.v & ~DH_CELL_HISTORY;
}

DH_INLINE u32 dh_cell_split_index(dh_cell_t c)
{
    return c.v & ~DH_CELL_SPLIT;
}

/* ---- Cells of one access ---- */

/* The same access, to the bytes of mask too. */
DH_INLINE dh_cell_t dh_cell_with(dh_cell_t c, dh_mask_t mask)
{
    DH_ASSERT(dh_cell_is_simple(c));
    return (dh_cell_t){c.v | dh_mask_raw(mask) << DH_ID_BITS};
}

/* The same access, to all four bytes. */
DH_INLINE dh_cell_t dh_cell_whole(dh_cell_t c)
{
    return (dh_cell_t){c.v | DH_MASK_ALL << DH_ID_BITS};
}

/* Two cells of one access as one. */
DH_INLINE dh_cell_t dh_cell_join(dh_cell_t a, dh_cell_t b)
{
    DH_ASSERT(dh_cell_is_simple(a) && dh_cell_is_simple(b) && dh_id_eq(dh_cell_id(a), dh_cell_id(b)));
    return (dh_cell_t){a.v | b.v};
}

/* ---- As numbers ---- */

/* For hashing, packing and printing a cell, or passing it to inlined code. */
DH_INLINE u32 dh_cell_raw(dh_cell_t c)
{
    return c.v;
}

DH_INLINE dh_cell_t dh_cell_from(u32 raw)
{
    return (dh_cell_t){raw};
}

/* What inlined code subtracts from cells (struct dh_hot) in an epoch whose ids begin with this one. */
DH_INLINE u32 dh_cell_base(dh_id_t first)
{
    return dh_cell_raw(dh_cell_make(first, DH_MASK_FULL));
}

/* The distance of a cell from `base`, modulo 2^32: the inlined check (same_epoch.h). */
DH_INLINE u32 dh_cell_distance(dh_cell_t c, u32 base)
{
    return c.v - base;
}

/* ---- In shadow memory, shared by all threads ---- */

DH_INLINE dh_cell_t dh_cell_load(const dh_cell_t *p)
{
    return (dh_cell_t){__atomic_load_n(&p->v, __ATOMIC_RELAXED)};
}

/* An acquire load: nothing after it is done before it. */
DH_INLINE dh_cell_t dh_cell_load_acquire(const dh_cell_t *p)
{
    return (dh_cell_t){__atomic_load_n(&p->v, __ATOMIC_ACQUIRE)};
}

/* After a full fence of this thread: sees what others published before their fences. */
DH_INLINE dh_cell_t dh_cell_load_fenced(const dh_cell_t *p)
{
    return (dh_cell_t){__atomic_load_n(&p->v, __ATOMIC_SEQ_CST)};
}

DH_INLINE void dh_cell_store(dh_cell_t *p, dh_cell_t c)
{
    __atomic_store_n(&p->v, c.v, __ATOMIC_RELAXED);
}

/* Publish: if *p is `old` it becomes `fresh`. A full fence. */
DH_INLINE bool dh_cell_cas(dh_cell_t *p, dh_cell_t old, dh_cell_t fresh)
{
    return __atomic_compare_exchange_n(&p->v, &old.v, fresh.v, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* The same where nothing has to be ordered by it. */
DH_INLINE bool dh_cell_cas_relaxed(dh_cell_t *p, dh_cell_t old, dh_cell_t fresh)
{
    return __atomic_compare_exchange_n(&p->v, &old.v, fresh.v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Write back what is there, so that the process gets its own copy of the page. */
DH_INLINE void dh_cell_touch(dh_cell_t *p)
{
    __atomic_fetch_or(&p->v, 0, __ATOMIC_RELAXED);
}

/* Store c and return the old value. Relaxed. */
DH_INLINE dh_cell_t dh_cell_take(dh_cell_t *p, dh_cell_t c)
{
    return (dh_cell_t){__atomic_exchange_n(&p->v, c.v, __ATOMIC_RELAXED)};
}

/* A full fence. */
DH_INLINE void dh_cell_exchange(dh_cell_t *p, dh_cell_t c)
{
    __atomic_exchange_n(&p->v, c.v, __ATOMIC_SEQ_CST);
}

#endif
