/*
 * own.h - the usual miss of a thread that is the only one of its class.
 *
 * While dh_pending_may holds, no other running thread shares this thread's read plane, and only the owner
 * adds anything to it (others clear it: the collector, a write that has raced, memory being freed).
 * Everything in it happened before, whatever form the cell has, unless the thread is an heir: then it may
 * also stem from a thread that has ended, and is checked first. So a read is recorded by a plain store and
 * checked again later (pending.h), and a write does not check its own read plane for races.
 *
 * Three rules follow from the clearing by others. The record of a split cell is taken out by an atomic
 * exchange, since the collector may be taking it out too. A plain store never brings back an id of an earlier
 * epoch, which the collector may have found dead meanwhile; where bytes have to keep one, quick.c uses
 * compare-exchange. And storing to a cell that was cleared meanwhile is harmless.
 *
 * Call these inside the runtime, after seeing dh_pending_may return true. It may have become false since, but
 * the thread that made it false waits until all others have left the runtime.
 *
 * Functions return false if they did nothing.
 */
#ifndef DH_RUNTIME_ENGINE_OWN_H
#define DH_RUNTIME_ENGINE_OWN_H

#include "runtime/engine/engine.h"
#include "runtime/engine/pending.h"
#include "runtime/shadow/cells.h"
#include "runtime/shadow/exclusive.h"

/* Most words that dh_own_run takes at once. */
#define DH_OWN_RUN 16u
_Static_assert(DH_OWN_RUN <= 1u << (DH_PENDING_MASK - DH_PENDING_WORDS), "a pending read of so many");

/* Did this single access (or none) happen before? False may also mean that it takes longer to tell. */
DH_INLINE bool dh_own_before(const struct dh_thread *t, dh_cell_t cell)
{
    if (dh_cell_is_none(cell))
        return true;
    if (!dh_cell_is_simple(cell))
        return false;
    return dh_step_before(t, dh_cell_id(cell));
}

/* The same for the bytes of mask; *p may hold anything but a history. */
DH_INLINE bool dh_own_bytes_before(const struct dh_thread *t, const dh_cell_t *p, dh_cell_t cell,
                                   dh_mask_t mask)
{
    struct dh_bytes b;
    if (DH_LIKELY(!dh_cell_is_split(cell)))
        return dh_own_before(t, cell);
    bool ok = dh_split_read(p, cell, &b);
    for (; !dh_mask_is_none(mask) && ok; mask = dh_mask_rest(mask))
        ok = dh_own_before(t, b.cell[dh_mask_first(mask)]);
    return ok;
}

/* For a write: did all reads of these bytes by other classes happen before? Call it after publishing the
 * write. */
DH_INLINE bool dh_own_readers_before(const struct dh_thread *t, uptr word, dh_mask_t mask)
{
    for (u32 rest = dh_engine_readers(t, word); DH_UNLIKELY(rest != 0); rest &= rest - 1) {
        const dh_cell_t *r = dh_shadow_nth(word, (u32)__builtin_ctz(rest));
        if (!dh_own_bytes_before(t, r, dh_cell_load(r), mask))
            return false;
    }
    return true;
}

/* Did all that the thread's own read plane holds of this word, or of two, happen before? False may also mean
 * that it takes longer to tell. */
DH_INLINE bool dh_own_plane_before(const struct dh_thread *t, uptr word, bool two)
{
    const dh_cell_t *r = dh_shadow(word, DH_PLANE_READ);
    DH_ASSERT(t->heir ||
              (dh_valid_own(dh_cell_load(r), &t->vc) && (!two || dh_valid_own(dh_cell_load(r + 1), &t->vc))));
    return DH_LIKELY(!t->heir) ||
           (dh_own_before(t, dh_cell_load(r)) && (!two || dh_own_before(t, dh_cell_load(r + 1))));
}

/* Store to a cell of the thread's own read plane that held `old`. */
DH_INLINE void dh_own_put(struct dh_thread *t, dh_cell_t *p, dh_cell_t old, dh_cell_t cell)
{
    if (DH_LIKELY(!dh_cell_is_split(old))) {
        dh_cell_store(p, cell);
        return;
    }
    old = dh_cell_take(p, cell);
    if (dh_cell_is_split(old))
        dh_split_free(t, old);
}

