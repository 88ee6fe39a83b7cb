/*
 * unsampled.h - accesses outside sampling periods (threads/period.h).
 *
 * Nothing is recorded. An access is checked against what sampling periods recorded for its memory; and a
 * write, after which all of that is history, makes the memory quiet again.
 *
 * A thread outside a period looks at the write plane only: inlined code finds an empty write cell and
 * continues. So a read recorded where there is no write is also shown there, as DH_CELL_READS
 * (dh_unsampled_show). Invariant: if some read plane has a read that a future write could race with, the
 * word's write cell is not empty.
 */
#ifndef DH_RUNTIME_ENGINE_UNSAMPLED_H
#define DH_RUNTIME_ENGINE_UNSAMPLED_H

#include "runtime/engine/engine.h"
#include "runtime/shadow/cells.h"
#include "runtime/threads/period.h"

/* Access a (its id is not needed) of a thread outside a period, which is in the runtime. */
void dh_unsampled_access(struct dh_access_now *a, const void *pc);

/* Are all cells empty, so that the thread need not enter the runtime? */
bool dh_unsampled_is_quiet(uptr addr, size_t n);
/* The same for `count` elements of `size` bytes, `step` bytes apart. */
bool dh_unsampled_is_quiet_stride(uptr addr, uptr step, u64 count, u32 size);
/* The history of [addr, addr + n) was copied from elsewhere, or forgotten for part of a word: make visible
 * the reads that the word's own write cell no longer shows. */
void dh_unsampled_disturb(uptr addr, size_t n);
extern u32 dh_unsampled_moves; /* how often; atomic */
DH_INLINE bool dh_unsampled_may_pass(const struct dh_thread *t)
{
    /* Span 0: a period has begun; other values: the thread is alone. */
    return t->unsampled && (__dh_hot.span == 1 || __dh_hot.span == DH_SPAN_SETTLED);
}

/*
 * A quick check whether a plain read of a few words needs no work: each holds a write that happened before,
 * or only reads, none of them in t's own plane (t would drop those). Data that others read or wrote in a
 * period may be read many times before it is quiet.
 */
DH_INLINE bool dh_unsampled_read_is_known(const struct dh_thread *t, uptr addr, u32 size)
{
    const uptr first = addr & ~(uptr)3;
    const dh_cell_t cell = dh_cell_load(dh_shadow_nth(first, DH_NTH_WRITE));
    const bool reads = dh_cell_is_reads(cell);
    const bool own = reads && (dh_touched_mark(first) & 1u << t->class); /* it has read nearby */
    bool known = t->gen == dh_collect_gen && dh_cell_is_simple(cell) &&
                 !((addr ^ (addr + size - 1)) >> DH_TOUCHED_SHIFT) &&
                 (reads || dh_cell_eq(t->memo.ordered[dh_step_ordered_slot(cell)], cell));
    DH_ASSERT(t->unsampled && size <= 16);
    for (uptr word = first; word < addr + size && known; word += 4)
        known = dh_cell_eq(dh_cell_load(dh_shadow_nth(word, DH_NTH_WRITE)), cell) &&
                (!own || dh_cell_is_none(dh_cell_load(dh_shadow_nth(word, t->class))));
    return known;
}

/* A read of [addr, addr + n) was published, with a full fence: show it in the write plane. */
DH_INLINE void dh_unsampled_show(uptr addr, size_t n)
{
    if (DH_LIKELY(!dh_period_on))
        return;
    for (uptr word = addr & ~(uptr)3; word < addr + n; word += 4) {
        dh_cell_t *w = dh_shadow_nth(word, DH_NTH_WRITE);
        if (dh_cell_is_none(dh_cell_load(w)))
            dh_cell_cas(w, DH_CELL_NONE, DH_CELL_READS);
    }
}

#endif
