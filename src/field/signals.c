/*
 * signals.c - takes SIGILL, for breakpoints, and SIGTRAP, for watchpoints, without the program noticing.
 * In a run without watchpoints SIGTRAP is left alone.
 *
 * The kernel kills a process that hits a breakpoint while SIGILL is blocked or ignored. So the program's
 * settings for these signals are only recorded (masks.c), and applied to signals that are not ours.
 */
#include "field/signals.h"

#include "base/built.h"
#include "base/sys.h"
#include "field/deaths.h"
#include "field/field.h"
#include "field/held.h"

/* ---- The program's settings ---- */

static struct sigaction theirs[2]; /* of SIGILL and SIGTRAP; under `busy` */
static u32 busy;
static u32 owner; /* the process that these belong to */
static __thread struct {
    u32 pid;                    /* of a child of vfork; 0: there was none since the thread has settled */
    u64 blocked;                /* what this thread itself believes, meanwhile */
    struct sigaction theirs[2]; /* of the child */
} lent;
u64 dh_field_signals_ours;
__thread u64 dh_field_signals_blocked;

static struct sigaction *theirs_of(int number)
{
    return &(lent.pid ? lent.theirs : theirs)[number == SIGTRAP];
}

static u32 own_pid(void)
{
    return (u32)dh_sys3(SYS_getpid, 0, 0, 0);
}

/* The thread has its variables back. */
static void take_back(void)
{
    if (lent.pid)
        dh_field_signals_blocked = lent.blocked;
    lent.pid = 0;
}

static u64 lock(void);
static void unlock(u64 mask);

bool dh_field_signals_settle(void)
{
    const u32 pid = own_pid();
    if (pid == lent.pid)
        return true;
    take_back();
    if (pid == owner || !owner)
        return false;
    u64 mask = lock();
    lent.theirs[0] = theirs[0];
    lent.theirs[1] = theirs[1];
    unlock(mask);
    lent.blocked = dh_field_signals_blocked;
    lent.pid = pid;
    return true;
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

void dh_field_signals_exchange(int number, const struct sigaction *act, struct sigaction *ret_old)
{
    struct sigaction new = act ? *act : (struct sigaction){0};
    dh_field_signals_settle();
    u64 mask = lock();
    struct sigaction old = *theirs_of(number);
    if (act)
        *theirs_of(number) = new;
    unlock(mask);
    if (ret_old)
        *ret_old = old;
}

/* ---- The handler ---- */

/* Debuggers recognise a signal frame by these very instructions. */
__asm__(".pushsection " DH_BUILT_OWN
        ",\"ax\",@progbits\n"
        ".hidden dh_field_signals_return\n.globl dh_field_signals_return\n"
        ".type dh_field_signals_return, @function\n"
        "dh_field_signals_return:\n\tmovq $15, %rax\n\tsyscall\n"
        ".size dh_field_signals_return, . - dh_field_signals_return\n"
        ".popsection\n");

void dh_field_signals_set_action(int number, const struct dh_field_signals_action *act,
                                 struct dh_field_signals_action *ret_old)
{
    dh_sys6(SYS_rt_sigaction, number, (long)act, (long)ret_old, sizeof(u64), 0, 0);
}

void dh_field_signals_die_by(int number, siginfo_t *info)
{
    const struct dh_field_signals_action by_default = {0};
    dh_field_signals_set_action(number, &by_default, NULL);
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
        dh_field_deaths_are_by(number, info);
        dh_field_signals_die_by(number, info);
        return;
    }
    const ucontext_t *uc = context;
    u64 inside = (*(const u64 *)&uc->uc_sigmask | *(const u64 *)&act.sa_mask) & ~dh_field_signals_ours;
    dh_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&inside, 0, sizeof(inside), 0, 0);
    if (number == SIGILL)
        dh_field_deaths_call(act.sa_sigaction, number, info, context); /* others ignore two arguments */
    else
        act.sa_sigaction(number, info, context);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    if (dh_field_trap(number, info, context))
        return;
    dh_field_signals_settle();
    if (info->si_code > 0 || !dh_field_held_keep(number, info, context))
        pass_on(number, info, context);
}

static void take(int number)
{
    const struct dh_field_signals_action handler = {
        (void *)on_signal, SA_SIGINFO | SA_ONSTACK | SA_RESTART | DH_FIELD_SIGNALS_RESTORER,
        dh_field_signals_return, ~0ull};
    struct dh_field_signals_action old = {0};
    dh_field_signals_set_action(number, &handler, &old);
    theirs_of(number)->sa_handler = (void (*)(int))old.handler;
    theirs_of(number)->sa_flags = (int)(old.flags & ~(unsigned long)DH_FIELD_SIGNALS_RESTORER);
    *(u64 *)&theirs_of(number)->sa_mask = old.mask;
    dh_field_signals_ours |= dh_field_signals_bit(number);
}

void dh_field_signals_unblock(void)
{
    const u64 ours = dh_field_signals_ours;
    u64 before = 0;
    dh_sys6(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&ours, (long)&before, sizeof(before), 0, 0);
    dh_field_signals_blocked = before & ours;
}

void dh_field_signals_take(bool watches)
{
    owner = own_pid();
    take(SIGILL);
    if (watches)
        take(SIGTRAP);
    dh_field_signals_unblock();
}

/* The holder of the lock is not in this process. */
void dh_field_signals_forked(void)
{
    __atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
    take_back();
    owner = own_pid();
    dh_field_held_forked();
}
