/*
 * intercept/once.c - pthread_once, call_once and C++ guard variables: things done once.
 *
 * Edges: the end of the one execution happens before every return of a later (or waiting) call, and an
 * attempt that was left by an exception or a cancellation before the next one. A control that was initialised
 * while the program runs is checked as a lock is, before anything is acquired from it.
 *
 * pthread_once gives its routine no argument, so the routine to call is handed over in a thread-local
 * stack of calls under way; they nest, and are left by unwinding if the routine is cancelled or throws.
 */
#define _GNU_SOURCE 1
#include <linux/futex.h>
#include <pthread.h>
#include <threads.h>

#include "base/sys.h"
#include "runtime/intercept/intercept.h"
#include "runtime/threads/context.h"

/* ---- pthread_once, call_once ---- */

struct once {
    void *control;
    void (*routine)(void);
    struct once *outer;
};

static _Thread_local struct once *innermost __attribute__((tls_model("initial-exec")));

static void once_leave(struct once *o)
{
    innermost = o->outer;
}

static void once_order(struct once *o, void (*order)(struct dh_thread *, const volatile void *))
{
    struct dh_scope sc;
    if (dh_scope_begin(&sc, __builtin_return_address(0))) {
        order(sc.t, o->control);
        dh_scope_end(&sc);
    }
}

static void once_routine_ends(struct once **o)
{
    once_order(*o, dh_order_release);
}

/* Called by libc, outside the runtime's scope: the routine is program code. */
static DH_CALLS_PROGRAM void once_routine(void)
{
    struct once *o __attribute__((cleanup(once_routine_ends))) = innermost;
    once_order(o, dh_order_acquire);
    o->routine();
}

#define ONCE(control, routine)                                                                    \
    struct once o __attribute__((cleanup(once_leave))) = {(void *)(control), routine, innermost}; \
    innermost = &o

DH_INTERCEPTOR(int, pthread_once, pthread_once_t *control, void (*routine)(void))
{
    DH_ENTER(pthread_once, control, routine);
    dh_object_use(sc.t, control);
    ONCE(control, routine);
    int rc = DH_BLOCKING(REAL(pthread_once)(control, once_routine));
    if (rc == 0)
        dh_order_acquire(sc.t, control);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(void, call_once, once_flag *control, void (*routine)(void))
{
    DH_ENTER(call_once, control, routine);
    dh_object_use(sc.t, control);
    ONCE(control, routine);
    dh_scope_block(&sc);
    REAL(call_once)(control, once_routine);
    dh_scope_unblock(&sc);
    dh_order_acquire(sc.t, control);
    DH_RETURN_VOID;
}

/* ---- Guards of function-local statics (Itanium C++ ABI, section 3.3.3) ---- */

/*
 * A complete implementation, not a wrapper: programs that link libstdc++ statically have no next
 * definition to call. The first byte is the ABI's ("initialised"); the rest is ours. Compiled code reads
 * the first byte with an acquire load before it calls; release publishes at that address, where the
 * instrumented load finds it.
 */
struct guard {
    u8 done;
    u8 pad[3];
    u32 state; /* futex */
};
enum { GUARD_FREE = 0, GUARD_BUSY = 1, GUARD_BUSY_WAITED = 2 };

static void guard_set(struct guard *g, bool done)
{
    if (done)
        __atomic_store_n(&g->done, 1, __ATOMIC_RELEASE);
    if (__atomic_exchange_n(&g->state, GUARD_FREE, __ATOMIC_RELEASE) == GUARD_BUSY_WAITED)
        dh_sys6(SYS_futex, (long)&g->state, FUTEX_WAKE_PRIVATE, 1 << 30, 0, 0, 0);
}

/* True: the caller initialises. */
static bool guard_take(struct guard *g)
{
    for (;;) {
        if (__atomic_load_n(&g->done, __ATOMIC_ACQUIRE))
            return false;
        u32 state = GUARD_FREE;
        if (__atomic_compare_exchange_n(&g->state, &state, GUARD_BUSY, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_ACQUIRE)) {
            /* It may have been finished between the two looks. */
            if (!__atomic_load_n(&g->done, __ATOMIC_ACQUIRE))
                return true;
            guard_set(g, true);
            return false;
        }
        if (state == GUARD_BUSY && !__atomic_compare_exchange_n(&g->state, &state, GUARD_BUSY_WAITED, false,
                                                                __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            continue;
        dh_sys6(SYS_futex, (long)&g->state, FUTEX_WAIT_PRIVATE, GUARD_BUSY_WAITED, 0, 0, 0);
    }
}

DH_INTERCEPTOR(int, __cxa_guard_acquire, struct guard *g)
{
    struct dh_scope sc;
    if (!dh_scope_begin(&sc, __builtin_return_address(0)))
        return guard_take(g);
    int mine = DH_BLOCKING(guard_take(g));
    /* Also when an earlier attempt was aborted: what it did happens before this one. */
    dh_order_acquire(sc.t, g);
    DH_RETURN(mine);
}

DH_INTERCEPTOR(void, __cxa_guard_release, struct guard *g)
{
    struct dh_scope sc;
    bool in = dh_scope_begin(&sc, __builtin_return_address(0));
    if (in)
        dh_order_release_store(sc.t, g);
    guard_set(g, true);
    if (in)
        dh_scope_end(&sc);
}

DH_INTERCEPTOR(void, __cxa_guard_abort, struct guard *g)
{
    struct dh_scope sc;
    bool in = dh_scope_begin(&sc, __builtin_return_address(0));
    if (in)
        dh_order_release(sc.t, g);
    guard_set(g, false);
    if (in)
        dh_scope_end(&sc);
}
