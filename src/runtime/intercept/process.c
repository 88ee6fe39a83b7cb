/*
 * intercept/process.c - fork.
 *
 * Fork: libc calls the handlers of pthread_atfork around every fork, also those inside daemon() and
 * forkpty(). Ours are registered first, so that before the fork they run last and after it first: the
 * program's own handlers, which lock its mutexes, run outside. Between ours the forking thread is inside the
 * runtime with all signals blocked and holds every runtime lock.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <unistd.h>

#include "runtime/intercept/intercept.h"
#include "runtime/threads/signal.h"
#include "runtime/threads/thread.h"

static char registrations; /* stands for the order between pthread_atfork and fork */

static _Thread_local struct {
    u64 mask;
    bool entered; /* false: not attached, or the runtime itself forks */
} forking __attribute__((tls_model("initial-exec")));

static void before_fork(void)
{
    forking.mask = dh_signal_block_all();
    dh_signal_fork_before();
    dh_runtime_fork_before();
    /* Not sooner: a collection under way waits for all threads to leave the runtime, and we waited for it. */
    struct dh_thread *t = __dh_hot.self;
    forking.entered = t != NULL && dh_thread_enter_any(t);
}

static void after_fork(void)
{
    dh_signal_fork_after();
    if (forking.entered)
        dh_thread_leave(__dh_hot.self);
    dh_signal_set_mask(forking.mask);
}

static void after_fork_parent(void)
{
    dh_runtime_fork_parent();
    after_fork();
}

static void after_fork_child(void)
{
    dh_intercept_dl_fork_child();
    dh_intercept_sem_fork_child();
    dh_runtime_fork_child();
    after_fork();
}

DH_INTERCEPTOR(pid_t, fork, void)
{
    DH_ENTER(fork);
    dh_order_acquire(sc.t, &registrations);
    pid_t pid = DH_BLOCKING(REAL(fork)());
    DH_RETURN(pid);
}

/* No handlers run for this one, neither ours nor the program's. */
DH_INTERCEPTOR(pid_t, _Fork, void)
{
    DH_RESOLVE(_Fork);
    struct dh_thread *t = __dh_hot.self;
    if (t != NULL && t->in_rt)
        return REAL(_Fork)();
    before_fork();
    pid_t pid = REAL(_Fork)();
    int e = errno;
    if (pid == 0)
        after_fork_child();
    else
        after_fork_parent();
    errno = e;
    return pid;
}

/* The child of vfork shares the parent's memory, and with it the shadow and every lock of the runtime, but is
 * another process. A copy is what the standards allow vfork to be. */
DH_INTERCEPTOR(pid_t, vfork, void)
{
    return _Fork();
}

DH_INTERCEPTOR(int, __register_atfork, void (*prepare)(void), void (*parent)(void), void (*child)(void),
               void *dso)
{
    DH_ENTER(__register_atfork, prepare, parent, child, dso);
    dh_order_release(sc.t, &registrations);
    DH_RETURN(REAL(__register_atfork)(prepare, parent, child, dso));
}

void dh_intercept_process_init(void)
{
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}
