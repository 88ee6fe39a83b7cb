/*
 * sink.h - the boundary that every event of the program crosses: from where it is seen (interceptors,
 * threads, the heap, lard.h, the interfaces of other tools) to its consumer. That is the engine, or else a
 * tap (tap.h): the recorder or the laboratory.
 *
 * There is one function for each event. The caller says what happened; only this header decides who receives
 * it. The engine is called directly, so that an event costs it one predictable branch. What is the same for
 * all sinks is done by the caller beforehand: tracking which locks a thread holds and which regions it is in.
 *
 * All are called inside the runtime, by the thread concerned, in program order, as tap.h describes;
 * exceptions are noted. docs/design/lab.md lists the four files of the engine that test the tap themselves,
 * and why.
 */
#ifndef DH_RUNTIME_SINK_SINK_H
#define DH_RUNTIME_SINK_SINK_H

#include "runtime/engine/exception.h"
#include "runtime/sink/tap.h"
#include "runtime/threads/sync.h"

/* Is every single event wanted? The engine does not need an event that changes nothing, so the caller may
 * omit it. With a tap there is nothing in shadow memory by which to tell. */
DH_INLINE bool dh_sink_wants_all(void)
{
    return DH_UNLIKELY(dh_tap != NULL);
}

/* ---- Accesses ---- */

/* An access of n bytes (n may be 0), made at pc; NULL: by the function on top of the shadow stack. kind: enum
 * dh_access bits. Checked and recorded. */
DH_INLINE void dh_sink_access_at(struct dh_thread *t, const volatile void *p, size_t n, u32 kind,
                                 const void *pc)
{
    dh_range_access(t, p, n, kind, pc); /* which instrumented code also calls, so it tests the tap itself */
}

DH_INLINE void dh_sink_access(struct dh_thread *t, const volatile void *p, size_t n, u32 kind)
{
    dh_sink_access_at(t, p, n, kind, NULL);
}

/* The use of a lock or of another synchronisation object: an atomic read of its first n bytes, up to 4, to be
 * checked but not kept. */
DH_INLINE void dh_sink_check(struct dh_thread *t, const volatile void *p, size_t n)
{
    if (DH_UNLIKELY(dh_tap != NULL))
        dh_tap->access(
            t, &(struct dh_tap_access){.addr = (uptr)p, .size = n, .kind = DH_READ | DH_ATOMIC | DH_UNKEPT});
    else
        dh_engine_check(t, p, n);
}

/* ---- Memory ---- */

/* [p, p + n) is new: forget its history. t may be NULL. */
DH_INLINE void dh_sink_clear(struct dh_thread *t, const volatile void *p, size_t n)
{
    if (DH_UNLIKELY(dh_tap != NULL))
        dh_tap->memory(t, DH_OP_RANGE_NEW, (uptr)p, n, 0);
    else
        dh_engine_clear(t, p, n);
}

/* The program got a block of n bytes from the heap: forget its history, up to the next multiple of 16. t may
 * be NULL. */
DH_INLINE void dh_sink_block(struct dh_thread *t, const volatile void *p, size_t n)
{
    if (DH_UNLIKELY(dh_tap != NULL))
        dh_tap->block(t, (uptr)p, n);
    else
        dh_engine_clear(t, p, DH_ALIGN_UP(n, 16));
}

/* The history of dst becomes that of src (the data moved: realloc, mremap). May overlap. */
DH_INLINE void dh_sink_move(struct dh_thread *t, volatile void *dst, const volatile void *src, size_t n)
{
    if (DH_LIKELY(dh_tap == NULL))
        dh_engine_copy(t, dst, src, n);
    else if (dst != src && n != 0)
        dh_tap->memory(t, DH_OP_RANGE_MOVE, (uptr)dst, n, (uptr)src);
}

/* The same for language-level objects (lard.h), which other threads may be accessing. n is not 0, and dst !=
 * src. */
DH_INLINE void dh_sink_clear_object(struct dh_thread *t, uptr p, size_t n)
{
    if (DH_UNLIKELY(dh_tap != NULL))
        dh_tap->memory(t, DH_OP_RANGE_NEW, p, n, 0);
    else
        dh_engine_clear_object(t, p, n);
}

DH_INLINE void dh_sink_copy_object(struct dh_thread *t, uptr dst, uptr src, size_t n)
{
    if (DH_UNLIKELY(dh_tap != NULL))
        dh_tap->memory(t, DH_OP_RANGE_COPY, dst, n, src);
    else
        dh_engine_copy_object(t, dst, src, n);
}

