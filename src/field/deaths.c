/*
 * deaths.c - see deaths.h.
 *
 * A handler that the program has for a fault may be its end, or part of its work: a collector's barrier
 * returns from it, a parser leaves it by siglongjmp. So it is called by ours, and the control block names the
 * signal for as long as it runs: if that is still there when the process has ended, the process has ended in
 * the handler.
 *
 * Not seen: handlers that are set by direct system calls after the meeting; and that a handler is left by
 * swapcontext, or in a preloaded program by an exception or the end of its thread. What the program ends with
 * later is then taken for a death by that signal.
 */
#include "field/deaths.h"

#include <setjmp.h>
#include <ucontext.h>

#include "base/sys.h"
#include "field/agent.h"
#include "field/field.h"
#include "field/instead.h"
#include "field/signals.h"

static const int deaths[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT};

enum { INFO_BIT = 63 }; /* of a word of `handlers`: SA_SIGINFO was set */

static u64 handlers[DH_ARRAY_LEN(deaths)]; /* of the program, where ours is in its place; atomic */
static u32 busy;                           /* a lock: settings for these signals are being changed */
static u32 noted;                          /* atomic */
static __thread u32
    running; /* the handler of the program that is running, as in the control block; 0: none */

static bool is_noted(void)
{
    return __atomic_load_n(&noted, __ATOMIC_ACQUIRE) && dh_field_is_original();
}

static int index_of(int number)
{
    for (size_t i = 0; i < DH_ARRAY_LEN(deaths); i++)
        if (deaths[i] == number)
            return (int)i;
    return -1;
}

/* ---- What the control block says ---- */

/* A signal from elsewhere is not the program's own fault. */
static bool is_own(const siginfo_t *info)
{
    return info->si_code > 0 || info->si_pid == (pid_t)dh_sys3(SYS_getpid, 0, 0, 0);
}

