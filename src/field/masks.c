/*
 * masks.c - libc's functions that set masks and handlers, as long as SIGILL and perhaps SIGTRAP are ours
 * (signals.c): what the program sets for these is only recorded, and they are removed from every mask. So
 * they are from the mask with which libc begins the threads of timers.
 *
 * Not seen: masks in a `ucontext_t` that the program changed itself. A program that may set them by direct
 * system calls is not chased (chase/syscalls.h).
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>

#include "field/deaths.h"
#include "field/field.h"
#include "field/held.h"
#include "field/instead.h"
#include "field/signals.h"
#include "field/track.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* those that programs still call */

/* None is until the library has taken it. */
static bool is_ours(int number)
{
    return number > 0 && number < 64 && dh_field_signals_ours & dh_field_signals_bit(number);
}

static bool awake(void)
{
    return __atomic_load_n(&dh_field_control, __ATOMIC_ACQUIRE) != NULL;
}

/* A mask without our signals; NULL stays NULL. */
static const sigset_t *without(const sigset_t *set, sigset_t *copy)
{
    if (!set || !awake())
        return set;
    *copy = *set;
    *(u64 *)copy &= ~dh_field_signals_ours;
    return copy;
}

INSTEAD_OF(int, sigaction, (int number, const struct sigaction *restrict act, struct sigaction *restrict old))
{
    struct sigaction copy, before;
    if (dh_field_tracks())
        dh_field_track_give_up(); /* a handler is ordered after its installation */
    if (is_ours(number) && awake()) {
        dh_field_signals_exchange(number, act, old);
        return 0;
    }
    if (act) {
        copy = *act;
        without(&act->sa_mask, &copy.sa_mask);
        act = &copy;
    }
    const struct dh_field_deaths_change change = dh_field_deaths_begin_change(number);
    int rc = NEXT(sigaction)(number, act, &before);
    dh_field_deaths_end_change(&change);
    if (rc != 0 || !old)
        return rc;
    dh_field_deaths_hide(&change, &before);
    *old = before;
    return 0;
}

static sighandler_t set_handler(int number, sighandler_t handler, int flags)
{
    struct sigaction act = {.sa_handler = handler, .sa_flags = flags}, old;
    dh_field_signals_exchange(number, &act, &old);
    return old.sa_handler;
}

/* For a signal that is not ours. */
static sighandler_t change_handler(sighandler_t (*next)(int, sighandler_t), int number, sighandler_t handler)
{
    const struct dh_field_deaths_change change = dh_field_deaths_begin_change(number);
    sighandler_t old = next(number, handler);
    dh_field_deaths_end_change(&change);
    return dh_field_deaths_hidden(&change, old);
}

INSTEAD_OF(sighandler_t, signal, (int number, sighandler_t handler))
{
    if (dh_field_tracks())
        dh_field_track_give_up();
    if (is_ours(number) && awake())
        return set_handler(number, handler, SA_RESTART);
    return change_handler(NEXT(signal), number, handler);
}

INSTEAD_OF(sighandler_t, __sysv_signal, (int number, sighandler_t handler))
{
    if (is_ours(number) && awake())
        return set_handler(number, handler, (int)(SA_RESETHAND | SA_NODEFER));
    return change_handler(NEXT(__sysv_signal), number, handler);
}

/* Those that were kept for it come now. */
static void now_blocked(u64 blocked)
{
    u64 unblocked = dh_field_signals_blocked & ~blocked;
    dh_field_signals_blocked = blocked;
    if (unblocked)
        dh_field_held_release();
}

/* Which of our signals this thread believes to be blocked, before and after. */
static void believe(int how, const sigset_t *set, u64 *ret_before)
{
    dh_field_signals_settle();
    u64 was = dh_field_signals_blocked;
    *ret_before = was;
    if (!set)
        return;
    u64 has = *(const u64 *)set & dh_field_signals_ours;
    now_blocked(how == SIG_SETMASK ? has : how == SIG_BLOCK ? was | has : was & ~has);
}