/* Two of them. */
DH_INLINE void dh_own_put_two(struct dh_thread *t, dh_cell_t *p, dh_cell_t cell)
{
    dh_pair_t old = dh_pair_load(p);
    if (DH_LIKELY(!dh_cell_is_split(dh_pair_lo(old)) && !dh_cell_is_split(dh_pair_hi(old)))) {
        dh_pair_store(p, dh_pair_of(cell));
        return;
    }
    dh_own_put(t, p, dh_pair_lo(old), cell);
    dh_own_put(t, p + 1, dh_pair_hi(old), cell);
}

/* What dh_own_alone does once it is known that the block is this thread's. */
DH_INLINE bool dh_own_store(struct dh_thread *t, uptr word, bool two, dh_mask_t mask, bool write, dh_id_t id)
{
    dh_cell_t *r = dh_shadow(word, DH_PLANE_READ), *w = dh_shadow(word, DH_PLANE_WRITE);
    dh_cell_t cell = dh_cell_make(id, mask);
    /* The marks spare us this check: nothing here belongs to another thread. */
    DH_ASSERT(dh_valid_own(dh_cell_load(w), &t->vc) && dh_valid_own(dh_cell_load(r), &t->vc));
    DH_ASSERT(!two ||
              (dh_valid_own(dh_cell_load(w + 1), &t->vc) && dh_valid_own(dh_cell_load(r + 1), &t->vc)));
    if (two) {
        if (write)
            dh_own_put_two(t, w, cell);
        dh_own_put_two(t, r, cell); /* a write stands for a read */
        return true;
    }
    const dh_cell_t wrote = dh_cell_load(w), read = dh_cell_load(r);
    const bool whole = dh_mask_is_full(mask);
    if (write) {
        if (!whole)
            cell = dh_step_part(t, wrote, DH_CELL_NONE, id, mask);
        if (dh_cell_is_none(cell))
            return false;
        dh_own_put(t, w, wrote, cell);
    }
    if (!whole)
        cell = dh_step_part(t, read, wrote, id, mask);
    if (dh_cell_is_none(cell))
        return write; /* reading it back will miss the inlined check, but find it */
    dh_own_put(t, r, read, cell);
    return true;
}

/* Access `id` to two whole words, or to the bytes of mask of one, if their block is exclusive to this thread
 * (exclusive.h). */
DH_INLINE bool dh_own_alone(struct dh_thread *t, uptr word, bool two, dh_mask_t mask, bool write, dh_id_t id)
{
    DH_ASSERT(dh_valid_id(id) && t->in_rt && (!two || dh_mask_is_full(mask)));
    if (DH_UNLIKELY(t->heir))
        return false;
    bool done = dh_exclusive_is(dh_exclusive_begin(t->class, word), t->class) &&
                dh_own_store(t, word, two, mask, write, id);
    dh_exclusive_end(t->class);
    return done;
}

/* Read `id` of two whole words, or of the bytes of mask of one. */
DH_INLINE bool dh_own_read(struct dh_thread *t, uptr word, bool two, dh_mask_t mask, dh_id_t id)
{
    dh_cell_t *p = dh_shadow(word, DH_PLANE_READ), *q = dh_shadow(word, DH_PLANE_WRITE);
    const dh_pair_t unit = dh_pair_load_unit(q, two);
    const dh_cell_t other = dh_pair_lo(unit);
    DH_ASSERT(dh_valid_id(id) && t->in_rt && (!two || dh_mask_is_full(mask)));
    if ((two && !dh_pair_is_even(unit)) || !dh_own_bytes_before(t, q, other, mask) ||
        !dh_own_plane_before(t, word, two) || __atomic_load_n(&dh_ranges_active, __ATOMIC_RELAXED) != 0)
        return false;
    if (two) {
        dh_own_put_two(t, p, dh_cell_make(id, DH_MASK_FULL));
    } else {
        dh_cell_t old = dh_cell_load(p);
        dh_cell_t cell =
            dh_mask_is_full(mask) ? dh_cell_make(id, mask) : dh_step_part(t, old, other, id, mask);
        DH_ASSERT(dh_valid_cell(old, DH_PLANE_READ));
        if (dh_cell_is_none(cell))
            return false;
        dh_own_put(t, p, old, cell);
    }
    /* The bytes of a split cell can change while it stays. */
    dh_cell_t seen = DH_UNLIKELY(dh_cell_is_split(other)) ? DH_PENDING_LOOK : other;
    if (DH_UNLIKELY(dh_pending_add(t, word, two ? 2 : 1, mask, seen, id)))
        dh_pending_settle_now(t);
    return true;
}

