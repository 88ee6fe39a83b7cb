/*
 * intercept/signal.c - installing signal handlers and blocking signals.
 *
 * All ways to install a handler end in dh_signal_action (signal.c). All ways to block signals leave SIGSEGV
 * out, because the runtime needs it; a thread-local bit maintains the illusion that it is blocked. Functions
 * that change handlers and masks do not enter the runtime: a deferred signal must be delivered before its
 * mask is changed.
 *
 * Edges: installing a handler happens before it is called. Sending a signal happens before it is fetched by
 * sigwait and the like, or from a signalfd (threads/fd.c): a thread that fetches one has waited for it. None
 * leads from kill() to a handler, which may run at any time: signals are not among POSIX's synchronising
 * functions.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "runtime/intercept/intercept.h"
#include "runtime/intercept/touch.h"
#include "runtime/threads/signal.h"

/* ---- Handlers ---- */

static sigset_t interrupting; /* siginterrupt: signals whose handlers do not restart system calls */

DH_INTERCEPTOR(int, sigaction, int sig, const struct sigaction *act, struct sigaction *old)
{
    return dh_signal_action(sig, act, old);
}

DH_INTERCEPTOR(int, __sigaction, int sig, const struct sigaction *act, struct sigaction *old)
{
    return dh_signal_action(sig, act, old);
}

static sighandler_t install(int sig, sighandler_t handler, int flags, bool mask_itself)
{
    struct sigaction act = {.sa_handler = handler, .sa_flags = flags}, old;
    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    sigemptyset(&act.sa_mask);
    if (mask_itself)
        sigaddset(&act.sa_mask, sig);
    return dh_signal_action(sig, &act, &old) == 0 ? old.sa_handler : SIG_ERR;
}

static sighandler_t install_bsd(int sig, sighandler_t handler)
{
    return install(sig, handler, sigismember(&interrupting, sig) == 1 ? 0 : SA_RESTART, true);
}

static sighandler_t install_sysv(int sig, sighandler_t handler)
{
    return install(sig, handler, (int)(SA_RESETHAND | SA_NODEFER), false);
}

DH_INTERCEPTOR(sighandler_t, signal, int sig, sighandler_t handler)
{
    return install_bsd(sig, handler);
}

DH_INTERCEPTOR(sighandler_t, bsd_signal, int sig, sighandler_t handler)
{
    return install_bsd(sig, handler);
}

DH_INTERCEPTOR(sighandler_t, ssignal, int sig, sighandler_t handler)
{
    return install_bsd(sig, handler);
}

DH_INTERCEPTOR(sighandler_t, sysv_signal, int sig, sighandler_t handler)
{
    return install_sysv(sig, handler);
}

DH_INTERCEPTOR(sighandler_t, __sysv_signal, int sig, sighandler_t handler)
{
    return install_sysv(sig, handler);
}

DH_INTERCEPTOR(int, sigignore, int sig)
{
    return install(sig, SIG_IGN, 0, false) == SIG_ERR ? -1 : 0;
}

DH_INTERCEPTOR(int, siginterrupt, int sig, int interrupt)
{
    struct sigaction act;
    if (dh_signal_action(sig, NULL, &act) != 0)
        return -1;
    if (interrupt) {
        sigaddset(&interrupting, sig);
        act.sa_flags &= ~SA_RESTART;
    } else {
        sigdelset(&interrupting, sig);
        act.sa_flags |= SA_RESTART;
    }
    return dh_signal_action(sig, &act, NULL);
}

/* ---- Masks ---- */

static _Thread_local bool segv_blocked __attribute__((tls_model("initial-exec")));

/* The program's call changed the mask: what it believes of SIGSEGV. set and ret_old may be NULL. */
static void remember_segv(int how, const sigset_t *set, sigset_t *ret_old)
{
    bool was = segv_blocked;
    if (set != NULL) {
        bool named = sigismember(set, SIGSEGV) == 1;
        if (how == SIG_SETMASK)
            segv_blocked = named;
        else if (named)
            segv_blocked = how == SIG_BLOCK;
    }
    if (ret_old != NULL && was)
        sigaddset(ret_old, SIGSEGV);
}

