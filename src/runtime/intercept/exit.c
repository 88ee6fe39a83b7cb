/*
 * intercept/exit.c - the ways a process ends.
 *
 * dh_runtime_exit_status decides the status after everything the program does at exit. Exit handlers
 * run in reverse order of registration; ours is registered before libc registers the one that runs all
 * destructors, so it is the very last. _exit and _Exit run no handlers and are intercepted. A
 * signal's status is left alone. Threads that still run at exit are given some time (option exit_wait).
 *
 * Edges: registering an exit handler happens before its call, which may be on another thread.
 */
#define _GNU_SOURCE 1
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/pool.h"
#include "base/sys.h"
#include "runtime/init.h"
#include "runtime/intercept/intercept.h"
#include "runtime/sink/sink.h"
#include "runtime/threads/busy.h"
#include "runtime/threads/signal.h"
#include "runtime/threads/thread.h"

static char quick_registrations; /* stands for the order between at_quick_exit and quick_exit */

/* ---- Exit handlers ---- */

struct exit_call {
    union {
        void (*plain)(void *);
        void (*with_status)(int, void *);
    } fn;
    void *arg;
};

static struct exit_call exit_call_begin(void *record)
{
    struct exit_call call = *(struct exit_call *)record;
    struct dh_scope sc;
    if (dh_scope_begin(&sc, __builtin_return_address(0))) {
        dh_order_acquire(sc.t, record);
        dh_sink_forget(record, sizeof(call));
        dh_pool_free(record, sizeof(call));
        dh_scope_end(&sc);
    }
    return call;
}

static void exit_plain(void *record)
{
    struct exit_call call = exit_call_begin(record);
    call.fn.plain(call.arg);
}

static void exit_with_status(int status, void *record)
{
    struct exit_call call = exit_call_begin(record);
    call.fn.with_status(status, call.arg);
}

static struct exit_call *exit_call_new(struct dh_thread *t, void *arg)
{
    struct exit_call *call = dh_pool_alloc(sizeof(*call));
    if (call == NULL) {
        dh_runtime_count(DH_COUNT_LOST_MEMORY);
        return NULL;
    }
    call->arg = arg;
    dh_order_release_store(t, call);
    return call;
}

/* atexit and the destructors of C++ statics come here too. */
DH_INTERCEPTOR(int, __cxa_atexit, void (*fn)(void *), void *arg, void *dso)
{
    DH_ENTER(__cxa_atexit, fn, arg, dso);
    struct exit_call *call = exit_call_new(sc.t, arg);
    if (call == NULL)
        DH_RETURN(REAL(__cxa_atexit)(fn, arg, dso));
    call->fn.plain = fn;
    int rc = REAL(__cxa_atexit)(exit_plain, call, dso);
    if (rc != 0)
        dh_pool_free(call, sizeof(*call));
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, on_exit, void (*fn)(int, void *), void *arg)
{
    DH_ENTER(on_exit, fn, arg);
    struct exit_call *call = exit_call_new(sc.t, arg);
    if (call == NULL)
        DH_RETURN(REAL(on_exit)(fn, arg));
    call->fn.with_status = fn;
    int rc = REAL(on_exit)(exit_with_status, call);
    if (rc != 0)
        dh_pool_free(call, sizeof(*call));
    DH_RETURN(rc);
}

/* Takes a function without an argument, so there is nowhere to keep a record: one address for all. */
DH_INTERCEPTOR(int, __cxa_at_quick_exit, void (*fn)(void *), void *dso)
{
    DH_ENTER(__cxa_at_quick_exit, fn, dso);
    dh_order_release(sc.t, &quick_registrations);
    DH_RETURN(REAL(__cxa_at_quick_exit)(fn, dso));
}

/* ---- Threads that still run ---- */

/* The first pauses are short: most threads that are still there have little left to do. */
enum { PAUSE_US = 100, PAUSE_MAX_US = 5000 };

/*
 * The process is about to end, and other threads with it. They may not have reached their racing accesses
 * yet, so they are given some time. The wait ends when all of them have ended, or are found blocked twice in
 * a row: then no thread is left that could wake another.
 */
static void wait_for_threads(void)
{
    enum dh_busy now, before = DH_BUSY_RUNNING;
    u64 end = dh_sys_now_us() + (u64)dh_opts.exit_wait * 1000, pause = PAUSE_US;
    while ((now = dh_busy_others()) != DH_BUSY_NONE &&
           (now == DH_BUSY_RUNNING || before == DH_BUSY_RUNNING)) {
        u64 at = dh_sys_now_us();
        if (at >= end)
            return;
        pause = pause < end - at ? pause : end - at;
        const struct timespec some = {.tv_nsec = (long)pause * 1000};
        dh_sys3(SYS_nanosleep, (long)&some, 0, 0);
        pause = pause * 2 < PAUSE_MAX_US ? pause * 2 : PAUSE_MAX_US;
        before = now;
    }
}

static void wait_at_exit(int status, void *unused)
{
    (void)status;
    (void)unused;
    wait_for_threads();
}

static bool waits_at_exit;

/*
 * Registered with the first thread that is created, and never without one. So it runs before the destructors
 * of what was there at that time, which the threads may be using.
 */
void dh_exit_wait_for_threads(void)
{
    if (dh_opts.exit_wait > 0 && !__atomic_exchange_n(&waits_at_exit, true, __ATOMIC_RELAXED))
        REAL(on_exit)(wait_at_exit, NULL);
}

/* ---- The end ---- */

static int quick_status;

/* Not when the thread is in the middle of the runtime: a handler of a fault there may call _exit. */
static int final_status(int status)
{
    struct dh_thread *t = __dh_hot.self;
    if (t != NULL && t->in_rt)
        return status;
    return dh_runtime_exit_status(status);
}

DH_INTERCEPTOR(void, _exit, int status)
{
    DH_RESOLVE(_exit);
    REAL(_exit)(final_status(status));
    __builtin_unreachable();
}

DH_INTERCEPTOR(void, _Exit, int status)
{
    DH_RESOLVE(_exit);
    REAL(_exit)(final_status(status));
    __builtin_unreachable();
}

static void last_exit_handler(int status, void *unused)
{
    (void)unused;
    int final = final_status(status);
    /* libc goes on with what is left of exit: flushing its streams, without their locks, as it must. */
    if (final != status)
        exit(final);
}

static void last_quick_exit_handler(void *unused)
{
    (void)unused;
    REAL(_exit)(final_status(quick_status));
}

DH_INTERCEPTOR(void, quick_exit, int status)
{
    DH_RESOLVE(quick_exit);
    struct dh_scope sc;
    if (dh_scope_begin(&sc, __builtin_return_address(0))) {
        dh_order_acquire(sc.t, &quick_registrations);
        dh_scope_end(&sc);
    }
    if (__atomic_load_n(&waits_at_exit, __ATOMIC_RELAXED))
        wait_for_threads();
    quick_status = status;
    REAL(quick_exit)(status);
    __builtin_unreachable();
}

/* The status is the signal's; but what was found is written, unless the program lives on in a handler. */
DH_INTERCEPTOR(void, abort, void)
{
    DH_RESOLVE(abort);
    struct sigaction act;
    if (dh_signal_action(SIGABRT, NULL, &act) == 0 && act.sa_handler == SIG_DFL)
        final_status(128 + SIGABRT);
    REAL(abort)();
    __builtin_unreachable();
}

void dh_intercept_exit_init(void)
{
    extern void *__dso_handle;
    REAL(on_exit)(last_exit_handler, NULL);
    REAL(__cxa_at_quick_exit)(last_quick_exit_handler, &__dso_handle);
}
