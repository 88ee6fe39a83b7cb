/*
 * mask.h - which of the four bytes of a word: bit k stands for the byte at word + k.
 */
#ifndef DH_RUNTIME_SHADOW_MASK_H
#define DH_RUNTIME_SHADOW_MASK_H

#include "base/base.h"

#define DH_MASK_BITS 4
#define DH_MASK_ALL ((1u << DH_MASK_BITS) - 1)

typedef struct {
    u32 v;
} dh_mask_t;
_Static_assert(sizeof(dh_mask_t) == 4, "in a register, as the number that it is");

#define DH_MASK_NONE ((dh_mask_t){0})
#define DH_MASK_FULL ((dh_mask_t){DH_MASK_ALL})

/* As numbers, for packing and printing. */
DH_INLINE dh_mask_t dh_mask_from(u32 raw)
{
    DH_ASSERT(raw <= DH_MASK_ALL);
    return (dh_mask_t){raw};
}

DH_INLINE u32 dh_mask_raw(dh_mask_t m)
{
    return m.v;
}

DH_INLINE bool dh_mask_is_none(dh_mask_t m)
{
    return m.v == 0;
}

DH_INLINE bool dh_mask_is_full(dh_mask_t m)
{
    return m.v == DH_MASK_ALL;
}

DH_INLINE dh_mask_t dh_mask_and(dh_mask_t a, dh_mask_t b)
{
    return (dh_mask_t){a.v & b.v};
}

DH_INLINE dh_mask_t dh_mask_or(dh_mask_t a, dh_mask_t b)
{
    return (dh_mask_t){a.v | b.v};
}

/* The bytes of a that are not in b. */
DH_INLINE dh_mask_t dh_mask_minus(dh_mask_t a, dh_mask_t b)
{
    return (dh_mask_t){a.v & ~b.v};
}

/* Do they have a byte in common? */
DH_INLINE bool dh_mask_meets(dh_mask_t a, dh_mask_t b)
{
    return (a.v & b.v) != 0;
}

/* Are all bytes of b in a? */
DH_INLINE bool dh_mask_covers(dh_mask_t a, dh_mask_t b)
{
    return (b.v & ~a.v) == 0;
}

/* ---- Bytes ---- */

DH_INLINE bool dh_mask_has(dh_mask_t m, u32 k)
{
    return m.v >> k & 1;
}

DH_INLINE dh_mask_t dh_mask_byte(u32 k)
{
    DH_ASSERT(k < DH_MASK_BITS);
    return (dh_mask_t){1u << k};
}

/* The lowest byte of m, which must not be empty; m without it. To go through them:
 *     for (dh_mask_t rest = m; !dh_mask_is_none(rest); rest = dh_mask_rest(rest)) */
DH_INLINE u32 dh_mask_first(dh_mask_t m)
{
    return (u32)__builtin_ctz(m.v);
}

DH_INLINE dh_mask_t dh_mask_rest(dh_mask_t m)
{
    return (dh_mask_t){m.v & (m.v - 1)};
}

DH_INLINE u32 dh_mask_count(dh_mask_t m)
{
    return (u32)__builtin_popcount(m.v);
}

/* How many consecutive bytes of m there are at the beginning of the word, and at its end. */
DH_INLINE u32 dh_mask_low_run(dh_mask_t m)
{
    return (u32)__builtin_ctz(~m.v);
}

DH_INLINE u32 dh_mask_high_run(dh_mask_t m)
{
    return (u32)__builtin_clz(~(m.v << (32 - DH_MASK_BITS)));
}

/* ---- Addresses ---- */

/* The bytes of [lo, hi) that are in this word; at least one. */
DH_INLINE dh_mask_t dh_mask_within(uptr word, uptr lo, uptr hi)
{
    u32 mask = DH_MASK_ALL;
    if (word < lo)
        mask &= DH_MASK_ALL << (lo - word);
    if (word + 4 > hi)
        mask &= DH_MASK_ALL >> (word + 4 - hi);
    return (dh_mask_t){mask};
}

/* The bytes that an access touches in each of its words: it lies within one, or covers all of them
 * entirely. */
DH_INLINE dh_mask_t dh_mask_aligned(uptr addr, size_t size)
{
    return (dh_mask_t){size < 4 ? ((1u << size) - 1) << (addr & 3) : DH_MASK_ALL};
}

#endif
