/*
 * intercept/process.c - fork, and everything else that makes a copy of the process.
 *
 * libc calls the handlers of pthread_atfork around every fork, including those inside daemon() and forkpty().
 * Ours are registered first, so that before the fork they run last and after it first: the program's own
 * handlers, which lock its mutexes, run outside. Between ours the forking thread is inside the runtime with
 * all signals blocked and holds every runtime lock, so that the child finds none held by a thread that does
 * not exist there.
 *
 * _Fork, clone and syscall call no handlers: their interceptors do the same around the real call. A copy is
 * made unless CLONE_VM says that the memory is shared. A program that makes the system call directly
 * announces it by the hooks of <sanitizer/linux_syscall_hooks.h> (compat/syscall.c).
 */
#define _GNU_SOURCE 1
#include <linux/sched.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sys.h"
#include "runtime/intercept/intercept.h"
#include "runtime/threads/signal.h"
#include "runtime/threads/thread.h"

static char registrations; /* stands for the order between pthread_atfork and fork */

static _Thread_local struct {
    u64 mask;
    bool under_way; /* between before_fork and after_fork, in which one of these calls may call another */
    bool entered;   /* false: not attached, or the runtime itself forks */
} forking __attribute__((tls_model("initial-exec")));

static void before_fork(void)
{
    forking.mask = dh_signal_block_all();
    forking.under_way = true;
    dh_signal_fork_before();
    dh_runtime_fork_before();
    /* Not earlier: a running collection waits for all threads to leave the runtime, and we waited for it. */
    struct dh_thread *t = __dh_hot.self;
    forking.entered = t != NULL && dh_thread_enter_any(t);
}

static void after_fork(void)
{
    dh_signal_fork_after();
    forking.under_way = false;
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

/* ---- Copies that libc tells nobody of: no handlers run, neither ours nor the program's ---- */

/* Is a copy of the process, about to be made by this thread, ours to prepare for? */
static bool is_unannounced(void)
{
    const struct dh_thread *t = __dh_hot.self;
    return !forking.under_way && (t == NULL || !t->in_rt);
}

void dh_process_copy_begin(void)
{
    if (is_unannounced())
        before_fork();
}

/* Keeps errno. */
void dh_process_copy_end(bool child)
{
    int e = errno;
    if (!forking.under_way)
        return;
    if (child)
        after_fork_child();
    else
        after_fork_parent();
    errno = e;
}

DH_INTERCEPTOR(pid_t, _Fork, void)
{
    DH_RESOLVE(_Fork);
    if (!is_unannounced())
        return REAL(_Fork)();
    dh_process_copy_begin();
    pid_t pid = REAL(_Fork)();
    dh_process_copy_end(pid == 0);
    return pid;
}

/* The child of vfork shares the parent's memory, and with it the shadow and every lock of the runtime, but is
 * another process. A copy is what the standards allow vfork to be. */
DH_INTERCEPTOR(pid_t, vfork, void)
{
    return _Fork();
}

/* What the child of clone runs. On the parent's stack, of which the child has a copy. */
struct clone_call {
    int (*fn)(void *);
    void *arg;
};

/* libc ends the child by a system call when this returns: report what was found before that. */
static DH_CALLS_PROGRAM int clone_child(void *p)
{
    struct clone_call call = *(struct clone_call *)p;
    dh_process_copy_end(true);
    return dh_runtime_exit_status(call.fn(call.arg));
}

typedef int clone_function(int (*)(void *), void *, int, void *, ...);

static int clone_as(clone_function *real, int (*fn)(void *), void *stack, int flags, void *arg, va_list ap)
{
    pid_t *parent_tid = va_arg(ap, pid_t *);
    void *tls = va_arg(ap, void *);
    pid_t *child_tid = va_arg(ap, pid_t *);
    if ((flags & CLONE_VM) || fn == NULL || !is_unannounced())
        return real(fn, stack, flags, arg, parent_tid, tls, child_tid);
    struct clone_call call = {fn, arg};
    dh_process_copy_begin();
    int pid = real(clone_child, stack, flags, &call, parent_tid, tls, child_tid);
    dh_process_copy_end(false);
    return pid;
}

/* The flags tell which optional arguments were passed; the others are ignored. */
#define CLONE(name)                                                                      \
    DH_INTERCEPTOR(int, name, int (*fn)(void *), void *stack, int flags, void *arg, ...) \
    {                                                                                    \
        DH_RESOLVE(name);                                                                \
        va_list ap;                                                                      \
        va_start(ap, arg);                                                               \
        int pid = clone_as(REAL(name), fn, stack, flags, arg, ap);                       \
        va_end(ap);                                                                      \
        return pid;                                                                      \
    }
CLONE(clone)
CLONE(__clone)

/* Does this system call make a copy of the process? A child of vfork is made one, as by the function. */
static bool copies(long number, long first)
{
    u64 flags = CLONE_VM;
    if (number == SYS_clone)
        flags = (u64)first;
    else if (number == SYS_clone3) /* if the kernel cannot read them either, it refuses */
        dh_sys_peek((uptr)first + offsetof(struct clone_args, flags), &flags, sizeof(flags));
    return number == SYS_fork || number == SYS_vfork || !(flags & CLONE_VM);
}

DH_INTERCEPTOR(long, syscall, long number, ...)
{
    DH_RESOLVE(syscall);
    va_list ap;
    long a[6];
    va_start(ap, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(ap, long);
    va_end(ap);
    if (DH_LIKELY(!copies(number, a[0])) || !is_unannounced())
        return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    dh_process_copy_begin();
    long pid = REAL(syscall)(number == SYS_vfork ? SYS_fork : number, a[0], a[1], a[2], a[3], a[4], a[5]);
    dh_process_copy_end(pid == 0);
    return pid;
}

/* ---- Handlers of the program's ---- */

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
