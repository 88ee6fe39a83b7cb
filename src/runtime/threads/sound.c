/*
 * sound.c - dh_thread_is_sound (thread.h): what must hold whenever a thread leaves the runtime.
 */
#include "runtime/shadow/ids.h"
#include "runtime/threads/thread.h"

/* [first, first + size) are blocks this thread takes ids from, as far as `next`. */
static bool ids_sound(dh_id_t first, dh_id_t next, dh_id_t end, u32 size)
{
    if (size == 0)
        return dh_id_eq(next, end);
    return dh_id_begins_block(first) && size % DH_ID_BLOCK == 0 && dh_id_eq(end, dh_id_plus(first, size)) &&
           !dh_id_less(next, first) && !dh_id_less(end, next) && dh_ids_is_owned(first) &&
           dh_ids_is_owned(dh_id_plus(first, size - 1));
}

/* What the inlined check takes for this epoch's begins no later than the next id and ends with the blocks. */
static bool hot_sound(const struct dh_thread *t, const struct dh_hot *hot)
{
    const dh_cell_t first = dh_cell_from(hot->base);
    const dh_id_t base = dh_cell_id(first);
    if (hot->read_flip != DH_READ_FLIP(dh_thread_class(t->slot)))
        return false;
    if (t->alone)
        return hot->base == 0 && hot->span == ~0u;
    if (hot->span == 0)
        return true;
    return dh_cell_is_simple(first) && dh_mask_is_full(dh_cell_mask(first)) &&
           !dh_id_less(base, t->id_first) && !dh_id_less(t->id_next, base) &&
           dh_id_eq(dh_id_plus(base, hot->span), t->id_end);
}

/* A function that began as one thread and ends as another leaves the top of the stack in the former's frames
 * (identity.c), so of those that are carried nothing can be said. */
static bool frames_sound(const struct dh_thread *t, const struct dh_hot *hot)
{
    if (t->carried || !t->frames_n || !hot->limit)
        return true;
    return hot->sp >= t->frames && hot->sp <= hot->limit && hot->limit == t->frames + t->frames_n;
}

/* Each by itself, so that the line tells which. */
bool dh_thread_is_sound(const struct dh_thread *t)
{
    DH_ASSERT(t == __dh_hot.self);
    DH_ASSERT(dh_slot_raw(t->slot) < DH_SLOTS_MAX && dh_slot_raw(t->slot) < t->vc.n && t->vc.n <= t->vc.cap);
    DH_ASSERT(dh_thread_epoch(t) > 0);
    DH_ASSERT(ids_sound(t->id_first, t->id_next, t->id_end, t->id_size));
    DH_ASSERT(ids_sound(t->special_first, t->special_next, t->special_end, t->special_size));
    DH_ASSERT(!dh_id_less(t->special_next, t->special_floor));
    DH_ASSERT(hot_sound(t, &__dh_hot));
    DH_ASSERT(frames_sound(t, &__dh_hot));
    DH_ASSERT(t->held_n <= DH_HELD_MAX && t->splits_n <= DH_SPARE_SPLITS);
    return true;
}
