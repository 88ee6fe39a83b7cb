/*
 * ids.h - access ids: a number for (thread, epoch, calling context, locks held, kind).
 *
 * This is where deadheat departs from FastTrack's epoch c@t: a cell records not only when but also where, so
 * that the stack of a race's earlier access is always known. Ids of one thread's epoch are taken from blocks
 * of consecutive numbers. Ids are recycled in whole blocks once no cell names any of them.
 */
#ifndef DH_RUNTIME_SHADOW_IDS_H
#define DH_RUNTIME_SHADOW_IDS_H

#include "base/lock.h"
#include "clock/vclock.h"
#include "event/access.h"
#include "runtime/shadow/cell.h"
#include "runtime/threads/context.h"
#include "runtime/threads/lockset.h"
#include "runtime/threads/uid.h"

#define DH_ID_BLOCK_SHIFT 5
#define DH_ID_BLOCK (1u << DH_ID_BLOCK_SHIFT) /* ids per block */
#define DH_ID_CHUNK_SHIFT 12                  /* records are allocated 4096 at a time */
#define DH_ID_CHUNK (1u << DH_ID_CHUNK_SHIFT)

/* What an id stands for. */
struct dh_access_rec {
    u32 clock;
    dh_slot_t slot;
    dh_uid_t uid;
    dh_ctx_t ctx;         /* context.h */
    dh_lockset_t lockset; /* lockset.h */
    u32 kind;             /* enum dh_access */
    u32 size;             /* 1 + log2 of the size of a single access; 0: a range or an odd size */
};

/*
 * Storage: what the ids of a block have in common is stored once, the rest in 64 bits per id. In programs
 * with short epochs, ids take most of the memory.
 *
 * A block's ids belong to one thread, in the order of their clocks. The clock of the last of them, checked
 * first, settles "did this happen before?" for nearly every id that did; so it is kept with the slot, apart
 * from the rest, in a table small enough for the near caches. Everything is written by the thread that takes
 * ids from the block, before the id is in any cell, and read by any thread that has found the id in a cell.
 */
struct dh_id_block {
    dh_slot_t slot;
    u32 youngest; /* clock */
};

struct dh_id_first {
    u32 clock; /* of the block's first id */
    dh_uid_t uid;
};

#define DH_ID_KIND_BITS 4
#define DH_ID_SIZE_BITS 3
#define DH_ID_LATER_BITS 10
struct dh_id_rec {
    u64 ctx : DH_CTX_BITS;
    u64 lockset : DH_LOCKSET_BITS;
    u64 kind : DH_ID_KIND_BITS;
    u64 size : DH_ID_SIZE_BITS;
    u64 later
        : DH_ID_LATER_BITS; /* clock, less the block's; if it would not fit, the next block is started */
};
_Static_assert(DH_CTX_BITS == 27 && DH_LOCKSET_BITS == 20 && DH_ID_LATER_BITS == 10,
               "docs/design/engine.md and limits.md give these widths");
_Static_assert(DH_CTX_BITS + DH_LOCKSET_BITS + DH_ID_KIND_BITS + DH_ID_SIZE_BITS + DH_ID_LATER_BITS == 64 &&
                   sizeof(struct dh_id_rec) == 8,
               "a record is one word, written at once");
_Static_assert((DH_WRITE | DH_ATOMIC | DH_FREE | DH_RANGE) < 1 << DH_ID_KIND_BITS, "every kind of access");
_Static_assert(1 + 4 < 1 << DH_ID_SIZE_BITS, "1 + log2 of the largest single access, 16 bytes");
_Static_assert(DH_ID_BLOCK_SHIFT <= DH_ID_CHUNK_SHIFT && DH_ID_CHUNK_SHIFT <= DH_ID_BITS,
               "blocks lie in one chunk of records, chunks divide the ids");
_Static_assert(sizeof(struct dh_id_block) == 8, "dh_id_block spreads 8 of them over 8 lines");

/* For all possible blocks, twice 32 MiB, of which few pages are touched. */
extern struct dh_id_block *dh_id_blocks;
extern struct dh_id_first *dh_id_firsts;
extern struct dh_id_rec *dh_id_chunks[1u << (DH_ID_BITS - DH_ID_CHUNK_SHIFT)];

/* Is the id in range? */
DH_INLINE bool dh_id_exists(dh_id_t id)
{
    return !dh_id_is_none(id) && dh_id_raw(id) <= DH_ID_MAX;
}

DH_INLINE u32 dh_id_block_number(dh_id_t id)
{
    return dh_id_raw(id) / DH_ID_BLOCK;
}

DH_INLINE bool dh_id_begins_block(dh_id_t id)
{
    return dh_id_raw(id) % DH_ID_BLOCK == 0;
}

/* The id rounded up to the beginning of a block. */
DH_INLINE dh_id_t dh_id_align(dh_id_t id)
{
    return dh_id_from((u32)DH_ALIGN_UP(dh_id_raw(id), DH_ID_BLOCK));
}

