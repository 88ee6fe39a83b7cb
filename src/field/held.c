/*
 * held.c - see held.h.
 *
 * The kernel does not know that they are blocked. So a signal to the process comes to whichever thread, and
 * if another waits for it, that is woken by the same signal, and takes it. A thread that sleeps in
 * sigtimedwait gets it from the kernel even though it is not blocked. If it comes just before that, it is
 * blocked for as long as the call lasts, so that the call finds it.
 *
 * Not seen: signalfd, and which threads have them blocked from birth. A signal to the process that another
 * thread would handle is kept, if the one it has come to has it blocked.
 */
#include "field/held.h"

#include <errno.h>
#include <ucontext.h>

#include "base/sys.h"
#include "field/field.h"
#include "field/instead.h"
#include "field/signals.h"

enum { NUMBERS = 2, WAITERS = 64 };
static const int numbers[NUMBERS] = {SIGILL, SIGTRAP};

struct held {
    bool is;
    siginfo_t info;
};

static u32 busy;
static struct held of_process[NUMBERS]; /* under `busy` */
static struct {
    u32 tid; /* 0: none */
    u64 set;
} waiters[WAITERS];                             /* threads that wait for such signals; under `busy` */
static __thread struct held of_thread[NUMBERS]; /* under `busy`, so that no signal comes meanwhile */
static __thread u64 waiting;                    /* what this thread waits for */

static int index_of(int number)
{
    return number == SIGTRAP;
}

static bool send(u32 tid, siginfo_t *info)
{
    return dh_sys6(SYS_rt_tgsigqueueinfo, dh_sys3(SYS_getpid, 0, 0, 0), tid, info->si_signo, (long)info, 0,
                   0) == 0;
}

/* ---- Keeping them ---- */

/* Also sent by this thread to another: the kernel does not let it pass on what says that it is from
 * elsewhere. */
static bool is_waking(const siginfo_t *info)
{
    return info->si_code == SI_QUEUE && info->si_value.sival_ptr == (void *)of_process;
}

static void wake_waiter(int number)
{
    siginfo_t info = {.si_signo = number, .si_code = SI_QUEUE};
    info.si_pid = (pid_t)dh_sys3(SYS_getpid, 0, 0, 0);
    info.si_value.sival_ptr = of_process;
    for (int i = 0; i < WAITERS; i++)
        if (waiters[i].tid && waiters[i].set & dh_field_signals_bit(number) && send(waiters[i].tid, &info))
            return;
}

static void keep(struct held *held, const siginfo_t *info)
{
    if (!held->is)
        *held = (struct held){true, *info};
}

bool dh_field_held_keep(int number, siginfo_t *info, void *context)
{
    const u64 bit = dh_field_signals_bit(number);
    ucontext_t *uc = context;
    if (!((dh_field_signals_blocked | waiting) & bit) && !is_waking(info))
        return false;
    u64 mask = dh_field_signals_lock(&busy);
    if (waiting & bit) {
        *(u64 *)&uc->uc_sigmask |= bit;
        send((u32)dh_sys_gettid(), info);
    } else if (info->si_code == SI_TKILL) {
        keep(&of_thread[index_of(number)], info);
    } else if (!is_waking(info)) { /* otherwise the wait is over */
        keep(&of_process[index_of(number)], info);
        wake_waiter(number);
    }
    dh_field_signals_unlock(&busy, mask);
    return true;
}

/* Locked. False: none of these was kept for the thread or the process. */
static bool take(u64 set, siginfo_t *ret)
{
    for (int i = 0; i < NUMBERS; i++) {
        struct held *held = of_thread[i].is ? &of_thread[i] : &of_process[i];
        if (!held->is || !(set & dh_field_signals_bit(numbers[i])))
            continue;
        *ret = held->info;
        held->is = false;
        return true;
    }
    return false;
}

/* Sent when the lock is released: each then comes at once. */
bool dh_field_held_release(void)
{
    bool any = false;
    for (;;) {
        siginfo_t info;
        u64 mask = dh_field_signals_lock(&busy);
        bool found = take(dh_field_signals_ours & ~dh_field_signals_blocked, &info);
        dh_field_signals_unlock(&busy, mask);
        if (!found)
            return any;
        any = true;
        send((u32)dh_sys_gettid(), &info);
    }
}

