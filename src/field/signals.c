/*
 * signals.c - takes SIGILL, for breakpoints, and SIGTRAP, for watchpoints, without the program noticing.
 *
 * The kernel kills a process that hits a breakpoint while SIGILL is blocked or ignored. So the program's
 * settings for these signals are only recorded, and applied to signals that are not ours; and both are
 * removed from every mask that the program sets through libc.
 *
 * Not seen: masks and actions that the program sets by direct system calls.
 */
#include <dlfcn.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "base/built.h"
#include "base/sys.h"
#include "field/field.h"
#include "field/redirect.h"
#include "field/track.h"

/* ---- The program's settings ---- */

static const int numbers[] = {SIGILL, SIGTRAP};
static const u64 ours = 1ull << (SIGILL - 1) | 1ull << (SIGTRAP - 1); /* as a mask */

static struct sigaction theirs[DH_ARRAY_LEN(numbers)]; /* under `busy` */
static u32 busy;
static __thread u64 blocked; /* those of ours that this thread believes it has blocked */

static bool is_ours(int number)
{
    return number == SIGILL || number == SIGTRAP;
}

static struct sigaction *theirs_of(int number)
{
    return &theirs[number == SIGTRAP];
}

/* Taken with all signals blocked, so that the holder cannot be interrupted by a handler that wants the same
 * lock. */
u64 dh_field_signals_lock(u32 *word)
{
    const u64 all = ~0ull;
    u64 before = 0;
    dh_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before, sizeof(all), 0, 0);
    while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE))
        dh_sys_yield();
    return before;
}

void dh_field_signals_unlock(u32 *word, u64 mask)
{
    __atomic_store_n(word, 0, __ATOMIC_RELEASE);
    dh_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof(mask), 0, 0);
}

static u64 lock(void)
{
    return dh_field_signals_lock(&busy);
}

static void unlock(u64 mask)
{
    dh_field_signals_unlock(&busy, mask);
}

static void exchange(int number, const struct sigaction *act, struct sigaction *ret_old)
{
    struct sigaction new = act ? *act : (struct sigaction){0};
    u64 mask = lock();
    struct sigaction old = *theirs_of(number);
    if (act)
        *theirs_of(number) = new;
    unlock(mask);
    if (ret_old)
        *ret_old = old;
}

/* ---- The handler ---- */

/* The kernel's layout. */
struct kernel_action {
    void *handler;
    unsigned long flags;
    void (*restorer)(void);
    u64 mask;
};

enum { RESTORER = 0x04000000 };

/* Debuggers recognise a signal frame by these very instructions. */
void dh_field_signals_return(void);
__asm__(".pushsection " DH_BUILT_OWN
        ",\"ax\",@progbits\n"
        ".hidden dh_field_signals_return\n.globl dh_field_signals_return\n"
        ".type dh_field_signals_return, @function\n"
        "dh_field_signals_return:\n\tmovq $15, %rax\n\tsyscall\n"
        ".size dh_field_signals_return, . - dh_field_signals_return\n"
        ".popsection\n");

static void set_action(int number, const struct kernel_action *act, struct kernel_action *ret_old)
{
    dh_sys6(SYS_rt_sigaction, number, (long)act, (long)ret_old, sizeof(u64), 0, 0);
}

/* Raises the signal again, to end the process where it is: it is delivered when the handler returns. */
static void die_by(int number, siginfo_t *info)
{
    const struct kernel_action by_default = {0};
    set_action(number, &by_default, NULL);
    dh_sys6(SYS_rt_tgsigqueueinfo, dh_sys3(SYS_getpid, 0, 0, 0), dh_sys_gettid(), number, (long)info, 0, 0);
}

