/*
 * shadow.h - the shadow of private blocks (base/caper.h): what the library's files share.
 *
 * Blocks are named by the index of their first grain. Only the thread that owns a block writes its shadow,
 * and exactly its own bytes: those beside them are another thread's. What is written is such that a signal
 * handler, or another thread that follows a false pointer, finds either a whole block, or none: the first
 * byte is written last, and cleared first.
 */
#ifndef DH_FIELD_ESCAPE_SHADOW_H
#define DH_FIELD_ESCAPE_SHADOW_H

#include "field/escape/inlined.h"

DH_INLINE u8 *dh_esc_shadow(u64 grain)
{
    return (u8 *)(DH_CAPER_SHADOW + grain);
}

/* No block. */
#define DH_ESC_NONE (~0ull)

struct dh_esc_block {
    u64 first, n; /* grains */
    bool open;
    u8 owner;
};

/* ---- shadow.c ---- */

/* Reserves it. False: then inlined barriers still have a byte to read. */
bool dh_esc_shadow_reserve(void);
void dh_esc_shadow_reserve_least(void);
/* Can the shadow of these grains be written? Makes it so where it may. */
bool dh_esc_shadow_open(u64 first, u64 n);
/* From now on all memory has escaped. */
void dh_esc_shadow_give_up(void);

/* Where memory has been that was private: words that point elsewhere are no pointers to blocks. In pieces,
 * the two ranges apart. Atomic; they only grow. */
enum { DH_ESC_PIECE_SHIFT = 26, DH_ESC_RANGES = 2 };
struct dh_esc_range {
    u32 from, to;
};
extern struct dh_esc_range dh_esc_ranges[DH_ESC_RANGES];

void dh_esc_shadow_fill(u64 first, u64 n, u8 owner, bool open);
void dh_esc_shadow_clear(u64 first, u64 n);
/* The first grain of the block that the grain is in, or DH_ESC_NONE. */
u64 dh_esc_shadow_first(u64 grain);
/* How long the block is that begins there. */
struct dh_esc_block dh_esc_shadow_block(u64 first);

/* ---- blocks.c ---- */

/* What each thread has: atomic where others look. */
struct dh_esc_owner {
    u32 tid; /* 0: nobody's. Atomic */
    u32 tick;
    u64 tracked, escapes, untracked; /* not yet told to the run file */
    u64 unused[4];
};
_Static_assert(sizeof(struct dh_esc_owner) == 64, "threads count in cache lines of their own");

/* Do the last bytes of a block share their grain with nothing? */
extern bool dh_esc_blocks_closed;
/* This thread's number; DH_CAPER_OWNERS if it has none. */
u32 dh_esc_owner_mine(void);
struct dh_esc_owner *dh_esc_owner_counts(void);
/* Adds what threads have counted to the run file. */
void dh_esc_owner_tell_all(void);
/* In the child of a fork: the thread has another name. */
void dh_esc_owner_forked(void);

/* ---- start.c ---- */

/* NULL: the program sleeps. */
extern struct dh_caper_run *dh_esc_run;
void dh_esc_trouble(u64 bits);

#endif