/* set and old may be the same object, so what was wanted is copied first. */
DH_INTERCEPTOR(int, pthread_sigmask, int how, const sigset_t *set, sigset_t *old)
{
    DH_RESOLVE(pthread_sigmask);
    sigset_t wanted, filtered;
    if (set != NULL)
        wanted = *set;
    int rc = REAL(pthread_sigmask)(how, dh_signal_filter(set, &filtered), old);
    if (rc == 0)
        remember_segv(how, set ? &wanted : NULL, old);
    return rc;
}

DH_INTERCEPTOR(int, sigprocmask, int how, const sigset_t *set, sigset_t *old)
{
    DH_RESOLVE(sigprocmask);
    sigset_t wanted, filtered;
    if (set != NULL)
        wanted = *set;
    int rc = REAL(sigprocmask)(how, dh_signal_filter(set, &filtered), old);
    if (rc == 0)
        remember_segv(how, set ? &wanted : NULL, old);
    return rc;
}

static int set_one(int how, int sig)
{
    sigset_t set;
    sigemptyset(&set);
    if (sigaddset(&set, sig) != 0)
        return -1;
    return sigprocmask(how, &set, NULL);
}

DH_INTERCEPTOR(int, sighold, int sig)
{
    return set_one(SIG_BLOCK, sig);
}

DH_INTERCEPTOR(int, sigrelse, int sig)
{
    return set_one(SIG_UNBLOCK, sig);
}

/* XSI: installs and unblocks, or only blocks (SIG_HOLD); the old action is SIG_HOLD if it was blocked. */
DH_INTERCEPTOR(sighandler_t, sigset, int sig, sighandler_t handler)
{
    sigset_t one, before;
    struct sigaction old;
    sigemptyset(&one);
    if (handler == SIG_ERR || sigaddset(&one, sig) != 0) {
        errno = EINVAL;
        return SIG_ERR;
    }
    if (dh_signal_action(sig, NULL, &old) != 0)
        return SIG_ERR;
    if (handler != SIG_HOLD && install(sig, handler, 0, false) == SIG_ERR)
        return SIG_ERR;
    if (sigprocmask(handler == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, &one, &before) != 0)
        return SIG_ERR;
    return sigismember(&before, sig) == 1 ? SIG_HOLD : old.sa_handler;
}

/* BSD's masks are ints: signals 1 to 32. */
static int set_bsd(int how, int mask)
{
    sigset_t set, old;
    sigemptyset(&set);
    set.__val[0] = (u32)mask;
    if (sigprocmask(how, &set, &old) != 0)
        return -1;
    return (int)old.__val[0];
}

DH_INTERCEPTOR(int, sigblock, int mask)
{
    return set_bsd(SIG_BLOCK, mask);
}

DH_INTERCEPTOR(int, sigsetmask, int mask)
{
    return set_bsd(SIG_SETMASK, mask);
}

DH_INTERCEPTOR(int, pthread_attr_setsigmask_np, pthread_attr_t *attr, const sigset_t *set)
{
    DH_RESOLVE(pthread_attr_setsigmask_np);
    sigset_t filtered;
    return REAL(pthread_attr_setsigmask_np)(attr, dh_signal_filter(set, &filtered));
}

/* ---- Waiting with another mask: a handler that interrupts runs under it (see also intercept/poll.c) ---- */

DH_INTERCEPTOR(int, sigsuspend, const sigset_t *set)
{
    DH_RESOLVE(sigsuspend);
    sigset_t filtered;
    return REAL(sigsuspend)(dh_signal_filter(set, &filtered));
}

DH_INTERCEPTOR(int, __sigsuspend, const sigset_t *set)
{
    DH_RESOLVE(__sigsuspend);
    sigset_t filtered;
    return REAL(__sigsuspend)(dh_signal_filter(set, &filtered));
}

/* ---- Sending: the real function is called outside the runtime, since the handler may run in it ---- */

