/*
 * state.h - what each thread keeps for the engine. struct dh_thread (threads/thread.h) holds one of each.
 *
 * Written only by the owning thread, inside the runtime; fields that others read say so. The tables are
 * direct-mapped caches of what can be recomputed: a miss is slower, never wrong.
 */
#ifndef DH_RUNTIME_ENGINE_STATE_H
#define DH_RUNTIME_ENGINE_STATE_H

#include "clock/vclock.h"
#include "runtime/abi/abi.h"
#include "runtime/shadow/ids.h"
#include "runtime/shadow/pair.h"
#include "runtime/threads/context.h"

/* Table sizes: powers of two; the part in use should fit the near caches. */
enum {
    DH_IDC = 1024,         /* (context, pc, kind) to id of this epoch */
    DH_IDC_WAYS = 4,       /* ... which must not thrash: a miss takes a new id */
    DH_IDC_MOST = 16384,   /* ... and grows up to this where it would */
    DH_ORDERED = 512,      /* cells known to have happened before */
    DH_MINE = 256,         /* histories known to contain this epoch */
    DH_STEP = 1024,        /* (old cell, id and mask) to new cell */
    DH_SEEN = 64,          /* atomic objects used lately */
    DH_PENDING = 64,       /* reads to be checked again */
    DH_PENDING_WORDS = 48, /* in an entry, first bit of the word count less one; addresses have 47 */
    DH_PENDING_MASK = 60,  /* ... of the byte mask */
    DH_PARTS = 16,         /* words with parts waiting to be recorded */
    DH_MIXING_START = 2048
};

/* Indices are taken modulo these, or by a mask or a shift. */
#define DH_IS_POWER_OF_2(n) ((n) > 0 && ((n) & ((n) - 1)) == 0)
_Static_assert(DH_IS_POWER_OF_2(DH_IDC) && DH_IS_POWER_OF_2(DH_IDC_WAYS) && DH_IDC > DH_IDC_WAYS, "idc");
_Static_assert(DH_IS_POWER_OF_2(DH_IDC_MOST) && DH_IDC_MOST > DH_IDC, "doubled until then");
_Static_assert(DH_IS_POWER_OF_2(DH_ORDERED) && DH_IS_POWER_OF_2(DH_MINE) && DH_IS_POWER_OF_2(DH_STEP),
               "cells");
_Static_assert(DH_IS_POWER_OF_2(DH_SEEN) && DH_IS_POWER_OF_2(DH_PARTS), "atomic objects, words");
_Static_assert(DH_PENDING_MASK + DH_MASK_BITS <= 64, "where: address, number of words, and mask");

struct dh_sync; /* threads/sync.h */

/* ---- Ids (step.c) ---- */

/* Blocks that ids are being taken from. */
struct dh_id_run {
    dh_id_t next, end, first;
    u32 size; /* ids from `first` on; 0: it has no blocks */
};

/* Plain ids are consecutive within an epoch (hot.base, made). Special ones (atomic, free) must not be hit by
 * the inlined check and come from blocks of their own. Epochs are ended by threads/order.c. */
struct dh_id_source {
    struct dh_id_run plain;
    u32 made; /* plain ones of this epoch */
    /* Plain ids from plain.next up to ready_end need no more than a record like this one, as long as the
     * thread's stamp is ready_stamp (dh_step_id). */
    u32 ready_stamp;
    dh_id_t ready_end;
    struct dh_id_rec ready;
    struct dh_id_run special;
    dh_id_t special_floor; /* first special id of this epoch */
};

/* The id of an access, looked up by where it is made; valid for one value of the thread's stamp. */
struct dh_idc {
    u64 pc_kind;
    dh_ctx_t fctx;
    u32 stamp;
    dh_id_t id;
    dh_ctx_t ctx;
};

/* The table in use: the initial one, or a larger one that replaced it. */
struct dh_idc_table {
    struct dh_idc *at;
    u32 mask;    /* number of entries less DH_IDC_WAYS: leaves the first entry of a set */
    u32 evicted; /* entries evicted since this table has been in use */
};

/* ---- What is known about cells (step.c) ---- */

/* Cell numbers are recycled, so this is emptied when the collector's generation changes
 * (dh_thread_forget_cells). */
struct dh_cell_memo {
    dh_cell_t ordered[DH_ORDERED];
    dh_pair_t mine[DH_MINE]; /* dh_step_mine_known */
    struct dh_known_step {
        dh_cell_t old, me, result;
        u32 plane;
    } step[DH_STEP];
};

/* ---- Reads that are published, but not yet known to be seen (pending.h) ---- */

struct dh_pending_list {
    u32 n;
    struct dh_pending {
        u64 where; /* address of the first word, how many words less one, byte mask */
        dh_cell_t seen;
        dh_id_t id;
    } reads[DH_PENDING];
};

/* ---- Parts of words that wait to be recorded (parts.h) ---- */

struct dh_part_list {
    u32 n; /* accesses added since the list was last empty */
    struct dh_part {
        uptr word; /* 0: none */
        dh_id_t id;
        u16 mask; /* a dh_mask_t */
        u16 again;
    } words[DH_PARTS][2]; /* reads, writes */
};

/* ---- Atomics (atomic.c) ---- */

/* Fences (C11 7.17.4): what a relaxed store publishes, what an acquire fence will take in. */
struct dh_fences {
    struct dh_publish release, acquire;
};

/* Recently used atomic objects: the version at which everything the object publishes was acquired, and the
 * cells as they were after the last recorded access. */
struct dh_atomic_memo {
    bool any; /* `seen` is not empty */
    struct dh_seen {
        uptr addr;
        struct dh_sync *object; /* valid if it still has the address */
        const u32 *chains;      /* dh_sync_chains */
        u32 absent;             /* its value when no object was found; odd: unknown */
        u32 version;
        bool acquired; /* by an acquire; else only for a later fence */
        struct dh_done {
            u32 clock, gen;  /* the epoch; the collector's generation */
            u32 size;        /* 0: nothing is known */
            dh_pair_t cells; /* the upper one is none where the access is within one word */
            /* By plane: cells with which no atomic access of this thread races. */
            dh_pair_t harmless[DH_PLANES];
            u32 harmless_gen;
            /* Checked in this pause between sampling periods (0: in none), after so many moves
             * (unsampled.h). */
            u32 pause, pause_moves, pause_size;
        } done[2]; /* reads, writes */
    } seen[DH_SEEN];
};

#endif
