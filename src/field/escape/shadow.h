/*
 * shadow.h - the shadow of private blocks (base/caper.h): what the library's files share.
 *
 * Blocks are identified by the index of their first grain. Only the thread that owns a block writes its
 * shadow, and exactly its own bytes: the adjacent ones belong to other threads. The order of writes is such
 * that a signal handler, or another thread that follows a false pointer, finds either a whole block or none:
 * the first byte is written last, and cleared first.
 */
#ifndef DH_FIELD_ESCAPE_SHADOW_H
#define DH_FIELD_ESCAPE_SHADOW_H

#include "field/escape/inlined.h"

DH_INLINE u8 *dh_esc_shadow(u64 grain)
{
    return (u8 *)(DH_CAPER_SHADOW + grain);
}

typedef u64 dh_esc_u64 __attribute__((aligned(1), may_alias));
typedef u32 dh_esc_u32 __attribute__((aligned(1), may_alias));
typedef u16 dh_esc_u16 __attribute__((aligned(1), may_alias));

/* The compiler must not merge or reorder stores that a signal handler may see halfway through. */
#define DH_ESC_PUT(type, at, value) (*(volatile type *)(at) = (type)(value))

/* No block. */
#define DH_ESC_NONE (~0ull)

struct dh_esc_block {
    u64 first, n; /* grains */
    bool open;
    bool holds;
    u8 owner;
};

/* ---- shadow.c ---- */

/* The same as two ranges, for checking many words at once. Atomic; they only grow. */
enum { DH_ESC_RANGES = 2 };
struct dh_esc_range {
    u32 from, to;
};
extern DH_HIDDEN struct dh_esc_range dh_esc_ranges[DH_ESC_RANGES];

/* Reserves the shadow. False: inlined barriers still have a byte to read then. */
bool dh_esc_shadow_reserve(void);
void dh_esc_shadow_reserve_least(void);
/* Can the shadow of these grains be written? */
DH_INLINE bool dh_esc_shadow_is_open(u64 first, u64 n)
{
    const u8 *open = dh_esc_shadow_pieces;
    const int shift = DH_ESC_PIECE_SHIFT - 4;
    return (__atomic_load_n(&open[first >> shift], __ATOMIC_ACQUIRE) &
            __atomic_load_n(&open[(first + n - 1) >> shift], __ATOMIC_ACQUIRE)) == DH_ESC_OPEN;
}
/* The same for any length; makes it writable where permitted. */
bool dh_esc_shadow_open(u64 first, u64 n);
/* From now on all memory has escaped. */
void dh_esc_shadow_give_up(void);

/* Blocks of few grains, stored in such an order that the first byte is written last. */
enum { DH_ESC_FEW = 8 };
#define DH_ESC_BEGIN(owner) (0x0101010101010100ull | (u64)(DH_CAPER_FIRST + (owner)))
DH_INLINE void dh_esc_shadow_fill_few(u64 first, u64 n, u64 bytes)
{
    u8 *at = dh_esc_shadow(first);
    if (n >= 4) {
        DH_ESC_PUT(dh_esc_u32, at + n - 4, bytes >> 8 * (n - 4));
        DH_ESC_PUT(dh_esc_u32, at, bytes);
    } else if (n >= 2) {
        DH_ESC_PUT(dh_esc_u16, at + n - 2, bytes >> 8 * (n - 2));
        DH_ESC_PUT(dh_esc_u16, at, bytes);
    } else {
        DH_ESC_PUT(u8, at, bytes);
    }
}

DH_INLINE void dh_esc_shadow_clear_few(u64 first, u64 n)
{
    u8 *at = dh_esc_shadow(first);
    if (n >= 4) {
        DH_ESC_PUT(dh_esc_u32, at, 0);
        DH_ESC_PUT(dh_esc_u32, at + n - 4, 0);
    } else if (n >= 2) {
        DH_ESC_PUT(dh_esc_u16, at, 0);
        DH_ESC_PUT(dh_esc_u16, at + n - 2, 0);
    } else {
        DH_ESC_PUT(u8, at, 0);
    }
}

/* How many of 8 bytes continue a block: those before the first that is in none, or begins the next. */
DH_INLINE u32 dh_esc_shadow_more(u64 bytes)
{
    /* Codes 1 to STEPS continue a block. Without the flags, no carry leaves a byte. */
    const u64 ones = 0x0101010101010101ull, high = ones << 7;
    u64 codes = bytes & ~(ones * DH_CAPER_FLAGS);
    u64 ends = ((codes + ones * (0x80 - DH_CAPER_FIRST)) | ~(codes + ones * 0x7f)) & high;
    return ends ? (u32)__builtin_ctzll(ends) / 8 : 8;
}

/* The number of grains in the block that begins there; DH_ESC_FEW if there are more, or if what follows may
 * belong to it. */
DH_INLINE u32 dh_esc_shadow_count_few(u64 first)
{
    u64 bytes = *(const volatile dh_esc_u64 *)dh_esc_shadow(first);
    u32 grains = 1 + dh_esc_shadow_more(bytes >> 8); /* which ends at the 0 that is shifted in */
    return (bytes & 0x8080808080808080ull) == 0 ? grains : DH_ESC_FEW;
}

void dh_esc_shadow_fill(u64 first, u64 n, u8 owner, bool open);
void dh_esc_shadow_clear(u64 first, u64 n);
/* The first grain of the block that contains this one, or DH_ESC_NONE. */
u64 dh_esc_shadow_first(u64 grain);
/* The length of the block that begins there. */
struct dh_esc_block dh_esc_shadow_block(u64 first);
/* The program is about to store a possible pointer at this grain. False: it is not in a private block of the
 * owner. */
bool dh_esc_shadow_hold(u64 grain, u32 owner);

/* ---- blocks.c ---- */

/* A thread's counters, in a cache line of their own, until they are added to the run file. Atomic. */
struct dh_esc_owner {
    u32 tid; /* the owner; 0: nobody */
    u32 unused;
    u64 tracked, escapes, untracked;
    u64 unused2[4];
};
_Static_assert(sizeof(struct dh_esc_owner) == 64, "a cache line");

/* Is the last grain of a block never shared with anything else? */
extern bool dh_esc_blocks_closed;
/* This thread's number; DH_CAPER_OWNERS if it has none. */
u32 dh_esc_owner_mine(void);
struct dh_esc_owner *dh_esc_owner_counts(void);
/* Adds the counters of all threads to the run file. */
void dh_esc_owner_tell_all(void);
/* In the child of a fork: the thread has a new id. */
void dh_esc_owner_forked(void);

/* ---- reach.c ---- */

/* Blocks of this thread that n bytes point to escape. */
void dh_esc_publish_contents(const void *src, u64 n);

/* ---- start.c ---- */

/* At most so far below the thread pointer are the program's thread-local variables. */
extern u64 dh_esc_own_variables;
/* NULL: the program is dormant. */
extern struct dh_caper_run *dh_esc_run;
void dh_esc_trouble(u64 bits);

#endif
