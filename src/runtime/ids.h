/*
 * ids.h - access ids: a number for (thread, epoch, calling context, locks held, kind).
 *
 * This is where deadheat departs from FastTrack's epoch c@t: a cell names not only when but also where, so
 * that the earlier access of a race always has its stack. Ids of one thread's epoch are taken from
 * blocks of consecutive numbers. Ids are recycled in whole blocks once no cell names any of them.
 */
#ifndef DH_RUNTIME_IDS_H
#define DH_RUNTIME_IDS_H

#include "base/lock.h"
#include "runtime/cell.h"

/*
 * 128 bits. Written once by the thread that takes the id, before the id is stored in any cell; read by
 * anyone who found the id in a cell.
 */
struct dh_access_rec {
    u32 clock;
    u32 ctx;
    u64 uid : 21;     /* over 2M threads: the last uid stands for all later ones */
    u64 size : 3;     /* 1 + log2 of the size of a single access; 0: a range or an odd size */
    u64 kind : 4;     /* enum dh_access */
    u64 slot : 16;    /* index into vector clocks */
    u64 lockset : 20; /* lockset.h; DH_LOCKSET_UNKNOWN when that table is full */
};

#define DH_ID_BLOCK_SHIFT 6
#define DH_ID_BLOCK (1u << DH_ID_BLOCK_SHIFT) /* ids per block */
#define DH_ID_CHUNK_SHIFT 12                  /* records are allocated 4096 at a time */
#define DH_ID_CHUNK (1u << DH_ID_CHUNK_SHIFT)

extern struct dh_access_rec *dh_id_chunks[1u << (DH_ID_BITS - DH_ID_CHUNK_SHIFT)];

DH_INLINE struct dh_access_rec *dh_id_rec(u32 id)
{
    return &dh_id_chunks[id >> DH_ID_CHUNK_SHIFT][id & (DH_ID_CHUNK - 1)];
}

/*
 * What all ids of a block have in common: they are one thread's, and none is younger than the youngest. Asked
 * first, it answers "has this happened before?" for nearly every id that has, from a table that stays in the
 * first-level cache where the records do not. Written by the thread that takes ids from the block, before the
 * id is in any cell.
 */
struct dh_id_block {
    u32 slot;
    u32 youngest; /* clock */
};
extern struct dh_id_block *dh_id_blocks; /* of all there can be, 16 MiB of which few pages are touched */

DH_INLINE struct dh_id_block *dh_id_block(u32 id)
{
    /* Neighbours are on different cache lines: they are often different threads', which write there once an
     * epoch. */
    u32 b = id / DH_ID_BLOCK;
    return &dh_id_blocks[(b & ~63u) | ((b << 3 | (b >> 3 & 7)) & 63)];
}

/* Before the first id. False: no memory. */
bool dh_ids_init(void);

/* Take `want` consecutive free blocks (fewer if that many are not together). Returns the first id
 * and the number of ids in *ret_count; 0 when none is left or no memory. */
u32 dh_ids_take(u32 want, u32 *ret_count);
/* Blocks [first_id, first_id + count) are no longer any thread's source of ids; what was handed out lives
 * on until a collection finds it unused. */
void dh_ids_retire(u32 first_id, u32 count);
/* Should a collection run now? */
bool dh_ids_want_collection(void);

/* For collect.c, in this order, under its lock: begin; mark what is used; sweep. */
void dh_ids_collect_begin(void);
void dh_ids_mark(u32 id);
/* Frees unmarked blocks; returns the number of live ids, for the pacing. */
void dh_ids_sweep(u64 shadow_cells);

void dh_ids_each_lock(dh_lock_fn *fn);

#endif