static void sends(int sig, const void *pc)
{
    DH_SCOPE(sc);
    if (!dh_scope_begin(&sc, pc))
        return;
    dh_signal_sends(sc.t, sig);
    dh_scope_end(&sc);
}

#define SENDS(sig) sends(sig, __builtin_return_address(0))

DH_INTERCEPTOR(int, kill, pid_t pid, int sig)
{
    DH_RESOLVE(kill);
    SENDS(sig);
    return REAL(kill)(pid, sig);
}

DH_INTERCEPTOR(int, killpg, pid_t group, int sig)
{
    DH_RESOLVE(killpg);
    SENDS(sig);
    return REAL(killpg)(group, sig);
}

DH_INTERCEPTOR(int, tgkill, pid_t pid, pid_t tid, int sig)
{
    DH_RESOLVE(tgkill);
    SENDS(sig);
    return REAL(tgkill)(pid, tid, sig);
}

DH_INTERCEPTOR(int, raise, int sig)
{
    DH_RESOLVE(raise);
    SENDS(sig);
    return REAL(raise)(sig);
}

DH_INTERCEPTOR(int, sigqueue, pid_t pid, int sig, const union sigval value)
{
    DH_RESOLVE(sigqueue);
    SENDS(sig);
    return REAL(sigqueue)(pid, sig, value);
}

DH_INTERCEPTOR(int, pthread_kill, pthread_t th, int sig)
{
    DH_RESOLVE(pthread_kill);
    SENDS(sig);
    return REAL(pthread_kill)(th, sig);
}

DH_INTERCEPTOR(int, pthread_sigqueue, pthread_t th, int sig, const union sigval value)
{
    DH_RESOLVE(pthread_sigqueue);
    SENDS(sig);
    return REAL(pthread_sigqueue)(th, sig, value);
}

/* Timers send when they expire, which is after they were set. */
DH_INTERCEPTOR(unsigned, alarm, unsigned seconds)
{
    DH_RESOLVE(alarm);
    SENDS(SIGALRM);
    return REAL(alarm)(seconds);
}

DH_INTERCEPTOR(int, setitimer, enum __itimer_which which, const struct itimerval *value,
               struct itimerval *ret_old)
{
    DH_RESOLVE(setitimer);
    SENDS(which == ITIMER_REAL ? SIGALRM : which == ITIMER_VIRTUAL ? SIGVTALRM : SIGPROF);
    return REAL(setitimer)(which, value, ret_old);
}

/* ---- Signals that are fetched instead of handled ---- */

/* What a call that returned a signal's number left behind. info may be NULL. */
static int fetched(struct dh_thread *t, const siginfo_t *info, int r)
{
    if (r > 0) {
        dh_signal_fetched(t, r);
        DH_TOUCH_OUT(t, info);
    }
    return r;
}

DH_INTERCEPTOR(int, sigwait, const sigset_t *set, int *ret_sig)
{
    DH_ENTER(sigwait, set, ret_sig);
    int rc = DH_BLOCKING(REAL(sigwait)(set, ret_sig));
    if (rc == 0) {
        dh_signal_fetched(sc.t, *ret_sig);
        DH_TOUCH_OUT(sc.t, ret_sig);
    }
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, sigwaitinfo, const sigset_t *set, siginfo_t *info)
{
    DH_ENTER(sigwaitinfo, set, info);
    DH_RETURN(fetched(sc.t, info, DH_BLOCKING(REAL(sigwaitinfo)(set, info))));
}

DH_INTERCEPTOR(int, sigtimedwait, const sigset_t *set, siginfo_t *info, const struct timespec *limit)
{
    DH_ENTER(sigtimedwait, set, info, limit);
    DH_RETURN(fetched(sc.t, info, DH_BLOCKING(REAL(sigtimedwait)(set, info, limit))));
}

DH_INTERCEPTOR(int, sigpending, sigset_t *ret_set)
{
    DH_ENTER(sigpending, ret_set);
    int rc = REAL(sigpending)(ret_set);
    if (rc == 0)
        DH_TOUCH_OUT(sc.t, ret_set);
    DH_RETURN(rc);
}