/* What it says then; 0: it says something else, or need not say this. */
static u32 begin(int number, const siginfo_t *info)
{
    u32 none = 0, mine = (u32)dh_sys_gettid() * (DH_CONTROL_FATAL + 1) + (u32)number;
    if (!is_noted() || !is_own(info) ||
        !__atomic_compare_exchange_n(&dh_field_control->fatal, &none, mine, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return 0;
    return mine;
}

static void end(u32 mine)
{
    if (mine && dh_field_is_original())
        __atomic_compare_exchange_n(&dh_field_control->fatal, &mine, 0, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED);
}

void dh_field_deaths_are_by(int number, const siginfo_t *info)
{
    begin(number, info);
}

/* ---- Handlers ---- */

struct call {
    u32 mine, outer;
};

static void returns(struct call *call)
{
    end(call->mine);
    running = call->outer;
}

/* An exception, or the end of the thread, may pass through. */
void dh_field_deaths_call(void (*handler)(int, siginfo_t *, void *), int number, siginfo_t *info,
                          void *context)
{
    struct call call __attribute__((cleanup(returns))) = {begin(number, info), running};
    if (call.mine)
        running = call.mine;
    handler(number, info, context);
}

/* However deep it was in handlers, this thread has recovered. */
static void jumps(void)
{
    end(running);
    running = 0;
}

INSTEAD_OF(void, longjmp, (struct __jmp_buf_tag to[1], int value))
{
    jumps();
    NEXT(longjmp)(to, value);
    __builtin_unreachable();
}

INSTEAD_OF(void, _longjmp, (struct __jmp_buf_tag to[1], int value))
{
    jumps();
    NEXT(_longjmp)(to, value);
    __builtin_unreachable();
}

INSTEAD_OF(void, siglongjmp, (struct __jmp_buf_tag to[1], int value))
{
    jumps();
    NEXT(siglongjmp)(to, value);
    __builtin_unreachable();
}

/* As fortified headers call all of these. */
void __longjmp_chk(struct __jmp_buf_tag to[1], int value) __attribute__((noreturn));
INSTEAD_OF(void, __longjmp_chk, (struct __jmp_buf_tag to[1], int value))
{
    jumps();
    NEXT(__longjmp_chk)(to, value);
    __builtin_unreachable();
}

INSTEAD_OF(int, setcontext, (const ucontext_t *to))
{
    jumps();
    return NEXT(setcontext)(to);
}

/* ---- Ours in their place ---- */

static void put_in_place(int i);

/* The kernel has restored the default action. A fault recurs when this returns, at the same instruction, and
 * ends the process as it would have; a signal that was sent is sent again. */
static void on_death(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (dh_field_is_original())
        __atomic_store_n(&dh_field_control->fatal, (u32)number, __ATOMIC_RELEASE);
    if (info->si_code <= 0)
        dh_field_signals_die_by(number, info);
}

static void *handler_in(u64 word)
{
    return (void *)(uptr)(word & ~(1ull << INFO_BIT));
}

/* Functions of one argument ignore the others. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    const int i = index_of(number);
    void *handler = handler_in(__atomic_load_n(&handlers[i], __ATOMIC_ACQUIRE));
    dh_field_deaths_call((void (*)(int, siginfo_t *, void *))handler, number, info, context);
    if (!is_noted() || !dh_field_agent_rules())
        return;
    u64 mask =
        dh_field_signals_lock(&busy); /* the default action may be back, and the fault about to recur */
    put_in_place(i);
    dh_field_signals_unlock(&busy, mask);
}

/* Locked. Only an agent does not see by which signal a process was killed. */
static void put_in_place(int i)
{
    const struct dh_field_signals_action note = {
        (void *)on_death, SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | DH_FIELD_SIGNALS_RESTORER,
        dh_field_signals_return, 0};
    struct dh_field_signals_action act = {0};
    dh_field_signals_set_action(deaths[i], NULL, &act);
    if (act.handler == (void *)SIG_DFL && dh_field_agent_rules()) {
        dh_field_signals_set_action(deaths[i], &note, NULL);
    } else if (act.handler != (void *)SIG_DFL && act.handler != (void *)SIG_IGN &&
               act.handler != (void *)on_fault && act.handler != (void *)on_death) {
        u64 info = (u64)(act.flags & SA_SIGINFO ? 1 : 0) << INFO_BIT;
        __atomic_store_n(&handlers[i], (u64)(uptr)act.handler | info, __ATOMIC_RELEASE);
        act.handler = (void *)on_fault;
        act.flags |= SA_SIGINFO;
        dh_field_signals_set_action(deaths[i], &act, NULL);
    }
}

void dh_field_deaths_note(void)
{
    if (__atomic_load_n(&noted, __ATOMIC_ACQUIRE))
        return;
    u64 mask = dh_field_signals_lock(&busy);
    for (size_t i = 0; i < DH_ARRAY_LEN(deaths); i++)
        put_in_place((int)i);
    __atomic_store_n(&noted, 1, __ATOMIC_RELEASE);
    dh_field_signals_unlock(&busy, mask);
}

/* ---- What the program sees of it ---- */

/* In a copy of the process nobody might release the lock. */
struct dh_field_deaths_change dh_field_deaths_begin_change(int number)
{
    struct dh_field_deaths_change change = {.number = number};
    const int i = index_of(number);
    if (i < 0 || !__atomic_load_n(&dh_field_control, __ATOMIC_ACQUIRE))
        return change;
    change.locked = dh_field_is_original();
    if (change.locked)
        change.mask = dh_field_signals_lock(&busy);
    change.handler = __atomic_load_n(&handlers[i], __ATOMIC_ACQUIRE);
    return change;
}

void dh_field_deaths_end_change(const struct dh_field_deaths_change *change)
{
    if (!change->locked)
        return;
    if (__atomic_load_n(&noted, __ATOMIC_ACQUIRE))
        put_in_place(index_of(change->number));
    dh_field_signals_unlock(&busy, change->mask);
}

sighandler_t dh_field_deaths_hidden(const struct dh_field_deaths_change *change, sighandler_t old)
{
    if ((void *)old == (void *)on_fault)
        return (sighandler_t)handler_in(change->handler);
    return (void *)old == (void *)on_death ? SIG_DFL : old;
}

void dh_field_deaths_hide(const struct dh_field_deaths_change *change, struct sigaction *old)
{
    if (old->sa_sigaction == on_death)
        *old = (struct sigaction){0};
    if (old->sa_sigaction == on_fault && !(change->handler >> INFO_BIT))
        old->sa_flags &= ~SA_SIGINFO;
    old->sa_handler = dh_field_deaths_hidden(change, old->sa_handler);
}