/* A signal that is the program's own. The kernel does not let a hardware exception be ignored. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    struct sigaction act;
    u64 mask = lock();
    act = *theirs_of(number);
    if (act.sa_flags & (int)SA_RESETHAND)
        *theirs_of(number) = (struct sigaction){0};
    unlock(mask);
    if (act.sa_handler == SIG_IGN && info->si_code <= 0)
        return;
    if (act.sa_handler == SIG_IGN || act.sa_handler == SIG_DFL) {
        die_by(number, info);
        return;
    }
    const ucontext_t *uc = context;
    u64 inside = (*(const u64 *)&uc->uc_sigmask | *(const u64 *)&act.sa_mask) & ~ours;
    dh_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&inside, 0, sizeof(inside), 0, 0);
    if (act.sa_flags & SA_SIGINFO)
        act.sa_sigaction(number, info, context);
    else
        act.sa_handler(number);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    if (!dh_field_trap(number, info, context))
        pass_on(number, info, context);
}

static void take(int number)
{
    const struct kernel_action handler = {(void *)on_signal, SA_SIGINFO | SA_ONSTACK | SA_RESTART | RESTORER,
                                          dh_field_signals_return, ~0ull};
    struct kernel_action old = {0};
    set_action(number, &handler, &old);
    theirs_of(number)->sa_handler = (void (*)(int))old.handler;
    theirs_of(number)->sa_flags = (int)(old.flags & ~(unsigned long)RESTORER);
    *(u64 *)&theirs_of(number)->sa_mask = old.mask;
}

void dh_field_signals_take(void)
{
    u64 before = 0;
    for (size_t i = 0; i < DH_ARRAY_LEN(numbers); i++)
        take(numbers[i]);
    dh_sys6(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&ours, (long)&before, sizeof(before), 0, 0);
    blocked = before & ours;
}

/* ---- Faults that end the program ---- */

/* The kernel has restored the default action. A fault recurs when this returns, at the same instruction, and
 * ends the process as it would have; a signal that was sent is sent again. */
static void on_death(int number, siginfo_t *info, void *context)
{
    (void)context;
    struct dh_control *c = dh_field_control;
    if (dh_field_is_original())
        __atomic_store_n(&c->fatal, (u32)number, __ATOMIC_RELEASE);
    if (info->si_code <= 0)
        die_by(number, info);
}