/* Read `id` of n words written by one access, in a part of the thread's own read plane that may be
 * overwritten. */
DH_INLINE bool dh_own_run_read(struct dh_thread *t, uptr lo, u32 n, dh_id_t id)
{
    const dh_cell_t *w = dh_shadow(lo, DH_PLANE_WRITE);
    const dh_cell_t seen = dh_cell_load(w);
    if (dh_cells_equal(w, n, seen) < n || !dh_own_before(t, seen) ||
        __atomic_load_n(&dh_ranges_active, __ATOMIC_RELAXED) != 0)
        return false;
    dh_cells_fill(dh_shadow(lo, DH_PLANE_READ), n, dh_cell_make(id, DH_MASK_FULL));
    if (DH_UNLIKELY(dh_pending_add(t, lo, n, DH_MASK_FULL, seen, id)))
        dh_pending_settle_now(t);
    return true;
}

/* Access `id` to the words of [lo, hi), at most DH_OWN_RUN, if their block is exclusive to this thread, or if
 * it reads what one access wrote. */
DH_INLINE bool dh_own_run(struct dh_thread *t, uptr lo, uptr hi, bool write, dh_id_t id)
{
    const u32 n = (u32)(hi - lo) / 4;
    const dh_cell_t me = dh_cell_make(id, DH_MASK_FULL);
    dh_cell_t *r = dh_shadow(lo, DH_PLANE_READ), *w = dh_shadow(lo, DH_PLANE_WRITE);
    DH_ASSERT(dh_valid_id(id) && t->in_rt && n > 0 && n <= DH_OWN_RUN);
    if (DH_UNLIKELY((lo ^ (hi - 1)) >> DH_TOUCHED_SHIFT != 0 || dh_cells_any_split(r, n)))
        return false;
    if (DH_UNLIKELY(t->heir)) {
        const dh_cell_t old = dh_cell_load(r);
        if (write || dh_cells_equal(r, n, old) < n || !dh_own_before(t, old))
            return false;
        return dh_own_run_read(t, lo, n, id);
    }
    const bool alone = dh_exclusive_is(dh_exclusive_begin(t->class, lo), t->class);
    bool done = alone && !(write && dh_cells_any_split(w, n));
    if (done && write)
        dh_cells_fill(w, n, me);
    if (done)
        dh_cells_fill(r, n, me);
    dh_exclusive_end(t->class);
    return alone || write ? done : dh_own_run_read(t, lo, n, id);
}

/* Write `id` of two whole words, or of one. */
DH_INLINE bool dh_own_write(struct dh_thread *t, uptr word, bool two, dh_id_t id)
{
    dh_cell_t *p = dh_shadow(word, DH_PLANE_WRITE), *q = dh_shadow(word, DH_PLANE_READ);
    const dh_pair_t old = dh_pair_load_unit(p, two);
    const dh_cell_t me = dh_cell_make(id, DH_MASK_FULL), was = dh_pair_lo(old);
    DH_ASSERT(dh_valid_id(id) && t->in_rt && dh_valid_cell(was, DH_PLANE_WRITE));
    if ((two && !dh_pair_is_even(old)) || !dh_own_before(t, was) || !dh_own_plane_before(t, word, two))
        return false;
    if (!(two ? dh_pair_cas(p, old, dh_pair_of(me)) : dh_cell_cas(p, was, me)))
        return false;
    if (DH_UNLIKELY(!dh_range_settled(p, me) || (two && !dh_range_settled(p + 1, me)) ||
                    !dh_own_readers_before(t, word, DH_MASK_FULL) ||
                    (two && !dh_own_readers_before(t, word + 4, DH_MASK_FULL)))) {
        dh_quick_look(t, word, two, id); /* it is published, so now it must be checked */
        return true;
    }
    /* So that reading back one's own write hits the inlined check (engine.c, stand_for_read). */
    if (two)
        dh_own_put_two(t, q, me);
    else
        dh_own_put(t, q, dh_cell_load(q), me);
    return true;
}

#endif
