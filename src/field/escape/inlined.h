/*
 * inlined.h - what the inlined barriers and the library share: how the shadow is addressed, and the slow
 * paths.
 *
 * __dh_esc_mask is all that inlined code needs from the library. It reduces an address to an index into the
 * shadow. While it is 0, every address has the index 0, whose byte is 0: all memory has escaped. That is the
 * case in a program that is dormant, has no shadow, or has given up; no barrier has to test for it.
 */
#ifndef DH_FIELD_ESCAPE_INLINED_H
#define DH_FIELD_ESCAPE_INLINED_H

#include "field/escape/escape.h"

#if defined(__clang__)
#define DH_ESC_PRESERVE __attribute__((preserve_most, nothrow))
#else
#define DH_ESC_PRESERVE __attribute__((nothrow))
#endif

/* start.c */
extern DH_HIDDEN u64 __dh_esc_mask;
extern DH_HIDDEN u8 *__dh_esc_marks; /* in the run file, by group */
/* threads.c: the number of calls of foreign code in progress in this thread, plus 1 if such code started
 * it. */
extern DH_HIDDEN _Thread_local u32 __dh_esc_outside __attribute__((tls_model("initial-exec")));

/* shadow.c. The pieces of memory in which something has been private, and those after them, since a pointer
 * may point just past a block: words that point elsewhere are not pointers to blocks. Atomic; a piece goes
 * from DH_ESC_FAR to DH_ESC_NEAR to DH_ESC_OPEN, at which its shadow can be written, and never back. */
enum { DH_ESC_PIECE_SHIFT = 26, DH_ESC_PIECES = 1 << (47 - DH_ESC_PIECE_SHIFT) };
enum { DH_ESC_FAR, DH_ESC_NEAR, DH_ESC_OPEN };
extern DH_HIDDEN u8 dh_esc_shadow_pieces[DH_ESC_PIECES];

/* Slow paths. They preserve the caller's registers. */
DH_HIDDEN DH_ESC_PRESERVE void __dh_esc_slow_publish(u64 value);
DH_HIDDEN DH_ESC_PRESERVE void __dh_esc_slow_moved(u64 from, u64 to);
DH_HIDDEN DH_ESC_PRESERVE void __dh_esc_slow_contents(const void *src, u64 n);
DH_HIDDEN DH_ESC_PRESERVE void __dh_esc_slow_store(const void *dst, u64 value);
DH_HIDDEN DH_ESC_PRESERVE void __dh_esc_slow_copy(const void *dst, const void *src, u64 n);
/* Called after and before calls of the allocator, which preserves none. */
DH_HIDDEN __attribute__((nothrow)) void __dh_esc_slow_new(void *p, u64 n);
DH_HIDDEN __attribute__((nothrow)) void __dh_esc_slow_free(void *p);

DH_INLINE u64 dh_esc_index(u64 value)
{
    return value / DH_CAPER_GRAIN & __dh_esc_mask;
}

DH_INLINE u8 dh_esc_at(const void *p)
{
    return *(const u8 *)(DH_CAPER_SHADOW + dh_esc_index((u64)p));
}

/* Is the value near memory that has been private? The table of pieces is small enough to look up any value,
 * and is empty in a dormant program. Volatile: as good as relaxed for a byte, and the compiler merges it with
 * the comparison into one instruction. */
DH_INLINE bool dh_esc_is_near(u64 value)
{
    const u64 piece = (value >> DH_ESC_PIECE_SHIFT) % DH_ESC_PIECES;
    return *(const volatile u8 *)&dh_esc_shadow_pieces[piece] != DH_ESC_FAR;
}

/* May the value point to a private block? Tests two bytes of shadow; the lower one is that of the grain
 * before. */
DH_INLINE bool dh_esc_is_candidate(u64 value)
{
    typedef u16 anywhere __attribute__((aligned(1), may_alias));
    return (*(const anywhere *)(DH_CAPER_SHADOW - 1 + dh_esc_index(value)) & (0xff00 | DH_CAPER_OPEN)) != 0;
}

#endif
