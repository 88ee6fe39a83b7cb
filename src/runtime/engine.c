/*
 * engine.c - the slow paths of single accesses.
 *
 * Order of work, which makes the engine lossless without locks: an access first publishes itself in its own
 * plane by compare-exchange, then reads what it must be checked against. A compare-exchange is a full
 * fence on x86-64; so of two accesses that race at the same instant at least one sees the other. For the same
 * plane (write against write) the compare-exchange itself shows the loser the winner. Range accesses,
 * which use plain stores, are excluded by dh_range_wait.
 */
#include "runtime/engine.h"

#include "runtime/init.h"
#include "runtime/region.h"

/* What cell `old` becomes; the same if a was put into it in place. Histories that are renewed again and again
 * are given to their cell. */
static u32 next_cell(const struct dh_access_now *a, u32 old, u32 mask, enum dh_plane plane)
{
    const u32 often = 8;
    if (dh_cell_is_history(old) && (a->kind & (DH_WRITE | DH_ATOMIC)) != DH_WRITE &&
        dh_step_in_place(a, old, mask))
        return old;
    u32 cell = dh_step_cell(a, old, mask, plane);
    if (!dh_cell_is_history(cell) || dh_history_get(cell)->age < often || dh_history_get(cell)->by_slot)
        return cell;
    u32 own = dh_history_private(dh_history_get(cell));
    return own ? own : cell;
}