/* gone, gone_n: the part of the source outside the destination; its history is forgotten. */
DH_INLINE void dh_sink_move_object(struct dh_thread *t, uptr dst, uptr src, size_t n, uptr gone,
                                   size_t gone_n)
{
    if (DH_UNLIKELY(dh_tap != NULL)) {
        dh_tap->memory(t, DH_OP_RANGE_MOVE, dst, n, src);
    } else {
        dh_engine_copy_object(t, dst, src, n);
        dh_engine_clear_object(t, gone, gone_n);
    }
}

void dh_sink_tell_stack(struct dh_thread *t, uptr lo, uptr top);
/* Forget what functions that have returned left below `top`, on the stack that begins at lo. */
DH_INLINE void dh_sink_clear_stack(struct dh_thread *t, uptr lo, uptr top)
{
    if (DH_UNLIKELY(dh_tap != NULL))
        dh_sink_tell_stack(t, lo, top);
    else
        dh_engine_clear_stack(lo, top);
}

/* Synchronisation objects in [p, p + n) are created or destroyed: forget what they published. */
DH_INLINE void dh_sink_forget(const volatile void *p, size_t n)
{
    if (DH_UNLIKELY(dh_tap != NULL))
        dh_tap->forget(NULL, (uptr)p, n);
    dh_sync_forget(p, n);
}

/* ---- Synchronisation, by a thread that is neither in an unordered region nor alone ---- */

/* A lock was taken. */
DH_INLINE void dh_sink_acquire(struct dh_thread *t, uptr lock, bool shared)
{
    if (DH_UNLIKELY(dh_tap != NULL))
        dh_tap->sync(t, DH_OP_ACQUIRE, shared ? DH_SHARED : DH_EXCLUSIVE, lock);
    else
        dh_order_take_in(t, lock, !shared);
}

enum dh_sink_hold { DH_HELD_EXCLUSIVE, DH_HELD_SHARED, DH_HELD_UNKNOWN };
void dh_sink_tell_release(struct dh_thread *t, uptr lock, enum dh_sink_hold hold, bool system);
/* A lock is about to be released. system: by the language runtime, which creates no ordering: only taps that
 * saw the lock taken are told. */
DH_INLINE void dh_sink_release(struct dh_thread *t, uptr lock, enum dh_sink_hold hold, bool system)
{
    if (DH_UNLIKELY(dh_tap != NULL))
        dh_sink_tell_release(t, lock, hold, system);
    else if (hold == DH_HELD_UNKNOWN)
        /* Beyond DH_HELD_MAX, or another thread's: the mode in which it was held is unknown. Joined to what
         * every acquire sees, it orders at least what it must. */
        dh_order_give_out(t, lock, true);
    else
        dh_order_give_out_lock(t, lock, hold == DH_HELD_SHARED);
}

/* An edge through any other address. join: keep what was published there before. */
DH_INLINE void dh_sink_take_in(struct dh_thread *t, uptr addr)
{
    if (DH_UNLIKELY(dh_tap != NULL))
        dh_tap->sync(t, DH_OP_VOLATILE, DH_READ, addr);
    else
        dh_order_take_in(t, addr, false);
}

void dh_sink_tell_give_out(struct dh_thread *t, uptr addr, bool join);
DH_INLINE void dh_sink_give_out(struct dh_thread *t, uptr addr, bool join)
{
    if (DH_UNLIKELY(dh_tap != NULL)) {
        dh_sync_keep(addr); /* for the atomic operations there */
        dh_sink_tell_give_out(t, addr, join);
    } else {
        dh_order_give_out(t, addr, join);
    }
}

/* A condition is about to be signalled; a wait for it was ended by a signal. Neither creates ordering, so the
 * engine ignores them. Called in any region. */
DH_INLINE void dh_sink_notify(struct dh_thread *t, const void *condition)
{
    if (DH_UNLIKELY(dh_tap != NULL))
        dh_tap->sync(t, DH_OP_NOTIFY, 0, (uptr)condition);
}

DH_INLINE void dh_sink_wait(struct dh_thread *t, const void *condition)
{
    if (DH_UNLIKELY(dh_tap != NULL))
        dh_tap->sync(t, DH_OP_WAIT, 0, (uptr)condition);
}

