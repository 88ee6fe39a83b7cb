/*
 * pair.h - two neighbouring cells as one word: the cells of 8 aligned bytes of the program, which are usually
 * equal, and can then be compared, stored and exchanged at once.
 *
 * The lower half is the cell of the lower address.
 */
#ifndef DH_RUNTIME_SHADOW_PAIR_H
#define DH_RUNTIME_SHADOW_PAIR_H

#include "runtime/shadow/cell.h"

typedef struct {
    u64 v;
} dh_pair_t;
_Static_assert(sizeof(dh_pair_t) == 2 * sizeof(dh_cell_t), "two cells");

/* Shadow memory is accessed as single cells and as pairs. */
typedef u64 dh_pair_bits __attribute__((may_alias));

DH_INLINE dh_pair_t dh_pair_make(dh_cell_t lo, dh_cell_t hi)
{
    return (dh_pair_t){(u64)dh_cell_raw(hi) << 32 | dh_cell_raw(lo)};
}

/* Both are c. */
DH_INLINE dh_pair_t dh_pair_of(dh_cell_t c)
{
    return (dh_pair_t){dh_cell_raw(c) * 0x100000001ull};
}

DH_INLINE dh_cell_t dh_pair_lo(dh_pair_t x)
{
    return dh_cell_from((u32)x.v);
}

DH_INLINE dh_cell_t dh_pair_hi(dh_pair_t x)
{
    return dh_cell_from((u32)(x.v >> 32));
}

/* Are both equal? */
DH_INLINE bool dh_pair_is_even(dh_pair_t x)
{
    return (u32)x.v == x.v >> 32;
}

DH_INLINE bool dh_pair_is_none(dh_pair_t x)
{
    return x.v == 0;
}

DH_INLINE bool dh_pair_eq(dh_pair_t x, dh_pair_t y)
{
    return x.v == y.v;
}

/* ---- In shadow memory: p is the first of the two, on a multiple of 8 ---- */

DH_INLINE dh_pair_t dh_pair_load(const dh_cell_t *p)
{
    DH_ASSERT(((uptr)p & 7) == 0);
    return (dh_pair_t){__atomic_load_n((const dh_pair_bits *)p, __ATOMIC_RELAXED)};
}

/* Like dh_cell_load_fenced. */
DH_INLINE dh_pair_t dh_pair_load_fenced(const dh_cell_t *p)
{
    return (dh_pair_t){__atomic_load_n((const dh_pair_bits *)p, __ATOMIC_SEQ_CST)};
}

DH_INLINE void dh_pair_store(dh_cell_t *p, dh_pair_t x)
{
    DH_ASSERT(((uptr)p & 7) == 0);
    __atomic_store_n((dh_pair_bits *)p, x.v, __ATOMIC_RELAXED);
}

/* Publish: if both are `old` they become `fresh`. A full fence. */
DH_INLINE bool dh_pair_cas(dh_cell_t *p, dh_pair_t old, dh_pair_t fresh)
{
    DH_ASSERT(((uptr)p & 7) == 0);
    return __atomic_compare_exchange_n((dh_pair_bits *)p, &old.v, fresh.v, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_RELAXED);
}

/* ---- Units: one cell, or two that belong together. For one, the upper cell is none. ---- */

DH_INLINE dh_pair_t dh_pair_load_unit(const dh_cell_t *p, bool two)
{
    return two ? dh_pair_load(p) : (dh_pair_t){dh_cell_raw(dh_cell_load(p))};
}

/* One or two cells become c. */
DH_INLINE void dh_pair_store_unit(dh_cell_t *p, dh_cell_t c, bool two)
{
    if (two)
        dh_pair_store(p, dh_pair_of(c));
    else
        dh_cell_store(p, c);
}

#endif
