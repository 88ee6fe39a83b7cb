/*
 * sound.c - dh_thread_is_sound (thread.h): what must hold whenever a thread leaves the runtime.
 */
#include "runtime/shadow/ids.h"
#include "runtime/threads/thread.h"

/* [first, first + size) are blocks this thread takes ids from, as far as `next`. */
static bool ids_sound(u32 first, u32 next, u32 end, u32 size)
{
    if (size == 0)
        return next == end;
    return first % DH_ID_BLOCK == 0 && size % DH_ID_BLOCK == 0 && end == first + size && first <= next &&
           next <= end && dh_ids_is_owned(first) && dh_ids_is_owned(end - 1);
}

/* What the inlined check takes for this epoch's begins no later than the next id and ends with the blocks. */
static bool hot_sound(const struct dh_thread *t, const struct dh_hot *hot)
{
    u32 base = dh_cell_id(hot->base);
    if (hot->read_flip != dh_thread_read_flip(t) || t->class != t->slot % DH_READ_CLASSES)
        return false;
    if (t->alone)
        return hot->base == 0 && hot->span == ~0u;
    if (t->unsampled)
        return hot->base == 0 && hot->span <= 1;
    if (hot->span == 0)
        return true;
    return dh_cell_is_simple(hot->base) && dh_cell_mask(hot->base) == DH_MASK_FULL && t->id_first <= base &&
           base <= t->id_next && base + hot->span == t->id_end;
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
    DH_ASSERT(t->slot < DH_SLOTS_MAX && t->slot < t->vc.n && t->vc.n <= t->vc.cap && t->vc.c[t->slot] > 0);
    DH_ASSERT(ids_sound(t->id_first, t->id_next, t->id_end, t->id_size));
    DH_ASSERT(ids_sound(t->special_first, t->special_next, t->special_end, t->special_size));
    DH_ASSERT(t->special_floor <= t->special_next);
    DH_ASSERT(hot_sound(t, &__dh_hot));
    DH_ASSERT(frames_sound(t, &__dh_hot));
    DH_ASSERT(t->held_n <= DH_HELD_MAX && t->splits_n <= DH_SPARE_SPLITS);
    return true;
}