u32 dh_sink_tell_clock_read(struct dh_thread *t, dh_slot_t slot);
void dh_sink_tell_clock_write(struct dh_thread *t, dh_slot_t slot, u64 time);
/* A language runtime (lard.h) reads one entry of t's clock, or raises it. */
DH_INLINE u32 dh_sink_read_clock(struct dh_thread *t, dh_slot_t slot)
{
    return DH_UNLIKELY(dh_tap != NULL) ? dh_sink_tell_clock_read(t, slot) : dh_thread_read_clock(t, slot);
}

DH_INLINE void dh_sink_write_clock(struct dh_thread *t, dh_slot_t slot, u64 time)
{
    if (DH_UNLIKELY(dh_tap != NULL))
        dh_sink_tell_clock_write(t, slot, time);
    dh_thread_write_clock(t, slot, time);
}

/* ---- Threads ---- */

/* t has created `child`, which has not started. */
DH_INLINE void dh_sink_fork(struct dh_thread *t, struct dh_thread *child)
{
    if (DH_UNLIKELY(dh_tap != NULL))
        dh_tap->thread(t, DH_OP_FORK, child->uid);
    else
        dh_thread_release(t, &child->birth, false);
}

DH_INLINE void dh_sink_begin(struct dh_thread *t)
{
    if (DH_UNLIKELY(dh_tap != NULL)) {
        dh_tap->thread_start(t);
    } else {
        dh_thread_acquire(t, &t->birth);
        dh_publish_clear(&t->birth);
    }
}

/* Returns the last of t's epochs that a thread joining it will acquire. */
DH_INLINE u32 dh_sink_end(struct dh_thread *t)
{
    if (DH_LIKELY(dh_tap == NULL))
        return dh_thread_read_clock(t, t->slot);
    dh_tap->thread_end(t);
    return dh_thread_epoch(t); /* to a tap each epoch is an object with its own address (sink.c) */
}

void dh_sink_tell_join(struct dh_thread *t, struct dh_thread *child);
/* child has ended, and t has joined it. */
DH_INLINE void dh_sink_join(struct dh_thread *t, struct dh_thread *child)
{
    if (DH_UNLIKELY(dh_tap != NULL))
        dh_sink_tell_join(t, child);
    else
        dh_thread_acquire(t, &child->death);
}

void dh_sink_tell_hand_over(struct dh_thread *from, struct dh_thread *to);
/* A kernel thread continues as another thread, ordered after all that it did as the first one. */
DH_INLINE void dh_sink_hand_over(struct dh_thread *from, struct dh_thread *to)
{
    if (DH_UNLIKELY(dh_tap != NULL))
        dh_sink_tell_hand_over(from, to);
    else
        dh_thread_hand_over(from, to);
}

/* t has been renamed. */
DH_INLINE void dh_sink_named(struct dh_thread *t)
{
    if (DH_UNLIKELY(dh_tap != NULL) && dh_tap->named)
        dh_tap->named(t);
}

/* From now on this context stands for stacks with more calls than it has (threads/context.h). */
DH_INLINE void dh_sink_folded(dh_ctx_t ctx)
{
    if (DH_UNLIKELY(dh_tap != NULL) && dh_tap->folded)
        dh_tap->folded(ctx);
}

/* t runs on the kernel thread of `by` from now on. */
DH_INLINE void dh_sink_carried(struct dh_thread *t, const struct dh_thread *by)
{
    if (DH_UNLIKELY(dh_tap != NULL) && dh_tap->carried)
        dh_tap->carried(t, by);
}

/* ---- Before an event, outside the runtime: races as exceptions are raised here, by the engine only ---- */

DH_INLINE void dh_sink_before_free(void *p, const void *pc)
{
    if (dh_exception_on() && !dh_sink_wants_all())
        dh_exception_before_free(p, pc);
}

/* Like __dh_atomic_pre. */
DH_INLINE void dh_sink_before_atomic(const volatile void *p, u32 size, u32 order, u32 kind, const void *pc)
{
    if (dh_exception_on() && !dh_sink_wants_all())
        dh_exception_before_atomic(p, size, order, kind, pc);
}

/* ---- The process: what a tap must know or do along with the rest of the runtime ---- */

DH_INLINE void dh_sink_modules(void)
{
    if (dh_tap)
        dh_tap->modules();
}

DH_INLINE void dh_sink_finish(void)
{
    if (dh_tap)
        dh_tap->finish();
}

DH_INLINE void dh_sink_fork_child(struct dh_thread *self)
{
    if (dh_tap)
        dh_tap->fork_child(self);
}

DH_INLINE void dh_sink_each_lock(dh_lock_fn *fn)
{
    if (dh_tap)
        dh_tap->each_lock(fn);
}

#endif
