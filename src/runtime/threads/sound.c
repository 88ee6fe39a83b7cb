/*
 * sound.c - dh_thread_is_sound (thread.h): what must hold whenever a thread leaves the runtime.
 */
#include "runtime/shadow/ids.h"
#include "runtime/threads/thread.h"

/* Its blocks belong to this thread, and ids below `next` have been taken from them. */
static bool run_sound(const struct dh_id_run *r)
{
    if (r->size == 0)
        return dh_id_eq(r->next, r->end);
    return dh_id_begins_block(r->first) && r->size % DH_ID_BLOCK == 0 &&
           dh_id_eq(r->end, dh_id_plus(r->first, r->size)) && !dh_id_less(r->next, r->first) &&
           !dh_id_less(r->end, r->next) && dh_ids_is_owned(r->first) &&
           dh_ids_is_owned(dh_id_plus(r->first, r->size - 1));
}

/* The ids that the inlined check attributes to this epoch begin no later than the next id and end with the
 * blocks. */
static bool hot_sound(const struct dh_thread *t, const struct dh_hot *hot)
{
    const dh_cell_t first = dh_cell_from(hot->base);
    const dh_id_t base = dh_cell_id(first);
    if (hot->read_flip != dh_thread_read_flip(t) || t->class != dh_thread_class(t->slot))
        return false;
    if (hot->bases != ((u64)hot->base << 32 | hot->base))
        return false;
    if (t->alone)
        return hot->base == 0 && hot->span == ~0u;
    if (t->unsampled)
        return hot->base == 0 && (hot->span <= 1 || hot->span == DH_SPAN_SETTLED);
    if (hot->span == 0)
        return true;
    return dh_cell_is_simple(first) && dh_mask_is_full(dh_cell_mask(first)) &&
           !dh_id_less(base, t->ids.plain.first) && !dh_id_less(t->ids.plain.next, base) &&
           dh_id_eq(dh_id_plus(base, hot->span), t->ids.plain.end);
}

/* A function that began as one thread and ends as another leaves the top of the stack in the former's frames
 * (identity.c), so nothing can be said about language-level threads. */
static bool frames_sound(const struct dh_thread *t, const struct dh_hot *hot)
{
    if (t->carried || !t->frames_n || !hot->limit)
        return true;
    return hot->sp >= t->frames && hot->sp <= hot->limit && hot->limit == t->frames + t->frames_n;
}

/* Separate assertions, so that the line number tells which one failed. */
bool dh_thread_is_sound(const struct dh_thread *t)
{
    DH_ASSERT(t == __dh_hot.self);
    DH_ASSERT(dh_slot_raw(t->slot) < DH_SLOTS_MAX && dh_slot_raw(t->slot) < t->vc.n && t->vc.n <= t->vc.cap);
    DH_ASSERT(dh_thread_epoch(t) > 0);
    DH_ASSERT(run_sound(&t->ids.plain));
    DH_ASSERT(run_sound(&t->ids.special));
    DH_ASSERT(!dh_id_less(t->ids.special.next, t->ids.special_floor));
    DH_ASSERT(hot_sound(t, &__dh_hot));
    DH_ASSERT(frames_sound(t, &__dh_hot));
    DH_ASSERT(t->locks.n <= DH_HELD_MAX && t->splits.n <= DH_SPARE_SPLITS);
    return true;
}
