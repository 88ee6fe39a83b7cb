/*
 * own.h - the usual miss of a thread that has its class to itself.
 *
 * While dh_pending_on, no two threads share a read plane: all that a thread's own plane holds has happened
 * before, whatever form the cell has, and only the owner puts anything there (others clear it: the collector,
 * a write that has raced, memory that is given up). So a read is put there by a plain store and looked at
 * again later (pending.h), and a write does not ask its own plane for races.
 *
 * Three rules follow from those who clear. A record of a split cell is taken out by an atomic exchange, since
 * the collector may be taking it out as well. A plain store never brings back an id of an earlier epoch,
 * which the collector may have found dead meanwhile; where bytes are to keep one, quick.c does it by
 * compare-exchange. And a cell that was cleared may be stored to all the same.
 *
 * Functions return false where nothing was done.
 */
#ifndef DH_RUNTIME_ENGINE_OWN_H
#define DH_RUNTIME_ENGINE_OWN_H

#include "runtime/engine/engine.h"
#include "runtime/engine/pending.h"
#include "runtime/shadow/exclusive.h"

/* Has this one access, or none, happened before? No may also mean that it takes longer to tell. */
DH_INLINE bool dh_own_before(const struct dh_thread *t, u32 cell)
{
    if (cell == 0)
        return true;
    if (!dh_cell_is_simple(cell))
        return false;
    const struct dh_id_block *b = dh_id_block(dh_cell_id(cell));
    if (DH_LIKELY(dh_vclock_get(&t->vc, b->slot) >= b->youngest))
        return true;
    return dh_vclock_get(&t->vc, b->slot) >= dh_id_clock(dh_cell_id(cell));
}

/* The same of the bytes of mask, of whatever *p holds but a history. */
DH_INLINE bool dh_own_bytes_before(const struct dh_thread *t, const u32 *p, u32 cell, u32 mask)
{
    struct dh_bytes b;
    if (DH_LIKELY(!dh_cell_is_split(cell)))
        return dh_own_before(t, cell);
    bool ok = dh_split_read(p, cell, &b);
    for (; mask && ok; mask &= mask - 1)
        ok = dh_own_before(t, b.cell[__builtin_ctz(mask)]);
    return ok;
}

/* A write: has all that other classes have read of these bytes happened before? Asked after it was published.
 */
DH_INLINE bool dh_own_readers_before(const struct dh_thread *t, uptr word, u32 mask)
{
    for (u32 rest = dh_engine_readers(t, word); DH_UNLIKELY(rest != 0); rest &= rest - 1) {
        const u32 *r = dh_shadow_nth(word, (u32)__builtin_ctz(rest));
        if (!dh_own_bytes_before(t, r, __atomic_load_n(r, __ATOMIC_RELAXED), mask))
            return false;
    }
    return true;
}

/* Store to a cell of the own read plane that held `old`. */
DH_INLINE void dh_own_put(struct dh_thread *t, u32 *p, u32 old, u32 cell)
{
    if (DH_LIKELY(!dh_cell_is_split(old))) {
        __atomic_store_n(p, cell, __ATOMIC_RELAXED);
        return;
    }
    old = __atomic_exchange_n(p, cell, __ATOMIC_RELAXED);
    if (dh_cell_is_split(old))
        dh_split_free(t, old);
}

/* Two of them. */
DH_INLINE void dh_own_put_two(struct dh_thread *t, u32 *p, u32 cell)
{
    u64 old = __atomic_load_n((u64 *)p, __ATOMIC_RELAXED);
    if (DH_LIKELY(!dh_cell_is_split((u32)old) && !dh_cell_is_split((u32)(old >> 32)))) {
        __atomic_store_n((u64 *)p, cell * 0x100000001ull, __ATOMIC_RELAXED);
        return;
    }
    dh_own_put(t, p, (u32)old, cell);
    dh_own_put(t, p + 1, (u32)(old >> 32), cell);
}

/* A cell of the own read plane with a read of the bytes of mask. 0: it takes more than one access and a mask.
 * `other` is the write cell. */
DH_INLINE u32 dh_own_part(const struct dh_thread *t, u32 old, u32 other, u32 id, u32 mask)
{
    u32 me = dh_cell_make(id, mask), left = dh_cell_mask(old) & ~mask;
    if (!dh_cell_is_simple(old))
        return 0;
    if (!left)
        return me;
    if (dh_cell_id(old) == id || (dh_step_mine_simple(old) && dh_split_pressure(t)))
        return me | dh_cell_make(0, dh_cell_mask(old));
    /* What is left may be a write that stands for a read, and the write cell has it: the first reads of odd
     * parts of a buffer that somebody has filled need no mixtures. */
    bool known = dh_cell_is_simple(other) && dh_cell_id(old) == dh_cell_id(other);
    return known && !(left & ~dh_cell_mask(other)) ? me : 0;
}

