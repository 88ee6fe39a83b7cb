/*
 * cells.h - runs of shadow cells, sixteen at a time.
 *
 * Plain vector loads of memory that other threads may be changing: each 32-bit lane is read as a whole, and
 * every caller either needs to know only that the cell held the value at some moment, or has announced its
 * range (range.c).
 */
#ifndef DH_RUNTIME_SHADOW_CELLS_H
#define DH_RUNTIME_SHADOW_CELLS_H

#include <string.h>

#include "runtime/shadow/cell.h"

typedef u32 dh_cells4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef int dh_lanes4 __attribute__((vector_size(16)));
typedef char dh_bytes16 __attribute__((vector_size(16)));

DH_INLINE bool dh_cells_all(dh_lanes4 m)
{
    return __builtin_ia32_pmovmskb128((dh_bytes16)m) == 0xFFFF;
}

/* How many cells from c on, at most n, equal v. */
DH_INLINE size_t dh_cells_equal(const dh_cell_t *c, size_t n, dh_cell_t cell)
{
    const u32 v = dh_cell_raw(cell);
    const dh_cells4 want = {v, v, v, v};
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const dh_cells4 *x = (const dh_cells4 *)(c + i);
        if (!dh_cells_all((x[0] == want) & (x[1] == want) & (x[2] == want) & (x[3] == want)))
            break;
    }
    while (i + 4 <= n && dh_cells_all(*(const dh_cells4 *)(c + i) == want))
        i += 4;
    while (i < n && dh_cell_eq(dh_cell_load(&c[i]), cell))
        i++;
    return i;
}

/* How many cells from c on, at most n, lie in [base, base + count), the subtraction being modulo 2^32. */
DH_INLINE size_t dh_cells_within(const dh_cell_t *c, size_t n, u32 base, u32 count)
{
    const dh_cells4 from = {base, base, base, base};
    /* SSE2 compares signed lanes only: shift both sides by 2^31. */
    const u32 sign = 1u << 31;
    const dh_cells4 flip = {sign, sign, sign, sign};
    const int limit = (int)(count ^ sign);
    const dh_lanes4 below = {limit, limit, limit, limit};
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const dh_cells4 *x = (const dh_cells4 *)(c + i);
        dh_lanes4 ok = (dh_lanes4)((x[0] - from) ^ flip) < below;
        ok &= (dh_lanes4)((x[1] - from) ^ flip) < below;
        ok &= (dh_lanes4)((x[2] - from) ^ flip) < below;
        ok &= (dh_lanes4)((x[3] - from) ^ flip) < below;
        if (!dh_cells_all(ok))
            break;
    }
    while (i + 4 <= n && dh_cells_all((dh_lanes4)((*(const dh_cells4 *)(c + i) - from) ^ flip) < below))
        i += 4;
    while (i < n && dh_cell_distance(dh_cell_load(&c[i]), base) < count)
        i++;
    return i;
}

/* Is any of n cells split? */
DH_INLINE bool dh_cells_any_split(const dh_cell_t *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (dh_cell_is_split(dh_cell_load(&c[i])))
            return true;
    return false;
}

DH_INLINE void dh_cells_fill(dh_cell_t *c, size_t n, dh_cell_t cell)
{
    const u32 v = dh_cell_raw(cell);
    const dh_cells4 four = {v, v, v, v};
    size_t i = 0;
    if (n >= 256) { /* from this length on `rep` is faster */
        __asm__ volatile("rep stosl" : "+D"(c), "+c"(n) : "a"(v) : "memory");
        return;
    }
    for (; i + 4 <= n; i += 4)
        *(dh_cells4 *)(c + i) = four;
    for (; i < n; i++)
        dh_cell_store(&c[i], cell);
}

#endif
