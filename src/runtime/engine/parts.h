/*
 * parts.h - combines accesses to parts of a word before they are recorded: a write-combining buffer.
 *
 * Code that goes through memory byte by byte misses the inlined check four times a word, and in between the
 * cell would have to say "these bytes now, those in an earlier epoch". That detail is not needed so soon. An
 * access may be recorded later than it was made, by the same argument as in pending.h: what races with it
 * meanwhile is found when it is recorded, as long as that is before its thread publishes its clock or
 * acquires another's, and before it frees the memory. So parts of words wait here until the word is complete,
 * or the slot is needed.
 *
 * Only for threads with many such words (dh_split_pressure), and while dh_pending_may holds. Nothing waits
 * long: a part that is accessed again and again is recorded, and everything is after a number of accesses,
 * and when the thread blocks or ends. Used only by the owner, while it runs as that thread; inside the
 * runtime, except for dh_parts_has.
 */
#ifndef DH_RUNTIME_ENGINE_PARTS_H
#define DH_RUNTIME_ENGINE_PARTS_H

#include "runtime/threads/thread.h"

/* The slots of a word: [0] for its reads, [1] for its writes. */
DH_INLINE struct dh_part *dh_parts_of(struct dh_thread *t, uptr word)
{
    return t->parts.words[(word >> 2 ^ word >> 7) % DH_PARTS];
}

DH_INLINE dh_mask_t dh_parts_mask(const struct dh_part *e)
{
    return dh_mask_from(e->mask);
}

/* Is this access to the bytes of mask already waiting, or a write that stands for it? After a while the
 * answer is no, so that it gets recorded. */
DH_INLINE bool dh_parts_has(struct dh_thread *t, uptr word, dh_mask_t mask, bool write)
{
    struct dh_part *e = dh_parts_of(t, word);
    const u32 often = 16;
    return (e[1].word == word && dh_mask_covers(dh_parts_mask(&e[1]), mask) && ++e[1].again < often) ||
           (!write && e[0].word == word && dh_mask_covers(dh_parts_mask(&e[0]), mask) &&
            ++e[0].again < often);
}

/* Add access id to the bytes of mask, not all of them. */
void dh_parts_add(struct dh_thread *t, uptr word, dh_mask_t mask, bool write, dh_id_t id);
/* Record everything that waits. */
void dh_parts_flush_now(struct dh_thread *t);
DH_INLINE void dh_parts_flush(struct dh_thread *t)
{
    if (DH_UNLIKELY(t->parts.n))
        dh_parts_flush_now(t);
}

#endif