/* What dh_own_alone does once it is known that the block is this thread's. */
DH_INLINE bool dh_own_store(struct dh_thread *t, uptr word, bool two, u32 mask, bool write, u32 id)
{
    u32 *r = dh_shadow(word, DH_PLANE_READ), *w = dh_shadow(word, DH_PLANE_WRITE);
    u32 cell = dh_cell_make(id, mask);
    if (two) {
        if (write)
            dh_own_put_two(t, w, cell);
        dh_own_put_two(t, r, cell); /* a write stands for a read */
        return true;
    }
    u32 wrote = __atomic_load_n(w, __ATOMIC_RELAXED), read = __atomic_load_n(r, __ATOMIC_RELAXED);
    if (write) {
        if (mask != DH_MASK_FULL && !(cell = dh_own_part(t, wrote, 0, id, mask)))
            return false;
        dh_own_put(t, w, wrote, cell);
    }
    if (mask != DH_MASK_FULL && !(cell = dh_own_part(t, read, wrote, id, mask)))
        return write; /* reading it back will miss the inlined check, and find it */
    dh_own_put(t, r, read, cell);
    return true;
}

/* Access `id` to two whole words, or to the bytes of mask of one, if their block is this thread's alone
 * (exclusive.h). */
DH_INLINE bool dh_own_alone(struct dh_thread *t, uptr word, bool two, u32 mask, bool write, u32 id)
{
    DH_ASSERT(dh_valid_id(id) && t->in_rt && dh_pending_on && (!two || mask == DH_MASK_FULL));
    bool done = dh_exclusive_is(dh_exclusive_begin(t->class, word), t->class) &&
                dh_own_store(t, word, two, mask, write, id);
    dh_exclusive_end(t->class);
    return done;
}

/* Read `id` of two whole words, or of the bytes of mask of one. */
DH_INLINE bool dh_own_read(struct dh_thread *t, uptr word, bool two, u32 mask, u32 id)
{
    u32 *p = dh_shadow(word, DH_PLANE_READ), *q = dh_shadow(word, DH_PLANE_WRITE);
    u64 pair = two ? __atomic_load_n((u64 *)q, __ATOMIC_RELAXED) : 0;
    u32 other = two ? (u32)pair : __atomic_load_n(q, __ATOMIC_RELAXED);
    DH_ASSERT(dh_valid_id(id) && t->in_rt && dh_pending_on && (!two || mask == DH_MASK_FULL));
    if ((two && other != pair >> 32) || !dh_own_bytes_before(t, q, other, mask) ||
        __atomic_load_n(&dh_ranges_active, __ATOMIC_RELAXED) != 0)
        return false;
    if (two) {
        dh_own_put_two(t, p, dh_cell_make(id, DH_MASK_FULL));
    } else {
        u32 old = __atomic_load_n(p, __ATOMIC_RELAXED);
        u32 cell = mask == DH_MASK_FULL ? dh_cell_make(id, mask) : dh_own_part(t, old, other, id, mask);
        DH_ASSERT(dh_valid_cell(old, DH_PLANE_READ));
        if (!cell)
            return false;
        dh_own_put(t, p, old, cell);
    }
    /* The bytes of a split cell can change while it stays. */
    u32 seen = DH_UNLIKELY(dh_cell_is_split(other)) ? DH_PENDING_LOOK : other;
    if (DH_UNLIKELY(dh_pending_add(t, word, two, mask, seen, id)))
        dh_pending_settle_now(t);
    return true;
}

/* Write `id` of two whole words, or of one. */
DH_INLINE bool dh_own_write(struct dh_thread *t, uptr word, bool two, u32 id)
{
    u32 *p = dh_shadow(word, DH_PLANE_WRITE), *q = dh_shadow(word, DH_PLANE_READ);
    u64 old = two ? __atomic_load_n((u64 *)p, __ATOMIC_RELAXED) : __atomic_load_n(p, __ATOMIC_RELAXED);
    u32 me = dh_cell_make(id, DH_MASK_FULL), was = (u32)old;
    DH_ASSERT(dh_valid_id(id) && t->in_rt && dh_pending_on && dh_valid_cell(was, DH_PLANE_WRITE));
    if ((two && was != old >> 32) || !dh_own_before(t, was))
        return false;
    bool put = two ? __atomic_compare_exchange_n((u64 *)p, &old, me * 0x100000001ull, false, __ATOMIC_SEQ_CST,
                                                 __ATOMIC_RELAXED)
                   : __atomic_compare_exchange_n(p, &was, me, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    if (!put)
        return false;
    if (DH_UNLIKELY(!dh_range_settled(p, me) || (two && !dh_range_settled(p + 1, me)) ||
                    !dh_own_readers_before(t, word, DH_MASK_FULL) ||
                    (two && !dh_own_readers_before(t, word + 4, DH_MASK_FULL)))) {
        dh_quick_look(t, word, two, id); /* it is published, so now it must be checked */
        return true;
    }
    /* Reading back what one wrote is to hit the inlined check (engine.c, stand_for_read). */
    if (two)
        dh_own_put_two(t, q, me);
    else
        dh_own_put(t, q, __atomic_load_n(q, __ATOMIC_RELAXED), me);
    return true;
}

#endif