static int change_mask(int (*next)(int, const sigset_t *, sigset_t *), int how, const sigset_t *set,
                       sigset_t *old)
{
    sigset_t copy;
    u64 before = 0;
    const sigset_t wanted = set ? *set : (sigset_t){0}; /* it may also be *old */
    int rc = next(how, without(set, &copy), old);
    if (rc == 0 && awake())
        believe(how, set ? &wanted : NULL, &before);
    if (rc == 0 && old)
        *(u64 *)old |= before;
    return rc;
}

INSTEAD_OF(int, pthread_sigmask, (int how, const sigset_t *restrict set, sigset_t *restrict old))
{
    return change_mask(NEXT(pthread_sigmask), how, set, old);
}

INSTEAD_OF(int, sigprocmask, (int how, const sigset_t *restrict set, sigset_t *restrict old))
{
    return change_mask(NEXT(sigprocmask), how, set, old);
}

INSTEAD_OF(int, pthread_attr_setsigmask_np, (pthread_attr_t * attr, const sigset_t *set))
{
    sigset_t copy;
    return NEXT(pthread_attr_setsigmask_np)(attr, without(set, &copy));
}

/* ---- Older functions for the same ---- */

/* Those of libc call its own sigaction and sigprocmask directly. Their masks have the first 32 signals. */

static int change_old_mask(int (*next)(int), int how, int mask)
{
    sigset_t set;
    u64 before = 0;
    sigemptyset(&set);
    *(u64 *)&set = (u32)mask;
    if (!awake())
        return next(mask);
    int old = next(mask & (int)~dh_field_signals_ours);
    believe(how, &set, &before);
    return old | (int)before;
}

INSTEAD_OF(int, sigblock, (int mask))
{
    return change_old_mask(NEXT(sigblock), SIG_BLOCK, mask);
}

INSTEAD_OF(int, sigsetmask, (int mask))
{
    return change_old_mask(NEXT(sigsetmask), SIG_SETMASK, mask);
}

INSTEAD_OF(int, sighold, (int number))
{
    if (!is_ours(number) || !awake())
        return NEXT(sighold)(number);
    dh_field_signals_settle();
    dh_field_signals_blocked |= dh_field_signals_bit(number);
    return 0;
}

INSTEAD_OF(int, sigrelse, (int number))
{
    if (!is_ours(number) || !awake())
        return NEXT(sigrelse)(number);
    dh_field_signals_settle();
    now_blocked(dh_field_signals_blocked & ~dh_field_signals_bit(number));
    return 0;
}

INSTEAD_OF(int, sigignore, (int number))
{
    if (dh_field_tracks())
        dh_field_track_give_up();
    if (!is_ours(number) || !awake())
        return NEXT(sigignore)(number);
    set_handler(number, SIG_IGN, 0);
    return 0;
}

INSTEAD_OF(sighandler_t, sigset, (int number, sighandler_t handler))
{
    if (dh_field_tracks())
        dh_field_track_give_up();
    if (!is_ours(number) || !awake())
        return change_handler(NEXT(sigset), number, handler);
    struct sigaction act = {.sa_handler = handler}, old;
    dh_field_signals_settle();
    bool hold = handler == SIG_HOLD, held = dh_field_signals_blocked & dh_field_signals_bit(number);
    dh_field_signals_exchange(number, hold ? NULL : &act, &old);
    if (hold)
        dh_field_signals_blocked |= dh_field_signals_bit(number);
    else
        now_blocked(dh_field_signals_blocked & ~dh_field_signals_bit(number));
    return held ? SIG_HOLD : old.sa_handler;
}

/* ---- Threads of timers ---- */

/* What libc calls in a new thread when a timer with SIGEV_THREAD expires: the thread has all signals blocked.
 * One for each function and argument, never freed: a thread may be about to begin when its timer is deleted.
 */
struct notice {
    struct notice *next;
    void (*fn)(union sigval);
    union sigval value;
};

static struct notice *notices[256]; /* by hash; atomic, since they are only added to */

static void notify(union sigval value)
{
    const struct notice *n = value.sival_ptr;
    dh_field_signals_unblock();
    n->fn(n->value);
}