void dh_field_held_forked(void)
{
    for (int i = 0; i < NUMBERS; i++)
        of_process[i].is = of_thread[i].is = false;
    for (int i = 0; i < WAITERS; i++)
        waiters[i].tid = 0;
    __atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

/* ---- Waiting for them ---- */

static bool is_alive(u32 tid)
{
    return dh_sys3(SYS_tgkill, dh_sys3(SYS_getpid, 0, 0, 0), tid, 0) == 0;
}

/* A thread may have ended while it waited, by cancellation. */
static void add_waiter(u32 tid, u64 set)
{
    for (int i = 0; i < WAITERS; i++)
        if (!waiters[i].tid || waiters[i].tid == tid || !is_alive(waiters[i].tid)) {
            waiters[i].tid = tid;
            waiters[i].set = set;
            return;
        }
}

static void remove_waiter(u32 tid)
{
    for (int i = 0; i < WAITERS; i++)
        if (waiters[i].tid == tid)
            waiters[i].tid = 0;
}

/* The number of one that was kept; 0: the thread has to wait, and does so until end_wait. */
static int begin_wait(const sigset_t *set, siginfo_t *ret)
{
    const u64 ours = *(const u64 *)set & dh_field_signals_ours;
    if (!ours)
        return 0;
    u64 mask = dh_field_signals_lock(&busy);
    bool found = take(ours, ret);
    if (!found) {
        waiting = ours;
        add_waiter((u32)dh_sys_gettid(), ours);
    }
    dh_field_signals_unlock(&busy, mask);
    return found ? ret->si_signo : 0;
}

/* If another has come in the meantime, it is kept now. False: the thread was woken for one that another
 * thread has taken by now. */
static bool end_wait(int number, siginfo_t *info)
{
    if (!waiting)
        return true;
    u64 mask = dh_field_signals_lock(&busy);
    waiting = 0;
    remove_waiter((u32)dh_sys_gettid());
    bool good =
        number <= 0 || !is_waking(info) || take(dh_field_signals_bit(number) & dh_field_signals_ours, info);
    dh_field_signals_unlock(&busy, mask & ~dh_field_signals_ours);
    return good;
}

/* What has come of a call with which a thread waits. */
static int waited(int number, siginfo_t *info, siginfo_t *ret)
{
    if (!end_wait(number, info)) {
        errno = EINTR;
        return -1;
    }
    if (number > 0 && ret)
        *ret = *info;
    return number;
}

INSTEAD_OF(int, sigtimedwait,
           (const sigset_t *restrict set, siginfo_t *restrict ret, const struct timespec *restrict timeout))
{
    siginfo_t info;
    int number = begin_wait(set, &info);
    return waited(number ? number : NEXT(sigtimedwait)(set, &info, timeout), &info, ret);
}

INSTEAD_OF(int, sigwaitinfo, (const sigset_t *restrict set, siginfo_t *restrict ret))
{
    siginfo_t info;
    int number = begin_wait(set, &info);
    return waited(number ? number : NEXT(sigwaitinfo)(set, &info), &info, ret);
}

/* Whether it was woken is not known here: what was kept is taken in any case. */
INSTEAD_OF(int, sigwait, (const sigset_t *restrict set, int *restrict ret_number))
{
    siginfo_t info = {.si_code = SI_QUEUE};
    int number = begin_wait(set, &info), rc = 0;
    if (number) {
        *ret_number = number;
        return 0;
    }
    rc = NEXT(sigwait)(set, &number);
    info.si_value.sival_ptr = of_process;
    end_wait(number, &info);
    if (rc == 0)
        *ret_number = number;
    return rc;
}

INSTEAD_OF(int, sigpending, (sigset_t * ret))
{
    int rc = NEXT(sigpending)(ret);
    for (int i = 0; i < NUMBERS && rc == 0; i++)
        if (of_thread[i].is || of_process[i].is)
            *(u64 *)ret |= dh_field_signals_bit(numbers[i]);
    return rc;
}
