/*
 * sink.c - events that take more than one call to a tap. See sink.h.
 */
#include "runtime/sink/sink.h"

enum { STACK_TOLD = 1 << 20 }; /* most bytes of a stack */

void dh_sink_tell_stack(struct dh_thread *t, uptr lo, uptr top)
{
    bool language = t->language;
    DH_ASSERT(lo <= top);
    lo = top - lo > STACK_TOLD ? top - STACK_TOLD : lo;
    t->language = false; /* this does not come from the language runtime */
    dh_tap->memory(t, DH_OP_RANGE_NEW, lo, top - lo, 0);
    t->language = language;
}

void dh_sink_tell_release(struct dh_thread *t, uptr lock, enum dh_sink_hold hold, bool system)
{
    t->system_order += system; /* also for a lock that was taken inside and is released outside */
    if (hold == DH_HELD_UNKNOWN)
        dh_tap->release_foreign(t, lock);
    else
        dh_tap->sync(t, DH_OP_RELEASE, hold == DH_HELD_SHARED ? DH_SHARED : DH_EXCLUSIVE, lock);
    t->system_order -= system;
}

void dh_sink_tell_give_out(struct dh_thread *t, uptr addr, bool join)
{
    if (join)
        dh_tap->sync(t, DH_OP_VOLATILE, DH_WRITE, addr);
    else
        dh_tap->atomic(t, DH_OP_ATOMIC_STORE, DH_RELEASE, &(struct dh_tap_access){.addr = addr});
}

/* ---- Clocks ---- */

/* To a tap an epoch of a thread is an object that is released when its time is read, and acquired by a thread
 * that writes that time, which then knows all that the first thread knew. No object of the program has such
 * an address. */
static uptr epoch_object(dh_slot_t slot, u64 time)
{
    return (uptr)1 << 63 | (uptr)dh_slot_raw(slot) << 32 | (u32)time;
}

u32 dh_sink_tell_clock_read(struct dh_thread *t, dh_slot_t slot)
{
    u32 time = dh_vclock_get(&t->vc, slot);
    if (dh_slot_eq(slot, t->slot))
        dh_sink_tell_give_out(t, epoch_object(slot, time), true);
    return time;
}

void dh_sink_tell_clock_write(struct dh_thread *t, dh_slot_t slot, u64 time)
{
    if (!dh_slot_eq(slot, t->slot) && time > dh_vclock_get(&t->vc, slot))
        dh_tap->sync(t, DH_OP_VOLATILE, DH_READ, epoch_object(slot, time));
}

/* ---- Threads ---- */

/* Thread clocks are not maintained with a tap, but slots of joined threads are reused. */
void dh_sink_tell_join(struct dh_thread *t, struct dh_thread *child)
{
    dh_tap->thread(t, DH_OP_JOIN, child->uid);
    dh_thread_write_clock(t, child->slot, dh_thread_last_epoch(child));
}

void dh_sink_tell_hand_over(struct dh_thread *from, struct dh_thread *to)
{
    dh_tap->sync(from, DH_OP_VOLATILE, DH_WRITE, (uptr)to);
    dh_tap->sync(to, DH_OP_VOLATILE, DH_READ, (uptr)to);
}
