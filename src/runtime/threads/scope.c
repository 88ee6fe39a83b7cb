/*
 * scope.c - entering and leaving the runtime from an interceptor.
 *
 * Invariants: between begin and end the thread's in_rt is set, except between block and unblock; while it is
 * set, asynchronous signals are deferred (signal.c), the collector waits for the thread, and nested
 * interceptors go straight to the real functions. The thread's frame stays on the shadow stack from begin to
 * end, even while blocked, so that code run by a blocking call (a once routine, a constructor in dlopen) is
 * recorded below it.
 */
#include "runtime/threads/scope.h"
#include "runtime/engine/parts.h"

#include "runtime/abi/frame.h"
#include "runtime/engine/exception.h"
#include "runtime/threads/openmp.h"
#include "runtime/threads/plain.h"
#include "runtime/threads/thread.h"

#ifndef __EXCEPTIONS
#error "compile the runtime with -fexceptions: a cancelled thread unwinds through interceptors"
#endif

static _Thread_local bool known __attribute__((tls_model("initial-exec")));
static bool started; /* the main thread is known, so all others should be as well */

void dh_scope_thread_known(void)
{
    known = true;
    started = true;
}

/* A thread that is starting or has ended is known; one that was never announced is a blind spot. */
static DH_COLD bool unattached(void)
{
    if (started && !known) {
        known = true;
        dh_runtime_count(DH_COUNT_LOST_THREADS);
    }
    return false;
}

bool dh_scope_begin(struct dh_scope *sc, const void *pc)
{
    struct dh_thread *t = __dh_hot.self;
    sc->t = NULL;
    if (DH_UNLIKELY(t == NULL))
        return unattached();
    if (!dh_thread_enter_any(t))
        return false;
    t->work++;
    sc->t = t;
    sc->frame = dh_frame_push(pc);
    const uptr *const *own = __builtin_frame_address(0);
    sc->bp = *own; /* frame pointers are kept throughout the runtime */
    sc->quiet = dh_openmp_has(pc);
    t->untracked += sc->quiet;
    if (DH_UNLIKELY(dh_plain_may(pc)))
        dh_plain_complete(sc, sc->bp);
    return true;
}

void dh_scope_end(struct dh_scope *sc)
{
    struct dh_thread *t = sc->t;
    sc->t = NULL;
    t->untracked -= sc->quiet;
    dh_frame_pop(sc->frame);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->in_rt = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (DH_UNLIKELY(t->sig.pending || t->want_collect || t->want_raise)) {
        int e = errno; /* the handler's errno is its own; the caller sees the real function's */
        dh_thread_leave_slow(t);
        errno = e;
    }
}

void dh_scope_return(struct dh_scope *sc)
{
    DH_ASSERT(sc->t->in_rt && dh_thread_is_sound(sc->t));
    if (DH_UNLIKELY(sc->t->want_raise))
        dh_exception_late();
    dh_scope_end(sc);
}

/* The blocked scope of each slot, for place.c, which names variables on the stacks of waiting threads. Slots
 * are 16 bits. */
static const struct dh_scope *blocked[1 << 16];
_Static_assert(DH_SLOTS_MAX <= 1 << 16, "each slot has its place in `blocked`");

static const struct dh_scope **blocked_in(dh_slot_t slot)
{
    return &blocked[dh_slot_raw(slot) & 0xffff];
}

void dh_scope_block(struct dh_scope *sc)
{
    dh_parts_flush(sc->t); /* it may never return */
    const struct dh_scope **here = blocked_in(sc->t->slot);
    sc->outer = *here;
    __atomic_store_n(here, sc, __ATOMIC_RELEASE);
    sc->t->untracked -= sc->quiet; /* the program's code may run */
    dh_thread_leave(sc->t);
}

void dh_scope_unblock(struct dh_scope *sc)
{
    dh_thread_enter_any(sc->t);
    sc->t->untracked += sc->quiet;
    __atomic_store_n(blocked_in(sc->t->slot), sc->outer, __ATOMIC_RELEASE);
}

const struct dh_scope *dh_scope_blocked(dh_slot_t slot)
{
    return __atomic_load_n(blocked_in(slot), __ATOMIC_ACQUIRE);
}

void dh_scope_leave(struct dh_scope *sc)
{
    const struct dh_scope **here = blocked_in(sc->t->slot);
    if (*here == sc) /* as after dh_scope_unblock */
        sc->t->untracked += sc->quiet;
    __atomic_store_n(here, *here == sc ? sc->outer : NULL, __ATOMIC_RELEASE);
    dh_scope_end(sc);
}