DH_INLINE struct dh_id_block *dh_id_block(dh_id_t id)
{
    DH_ASSERT(dh_id_exists(id));
    /* Neighbours are on different cache lines: they often belong to different threads, which write there once
     * an epoch. */
    u32 b = dh_id_block_number(id);
    return &dh_id_blocks[(b & ~63u) | ((b << 3 | (b >> 3 & 7)) & 63)];
}

DH_INLINE struct dh_id_first *dh_id_first(dh_id_t id)
{
    DH_ASSERT(dh_id_exists(id));
    return &dh_id_firsts[dh_id_block_number(id)];
}

DH_INLINE struct dh_id_rec *dh_id_rec(dh_id_t id)
{
    u32 n = dh_id_raw(id);
    DH_ASSERT(dh_id_exists(id) && dh_id_chunks[n >> DH_ID_CHUNK_SHIFT]);
    return &dh_id_chunks[n >> DH_ID_CHUNK_SHIFT][n & (DH_ID_CHUNK - 1)];
}

DH_INLINE dh_slot_t dh_id_slot(dh_id_t id)
{
    return dh_id_block(id)->slot;
}

DH_INLINE u32 dh_id_clock(dh_id_t id)
{
    return dh_id_first(id)->clock + (u32)dh_id_rec(id)->later;
}

DH_INLINE u32 dh_id_kind(dh_id_t id)
{
    return (u32)dh_id_rec(id)->kind;
}

/* For assertions: has a thread taken it, and no collection freed it since? And does the thread still take ids
 * from its block? */
bool dh_ids_is_taken(dh_id_t id);
bool dh_ids_is_owned(dh_id_t id);

struct dh_access_rec dh_id_get(dh_id_t id);

/* Prepare a block, in which id is not the first, for ids of a later clock: *ret is what their records have in
 * common, except for the locks held. False: they do not fit into it. */
DH_INLINE bool dh_id_next_like(dh_id_t id, u32 clock, dh_uid_t uid, struct dh_id_rec *ret)
{
    struct dh_id_block *b = dh_id_block(id);
    const struct dh_id_first *f = dh_id_first(id);
    DH_ASSERT(!dh_id_begins_block(id) && dh_ids_is_owned(id));
    DH_ASSERT(!dh_uid_eq(f->uid, uid) ||
              clock >= b->youngest); /* a block's ids are in the order of their clocks */
    u32 later = clock - f->clock;
    if (later >= 1u << DH_ID_LATER_BITS || !dh_uid_eq(f->uid, uid))
        return false;
    if (b->youngest != clock) /* others read it */
        b->youngest = clock;
    *ret = (struct dh_id_rec){.later = later};
    return true;
}

/* Write the record of an id; within a block in ascending order, beginning with its first. False: it does not
 * fit into the block, which is another thread's or too old. The first of a block always fits. */
DH_INLINE bool dh_id_put(dh_id_t id, const struct dh_access_rec *r)
{
    struct dh_id_rec like = {0};
    DH_ASSERT(dh_ids_is_owned(id) && dh_ctx_raw(r->ctx) < 1u << DH_CTX_BITS);
    DH_ASSERT(dh_lockset_raw(r->lockset) < 1u << DH_LOCKSET_BITS && r->kind < 1u << DH_ID_KIND_BITS);
    if (dh_id_begins_block(id)) {
        *dh_id_first(id) = (struct dh_id_first){.clock = r->clock, .uid = r->uid};
        *dh_id_block(id) = (struct dh_id_block){.slot = r->slot, .youngest = r->clock};
    } else if (!dh_id_next_like(id, r->clock, r->uid, &like)) {
        return false;
    }
    *dh_id_rec(id) = (struct dh_id_rec){.ctx = dh_ctx_raw(r->ctx),
                                        .lockset = dh_lockset_raw(r->lockset),
                                        .kind = r->kind,
                                        .size = r->size,
                                        .later = like.later};
    return true;
}

/* The size as encoded in a record. */
DH_INLINE u32 dh_id_size_code(size_t size)
{
    return size && size <= 16 && !(size & (size - 1)) ? 1 + (u32)__builtin_ctzll(size) : 0;
}

/* Before the first id. False: no memory. */
bool dh_ids_init(void);

/* Take `want` consecutive free blocks (fewer if that many are not together). Returns the first id and the
 * number of ids in *ret_count; none if no block is left or no memory. */
dh_id_t dh_ids_take(u32 want, u32 *ret_count);
/* No thread takes ids from blocks [first_id, first_id + count) any more; ids already taken stay until a
 * collection finds them unused. */
void dh_ids_retire(dh_id_t first_id, u32 count);
/* Should a collection run now? */
bool dh_ids_want_collection(void);

/* All ids ever taken are below it. */
dh_id_t dh_ids_end(void);

/* For collect.c, in this order, under its lock: begin; mark what is used; sweep. */
void dh_ids_collect_begin(void);
void dh_ids_mark(dh_id_t id);
/* Frees unmarked blocks; returns the number of live ids, for the pacing. */
void dh_ids_sweep(u64 shadow_cells);

void dh_ids_each_lock(dh_lock_fn *fn);

#endif