/* Publish access a in one cell of its plane, check it against what that plane and the other hold. */
static void one_word(const struct dh_access_now *a, uptr word, u32 mask)
{
    struct dh_thread *t = a->t;
    bool write = (a->kind & DH_WRITE) != 0, plain = !(a->kind & DH_ATOMIC);
    enum dh_plane own = write ? DH_PLANE_WRITE : DH_PLANE_READ;
    u32 *p = dh_shadow(word, own);
    u32 old = __atomic_load_n(p, __ATOMIC_RELAXED), cell;
    for (;;) {
        cell = next_cell(a, old, mask, own);
        if (cell != old) {
            if (__atomic_compare_exchange_n(p, &old, cell, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
                break;
            continue;
        }
        /* In place, or nothing to change. If the cell has moved on, our entry is in a history nobody sees. */
        u32 seen = __atomic_load_n(p, __ATOMIC_SEQ_CST);
        if (seen == old)
            break;
        old = seen;
    }
    if (write && !dh_step_ordered(t, old))
        dh_step_check(a, word, old, mask);
    u32 *q = dh_shadow(word, write ? DH_PLANE_READ : DH_PLANE_WRITE);
    u32 other = __atomic_load_n(q, __ATOMIC_RELAXED);
    if (!dh_step_ordered(t, other) && !(write && other == old)) /* a write has checked old above */
        dh_step_check(a, word, other, mask);
    if (write && plain && other != cell) {
        /* The write stands for a read too (step.c). A reader that comes in between has published itself
         * before and sees our write: losing its entry loses nothing. */
        __atomic_store_n(q, dh_step_cell(a, other, mask, DH_PLANE_READ), __ATOMIC_RELAXED);
    }
    if (!write && plain && mask == DH_MASK_FULL)
        dh_step_set_mine(t, cell, mask);
}

/* Two cells at once where they are equal, as they are for nearly all 8-byte data. False: not done. */
static bool two_words(const struct dh_access_now *a, uptr word)
{
    struct dh_thread *t = a->t;
    bool write = (a->kind & DH_WRITE) != 0;
    u64 *p = (u64 *)dh_shadow(word, write ? DH_PLANE_WRITE : DH_PLANE_READ);
    u64 *q = (u64 *)dh_shadow(word, write ? DH_PLANE_READ : DH_PLANE_WRITE);
    u64 old = __atomic_load_n(p, __ATOMIC_RELAXED);
    u32 lo = (u32)old;
    if (lo != (u32)(old >> 32) || !dh_step_ordered(t, lo))
        return false;
    u32 me = dh_cell_make(a->id, DH_MASK_FULL);
    u64 both = (u64)me << 32 | me;
    if (!__atomic_compare_exchange_n(p, &old, both, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        return false;
    u64 other = __atomic_load_n(q, __ATOMIC_RELAXED);
    u32 olo = (u32)other, ohi = (u32)(other >> 32);
    if (!dh_step_ordered(t, olo))
        dh_step_check(a, word, olo, DH_MASK_FULL);
    if (ohi != olo && !dh_step_ordered(t, ohi))
        dh_step_check(a, word + 4, ohi, DH_MASK_FULL);
    if (write)
        __atomic_store_n(q, both, __ATOMIC_RELAXED);
    return true;
}

void dh_engine_words(const struct dh_access_now *a)
{
    uptr end = a->addr + a->size;
    bool again;
    do {
        uptr word = a->addr & ~(uptr)3;
        while (word < end) {
            if (word >= a->addr && word + 8 <= end && !(word & 7) && !(a->kind & DH_ATOMIC) &&
                two_words(a, word)) {
                word += 8;
                continue;
            }
            u32 mask = DH_MASK_FULL;
            if (word < a->addr)
                mask &= DH_MASK_FULL << (a->addr - word);
            if (word + 4 > end)
                mask &= DH_MASK_FULL >> (word + 4 - end);
            one_word(a, word, mask);
            word += 4;
        }
        again = DH_UNLIKELY(__atomic_load_n(&dh_ranges_active, __ATOMIC_SEQ_CST) != 0) &&
                dh_range_wait(a->addr, end);
    } while (again);
}

void dh_engine_check(struct dh_thread *t, const volatile void *p, u32 kind)
{
    u32 cell =
        dh_region_has((uptr)p) ? __atomic_load_n(dh_shadow((uptr)p, DH_PLANE_WRITE), __ATOMIC_RELAXED) : 0;
    if (dh_runtime_off || dh_step_ordered(t, cell))
        return;
    struct dh_access_now a = {.t = t, .addr = (uptr)p, .size = 4, .kind = kind};
    if (dh_step_identify(&a, NULL))
        dh_step_check(&a, (uptr)p & ~(uptr)3, cell, DH_MASK_FULL);
}

/* ---- Slow paths of fastpath.c ---- */

/* [READ/WRITE SAME EPOCH] on bytes: has this thread made such an access to all of them in this epoch, in
 * whatever calling context? Then its first record of each stands, and there is nothing to do. */
bool dh_engine_same_epoch(struct dh_thread *t, uptr addr, size_t size, u32 kind)
{
    enum dh_plane plane = kind & DH_WRITE ? DH_PLANE_WRITE : DH_PLANE_READ;
    uptr end = addr + size;
    for (uptr word = addr & ~(uptr)3; word < end; word += 4) {
        u32 need = DH_MASK_FULL;
        if (word < addr)
            need &= DH_MASK_FULL << (addr - word);
        if (word + 4 > end)
            need &= DH_MASK_FULL >> (word + 4 - end);
        u32 cell = __atomic_load_n(dh_shadow(word, plane), __ATOMIC_RELAXED);
        u32 have = dh_step_mine_mask(cell);
        if ((have & need) != need)
            return false;
        if (plane == DH_PLANE_READ)
            dh_step_set_mine(t, cell, have);
    }
    return true;
}

static DH_NOINLINE DH_PRESERVE void slow(const volatile void *p, u32 size, u32 kind, const void *pc)
{
    struct dh_thread *t = __dh_hot.self;
    if (!t || dh_runtime_off || !dh_thread_enter(t))
        return;
    struct dh_access_now a = {.t = t, .addr = (uptr)p, .size = size, .kind = kind};
    if (dh_region_ready(a.addr, size) && !dh_engine_same_epoch(t, a.addr, size, kind) &&
        dh_step_identify(&a, pc))
        dh_engine_words(&a);
    dh_thread_leave(t);
}

/* Part of a word: the inlined check wants all four bytes, this one only those touched. */
DH_INLINE bool hit_part(const volatile void *p, u32 size, enum dh_plane plane)
{
    struct dh_thread *t = __dh_hot.self;
    u32 c = __atomic_load_n(dh_shadow((uptr)p, plane), __ATOMIC_RELAXED);
    u32 need = ((1u << size) - 1) << ((uptr)p & 3);
    if (dh_step_mine_simple(c))
        return (dh_cell_mask(c) & need) == need;
    /* A table that outlived a collection may name a recycled history. */
    return plane == DH_PLANE_READ && t && dh_cell_is_history(c) &&
           (dh_step_mine_known(t, c) & need) == need && t->gen == dh_collect_gen;
}

DH_INLINE bool hit_shared(const volatile void *p, bool eight)
{
    struct dh_thread *t = __dh_hot.self;
    if (!t)
        return true;
    const u32 *r = dh_shadow((uptr)p, DH_PLANE_READ);
    u32 c = __atomic_load_n(r, __ATOMIC_RELAXED);
    if (eight && __atomic_load_n(r + 1, __ATOMIC_RELAXED) != c)
        return false;
    return dh_step_is_mine(t, c) && t->gen == dh_collect_gen;
}

#define PC __builtin_return_address(0)

DH_PRESERVE void __dh_slow_read1(const volatile void *p)
{
    if (!hit_part(p, 1, DH_PLANE_READ))
        slow(p, 1, DH_READ, PC);
}

DH_PRESERVE void __dh_slow_read2(const volatile void *p)
{
    if (!hit_part(p, 2, DH_PLANE_READ))
        slow(p, 2, DH_READ, PC);
}

DH_PRESERVE void __dh_slow_read4(const volatile void *p)
{
    if (!hit_shared(p, false))
        slow(p, 4, DH_READ, PC);
}

DH_PRESERVE void __dh_slow_read8(const volatile void *p)
{
    if (!hit_shared(p, true))
        slow(p, 8, DH_READ, PC);
}

DH_PRESERVE void __dh_slow_read16(const volatile void *p)
{
    if (!hit_shared(p, true) || !hit_shared((const volatile char *)p + 8, true))
        slow(p, 16, DH_READ, PC);
}

DH_PRESERVE void __dh_slow_write1(const volatile void *p)
{
    if (!hit_part(p, 1, DH_PLANE_WRITE))
        slow(p, 1, DH_WRITE, PC);
}

DH_PRESERVE void __dh_slow_write2(const volatile void *p)
{
    if (!hit_part(p, 2, DH_PLANE_WRITE))
        slow(p, 2, DH_WRITE, PC);
}

DH_PRESERVE void __dh_slow_write4(const volatile void *p)
{
    slow(p, 4, DH_WRITE, PC);
}

DH_PRESERVE void __dh_slow_write8(const volatile void *p)
{
    slow(p, 8, DH_WRITE, PC);
}

DH_PRESERVE void __dh_slow_write16(const volatile void *p)
{
    slow(p, 16, DH_WRITE, PC);
}