/* NULL: there is no memory. */
static struct notice *notice_of(void (*fn)(union sigval), union sigval value)
{
    struct notice **list = &notices[dh_hash64((u64)fn ^ (u64)value.sival_ptr) % DH_ARRAY_LEN(notices)];
    struct notice *first = __atomic_load_n(list, __ATOMIC_ACQUIRE), *n;
    for (n = first; n; n = n->next)
        if (n->fn == fn && n->value.sival_ptr == value.sival_ptr)
            return n;
    n = malloc(sizeof(*n));
    if (!n)
        return NULL;
    *n = (struct notice){first, fn, value};
    while (!__atomic_compare_exchange_n(list, &n->next, n, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    return n;
}

INSTEAD_OF(int, timer_create, (clockid_t clock, struct sigevent *restrict event, timer_t *restrict ret_timer))
{
    if (dh_field_tracks())
        dh_field_track_give_up();
    if (!event || event->sigev_notify != SIGEV_THREAD || !awake())
        return NEXT(timer_create)(clock, event, ret_timer);
    struct sigevent instead = *event;
    instead.sigev_notify_function = notify;
    instead.sigev_value.sival_ptr = notice_of(event->sigev_notify_function, event->sigev_value);
    if (instead.sigev_value.sival_ptr)
        return NEXT(timer_create)(clock, &instead, ret_timer);
    errno = EAGAIN;
    return -1;
}

/* ---- Masks during a call ---- */

/* These set a mask for as long as they wait, and handlers that run meanwhile see it too. */

struct during {
    sigset_t copy;
    const sigset_t *given; /* to libc */
    u64 before;
};

/* False, with errno: one that was kept has come, and interrupts the call before it waits. */
static bool begin_during(struct during *d, const sigset_t *set)
{
    d->given = without(set, &d->copy);
    if (set && awake())
        dh_field_signals_settle();
    d->before = dh_field_signals_blocked;
    if (!set || !awake())
        return true;
    dh_field_signals_blocked = *(const u64 *)set & dh_field_signals_ours;
    if (!(d->before & ~dh_field_signals_blocked) || !dh_field_held_release())
        return true;
    dh_field_signals_blocked = d->before;
    errno = EINTR;
    return false;
}

static int waited(const struct during *d, int rc)
{
    now_blocked(d->before);
    if (dh_field_tracks() && rc >= 0)
        dh_field_track_acquire(&dh_field_files);
    return rc;
}

INSTEAD_OF(int, sigsuspend, (const sigset_t *set))
{
    struct during d;
    return begin_during(&d, set) ? waited(&d, NEXT(sigsuspend)(d.given)) : -1;
}

INSTEAD_OF(int, ppoll, (struct pollfd * fds, nfds_t n, const struct timespec *timeout, const sigset_t *set))
{
    struct during d;
    return begin_during(&d, set) ? waited(&d, NEXT(ppoll)(fds, n, timeout, d.given)) : -1;
}

INSTEAD_OF(int, pselect,
           (int n, fd_set *restrict r, fd_set *restrict w, fd_set *restrict e,
            const struct timespec *restrict timeout, const sigset_t *restrict set))
{
    struct during d;
    return begin_during(&d, set) ? waited(&d, NEXT(pselect)(n, r, w, e, timeout, d.given)) : -1;
}

INSTEAD_OF(int, epoll_pwait, (int fd, struct epoll_event *events, int n, int timeout, const sigset_t *set))
{
    struct during d;
    return begin_during(&d, set) ? waited(&d, NEXT(epoll_pwait)(fd, events, n, timeout, d.given)) : -1;
}

INSTEAD_OF(int, epoll_pwait2,
           (int fd, struct epoll_event *events, int n, const struct timespec *timeout, const sigset_t *set))
{
    struct during d;
    return begin_during(&d, set) ? waited(&d, NEXT(epoll_pwait2)(fd, events, n, timeout, d.given)) : -1;
}

/* As fortified headers call it. */
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *set,
                size_t room);
INSTEAD_OF(int, __ppoll_chk,
           (struct pollfd * fds, nfds_t n, const struct timespec *timeout, const sigset_t *set, size_t room))
{
    struct during d;
    return begin_during(&d, set) ? waited(&d, NEXT(__ppoll_chk)(fds, n, timeout, d.given, room)) : -1;
}
