/*
 * touched.c - see touched.h.
 */
#include "runtime/shadow/touched.h"

#include "base/pool.h"
#include "base/sys.h"
#include "runtime/shadow/exclusive.h"
#include "runtime/shadow/region.h"

#define LEAF ((uptr)1 << DH_TOUCHED_LEAF_SHIFT)
_Static_assert(DH_REGION_SHIFT >= DH_TOUCHED_SHIFT, "the shadow of a block is mapped as a whole");

/* Below this many blocks a program is small, and pages it may never need would show in its memory use. */
enum { FEW = 256 };

u32 *dh_touched[DH_TOUCHED_LEAVES];
static u32 blocks; /* marked so far; atomic */

/* The marks of a block; NULL: no memory. */
static u32 *mark_of(uptr block)
{
    u32 **at = &dh_touched[block >> DH_TOUCHED_LEAF_SHIFT], *leaf = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    if (!leaf) {
        u32 *fresh = dh_pool_alloc(LEAF * sizeof(*fresh));
        if (!fresh)
            return NULL;
        if (__atomic_compare_exchange_n(at, &leaf, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            leaf = fresh;
        else
            dh_pool_free(fresh, LEAF * sizeof(*fresh));
    }
    return &leaf[block & (LEAF - 1)];
}

/* Where the program accesses memory at random, so does its shadow, on further pages: with huge pages, address
 * translation is several times as fast. A plane gets them, 2 MB at a time, where nearly all of the memory
 * they describe has been touched: otherwise a program of a few megabytes would pay for many. */
#define HUGE_SHIFT 21
enum { HUGE_BLOCKS = 1 << (HUGE_SHIFT - DH_TOUCHED_SHIFT), DENSE = HUGE_BLOCKS / 8 * 7 };
_Static_assert((DH_WRITE_FLIP >> DH_TOUCHED_SHIFT) % HUGE_BLOCKS == 0 && DH_READ_RUN >= 1 << 20,
               "what 2 MB describe is 2 MB, in whatever order its two halves");

static void want_huge(uptr block, u32 plane)
{
    const uptr first = block & ~(uptr)(HUGE_BLOCKS - 1);
    const u32 *marks = mark_of(first);
    u32 touched = 0;
    for (u32 i = 0; i < HUGE_BLOCKS; i++)
        touched += dh_touched_plane(__atomic_load_n(&marks[i], __ATOMIC_RELAXED), plane);
    if (touched == DENSE)
        dh_sys_huge(DH_ALIGN_DOWN(dh_plane_nth(first << DH_TOUCHED_SHIFT, plane), (uptr)1 << HUGE_SHIFT),
                    (size_t)1 << HUGE_SHIFT);
}

/* Map the planes of a block, and populate them if the program is large. */
static bool get_planes(uptr block, u32 fresh, bool pages)
{
    uptr addr = block << DH_TOUCHED_SHIFT;
    for (u32 plane = 0; plane < DH_PLANES; plane++) {
        if (!dh_touched_plane(fresh, plane))
            continue;
        if (!dh_region_get_plane(addr, plane))
            return false;
        want_huge(block, plane);
        if (pages)
            dh_sys_populate(dh_plane_nth(addr, plane), (size_t)1 << DH_TOUCHED_SHIFT);
    }
    return true;
}

bool dh_touched_set(uptr addr, size_t n, u32 mark)
{
    uptr first = addr >> DH_TOUCHED_SHIFT, last = (addr + n - (n != 0)) >> DH_TOUCHED_SHIFT;
    if (last >> DH_TOUCHED_LEAF_SHIFT >= DH_TOUCHED_LEAVES)
        last = LEAF * DH_TOUCHED_LEAVES - 1;
    for (uptr i = first; i <= last; i++) {
        u32 *p = mark_of(i), had = p ? __atomic_load_n(p, __ATOMIC_RELAXED) : 0;
        if (p && (had & mark) == mark)
            continue;
        /* Long ranges populate their pages themselves (range.c). */
        bool pages = n < (size_t)1 << DH_TOUCHED_SHIFT && __atomic_load_n(&blocks, __ATOMIC_RELAXED) >= FEW;
        if (!p || !get_planes(i, mark & ~had, pages)) {
            dh_runtime_count(DH_COUNT_LOST_SHADOW);
            return false;
        }
        u32 was = __atomic_fetch_or(p, mark, __ATOMIC_SEQ_CST);
        if (was == 0)
            __atomic_fetch_add(&blocks, 1, __ATOMIC_RELAXED);
        dh_exclusive_revoke(p, was, mark);
    }
    return true;
}

u32 dh_touched_any(uptr addr, size_t n)
{
    uptr first = addr >> DH_TOUCHED_SHIFT, last = (addr + n - (n != 0)) >> DH_TOUCHED_SHIFT;
    u32 marks = 0;
    if (last >> DH_TOUCHED_LEAF_SHIFT >= DH_TOUCHED_LEAVES)
        last = LEAF * DH_TOUCHED_LEAVES - 1;
    for (uptr i = first; i <= last; i++) {
        const u32 *leaf = __atomic_load_n(&dh_touched[i >> DH_TOUCHED_LEAF_SHIFT], __ATOMIC_ACQUIRE);
        if (leaf)
            marks |= __atomic_load_n(&leaf[i & (LEAF - 1)], __ATOMIC_RELAXED);
        else
            i |= LEAF - 1;
    }
    return marks;
}