void dh_field_signals_note_death(void)
{
    static const int deaths[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
    static u32 done;
    const struct kernel_action note = {(void *)on_death, SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | RESTORER,
                                       dh_field_signals_return, 0};
    if (__atomic_exchange_n(&done, 1, __ATOMIC_ACQ_REL))
        return;
    for (size_t i = 0; i < DH_ARRAY_LEN(deaths); i++) {
        struct kernel_action old = {0};
        set_action(deaths[i], NULL, &old);
        if (old.handler == (void *)SIG_DFL)
            set_action(deaths[i], &note, NULL);
    }
}

/* The program is shown the setting that it made itself. */
static void hide_death(struct sigaction *old)
{
    if (old && old->sa_sigaction == on_death)
        *old = (struct sigaction){0};
}

/* The holder of the lock is not in this process. */
void dh_field_signals_forked(void)
{
    __atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

/* ---- Replacements for libc's functions ---- */

/* Linked into the program, the library replaces libc functions through redirect.h; preloaded, by its
 * functions' names. In both cases a program that defines one of these itself keeps its own. */
#ifdef DH_FIELD_LINKED

#define INSTEAD_OF(ret, name, params)                                 \
    static void *next_##name;                                         \
    static ret instead_of_##name params;                              \
    DH_FIELD_REDIRECT(name, instead_of_##name, name, &next_##name, 1) \
    static ret instead_of_##name params

#define NEXT(fn) ((__typeof__(&fn))next_##fn)

#else

#define INSTEAD_OF(ret, name, params) DH_EXPORT ret name params

/* The function that ours replaces. */
static void *next_of(void **known, const char *name)
{
    void *fn = __atomic_load_n(known, __ATOMIC_ACQUIRE);
    if (!fn) {
        fn = dlsym(RTLD_NEXT, name);
        __atomic_store_n(known, fn, __ATOMIC_RELEASE);
    }
    return fn;
}

#define NEXT(fn)                               \
    ({                                         \
        static void *known;                    \
        (__typeof__(&fn))next_of(&known, #fn); \
    })

#endif

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
    *(u64 *)copy &= ~ours;
    return copy;
}

INSTEAD_OF(int, sigaction, (int number, const struct sigaction *restrict act, struct sigaction *restrict old))
{
    struct sigaction copy;
    if (dh_field_tracks())
        dh_field_track_give_up(); /* a handler is ordered after its installation */
    if (is_ours(number) && awake()) {
        exchange(number, act, old);
        return 0;
    }
    if (act) {
        copy = *act;
        without(&act->sa_mask, &copy.sa_mask);
        act = &copy;
    }
    int rc = NEXT(sigaction)(number, act, old);
    if (rc == 0)
        hide_death(old);
    return rc;
}

static sighandler_t set_handler(int number, sighandler_t handler, int flags)
{
    struct sigaction act = {.sa_handler = handler, .sa_flags = flags}, old;
    exchange(number, &act, &old);
    return old.sa_handler;
}

INSTEAD_OF(sighandler_t, signal, (int number, sighandler_t handler))
{
    if (dh_field_tracks())
        dh_field_track_give_up();
    if (is_ours(number) && awake())
        return set_handler(number, handler, SA_RESTART);
    sighandler_t old = NEXT(signal)(number, handler);
    return (void *)old == (void *)on_death ? SIG_DFL : old;
}

INSTEAD_OF(sighandler_t, __sysv_signal, (int number, sighandler_t handler))
{
    if (is_ours(number) && awake())
        return set_handler(number, handler, (int)(SA_RESETHAND | SA_NODEFER));
    return NEXT(__sysv_signal)(number, handler);
}

/* Which of our signals this thread believes to be blocked, before and after. */
static void believe(int how, const sigset_t *set, u64 *ret_before)
{
    *ret_before = blocked;
    if (!set)
        return;
    u64 has = *(const u64 *)set & ours;
    blocked = how == SIG_SETMASK ? has : how == SIG_BLOCK ? blocked | has : blocked & ~has;
}

static int change_mask(int (*next)(int, const sigset_t *, sigset_t *), int how, const sigset_t *set,
                       sigset_t *old)
{
    sigset_t copy;
    u64 before = 0;
    const sigset_t *given = without(set, &copy);
    if (awake())
        believe(how, set, &before);
    int rc = next(how, given, old);
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

/* These set a mask for as long as they wait, and handlers that run meanwhile see it too. */

static int waited(int rc)
{
    if (dh_field_tracks() && rc >= 0)
        dh_field_track_acquire(&dh_field_files);
    return rc;
}

INSTEAD_OF(int, sigsuspend, (const sigset_t *set))
{
    sigset_t copy;
    return NEXT(sigsuspend)(without(set, &copy));
}

INSTEAD_OF(int, ppoll, (struct pollfd * fds, nfds_t n, const struct timespec *timeout, const sigset_t *set))
{
    sigset_t copy;
    return waited(NEXT(ppoll)(fds, n, timeout, without(set, &copy)));
}

INSTEAD_OF(int, pselect,
           (int n, fd_set *restrict r, fd_set *restrict w, fd_set *restrict e,
            const struct timespec *restrict timeout, const sigset_t *restrict set))
{
    sigset_t copy;
    return waited(NEXT(pselect)(n, r, w, e, timeout, without(set, &copy)));
}

INSTEAD_OF(int, epoll_pwait, (int fd, struct epoll_event *events, int n, int timeout, const sigset_t *set))
{
    sigset_t copy;
    return waited(NEXT(epoll_pwait)(fd, events, n, timeout, without(set, &copy)));
}
