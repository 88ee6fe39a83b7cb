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
    u64 n; /* grains */
    u8 owner;
    bool open;
    bool holds;
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
/* Can the shadow of a block of few grains be written that begins there? (A page more than that of the piece
 * is writable.) */
DH_INLINE bool dh_esc_shadow_is_open(u64 first)
{
    return __atomic_load_n(&dh_esc_shadow_pieces[first >> (DH_ESC_PIECE_SHIFT - 4)], __ATOMIC_ACQUIRE) ==
           DH_ESC_OPEN;
}
/* The same for any length; makes it writable where permitted. */
bool dh_esc_shadow_open(u64 first, u64 n);
/* From now on all memory has escaped. */
void dh_esc_shadow_give_up(void);

/* Blocks of few grains, stored in such an order that the first byte is written last. */
enum { DH_ESC_FEW = 8 };
#define DH_ESC_BEGIN(owner) (DH_CAPER_NEAR * 0x0101010101010100ull + (u64)(DH_CAPER_FIRST + (owner)))
#define DH_ESC_BEGIN_FEW(owner, n) (DH_ESC_BEGIN(owner) + (((u64)(n) - 1) << 8))
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

/* At least two. Without branches, since lengths are hard to predict. */
DH_INLINE void dh_esc_shadow_clear_few(u64 first, u64 n)
{
    u8 *at = dh_esc_shadow(first);
    const u64 last = n - 2;
    DH_ESC_PUT(dh_esc_u16, at, 0);
    DH_ESC_PUT(dh_esc_u16, at + (last < 2 ? last : 2), 0);
    DH_ESC_PUT(dh_esc_u16, at + (last < 4 ? last : 4), 0);
    DH_ESC_PUT(dh_esc_u16, at + last, 0);
}

/* The first bytes of a block. */
DH_INLINE u64 dh_esc_shadow_head(u64 first)
{
    return *(const volatile dh_esc_u64 *)dh_esc_shadow(first);
}

/* The length of a block of 2 to DH_ESC_FEW grains is in its second byte. That of any other is in none: the
 * result is 1 if other digits may say it, and more than DH_ESC_FEW, or 0, if the block is a single grain. */
DH_INLINE u32 dh_esc_shadow_few(u64 head)
{
    return (head >> 8 & 0xff & ~(u32)DH_CAPER_FLAGS) - DH_CAPER_NEAR + 1;
}

DH_INLINE bool dh_esc_shadow_is_few(u32 n)
{
    return n - 2 <= DH_ESC_FEW - 2;
}

/* A compare-and-exchange in one instruction, which no signal handler can come between. It is not locked: only
 * this thread writes the byte. */
DH_INLINE bool dh_esc_shadow_exchange(u8 *at, u8 *code, u8 now)
{
    bool done;
    __asm__ volatile("cmpxchgb %3, %1" : "=@cce"(done), "+m"(*at), "+a"(*code) : "q"(now) : "memory");
    return done;
}

/* Clears the first byte of a block of this thread, and returns it. */
DH_INLINE u8 dh_esc_shadow_take(u64 first)
{
    u8 *at = dh_esc_shadow(first), code = *(const volatile u8 *)at;
    while (!dh_esc_shadow_exchange(at, &code, 0))
        ;
    return code;
}

void dh_esc_shadow_fill(u64 first, u64 n, u8 owner, bool open);
void dh_esc_shadow_clear(u64 first, u64 n);
/* The first grain of the block that contains this one, or DH_ESC_NONE. */
u64 dh_esc_shadow_first(u64 grain);
/* The length of the block that begins there. */
struct dh_esc_block dh_esc_shadow_block(u64 first);
/* The program is about to store a possible pointer at this grain of the block that begins at `first`. False:
 * the block is not a private one of the owner. */
bool dh_esc_shadow_hold(u64 first, u64 grain, u32 owner);

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
