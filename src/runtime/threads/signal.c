/*
 * signal.c - the program's signal handlers, called through a trampoline of ours.
 *
 * Invariants:
 * - A handler of an asynchronous signal never runs while its thread is inside the runtime (in_rt): the
 *   trampoline saves the signal in the thread, blocks all asynchronous signals on return, and the
 *   thread runs the handler when it leaves. So one slot a thread is enough and nothing is lost: what
 *   arrives meanwhile waits in the kernel, where it queues or merges as it always does.
 * - A synchronous signal (the thread's own instruction caused it) is handled at once.
 * - SIGSEGV belongs to the runtime, which maps shadow on demand; the program's SIGSEGV action is
 *   emulated and SIGSEGV is never blocked for real.
 * - While the trampoline itself runs, all asynchronous signals are blocked (its sa_mask), so it never nests.
 *
 * `actions` is written under action_lock by threads that have all signals blocked, and read without
 * a lock under a sequence count, because the reader may be a signal handler on any thread.
 */
#define _GNU_SOURCE 1
#include "runtime/threads/signal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/sys.h"
#include "runtime/engine/engine.h"
#include "runtime/intercept/intercept.h"
#include "runtime/shadow/region.h"
#include "runtime/threads/context.h"
#include "runtime/threads/thread.h"

enum {
    SIGNALS = 65, /* 1..64 */
    CANCEL = 32,  /* libc's: cancels a thread */
    SETXID = 33   /* libc's: setuid on all threads */
};

struct action {
    uptr handler; /* SIG_DFL, SIG_IGN or the program's function */
    u64 mask;
    int flags;
};

static struct action actions[SIGNALS];
static u32 action_seq; /* odd: being written */
static u32 action_lock;

static void trampoline(int sig, siginfo_t *info, void *uc);

/* ---- Masks ---- */

/* 32 and 33 are libc's own (cancellation, setuid on all threads): deferring them would hang other threads. */
static u64 asynchronous(void)
{
    return ~(dh_signal_bit(SIGSEGV) | dh_signal_bit(SIGBUS) | dh_signal_bit(SIGFPE) | dh_signal_bit(SIGILL) |
             dh_signal_bit(SIGTRAP) | dh_signal_bit(SIGSYS) | dh_signal_bit(CANCEL) | dh_signal_bit(SETXID));
}

/* The kernel's part of libc's larger set; no memcpy here, since that is intercepted. */
static u64 kernel_mask(const sigset_t *set)
{
    return set->__val[0];
}

static sigset_t libc_mask(u64 mask)
{
    return (sigset_t){.__val = {mask}};
}

void dh_signal_set_mask(u64 mask)
{
    mask &= ~dh_signal_bit(SIGSEGV);
    dh_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof(mask), 0, 0);
}

u64 dh_signal_block_all(void)
{
    u64 all = asynchronous(), old = 0;
    dh_sys6(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&old, sizeof(all), 0, 0);
    return old;
}

const sigset_t *dh_signal_filter(const sigset_t *in, sigset_t *storage)
{
    if (in == NULL)
        return NULL;
    *storage = *in;
    sigdelset(storage, SIGSEGV);
    return storage;
}

/* ---- The table of actions ---- */

static void table_lock(void)
{
    while (__atomic_exchange_n(&action_lock, 1, __ATOMIC_ACQUIRE))
        dh_sys_yield();
}

static void table_unlock(void)
{
    __atomic_store_n(&action_lock, 0, __ATOMIC_RELEASE);
}

static struct action table_get(int sig)
{
    struct action *from = &actions[sig], a;
    for (;;) {
        u32 seq = __atomic_load_n(&action_seq, __ATOMIC_ACQUIRE);
        a.handler = __atomic_load_n(&from->handler, __ATOMIC_RELAXED);
        a.mask = __atomic_load_n(&from->mask, __ATOMIC_RELAXED);
        a.flags = __atomic_load_n(&from->flags, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (!(seq & 1) && seq == __atomic_load_n(&action_seq, __ATOMIC_RELAXED))
            return a;
    }
}

/* Under action_lock, all signals blocked. */
static void table_set(int sig, struct action a)
{
    __atomic_store_n(&action_seq, action_seq + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&actions[sig].handler, a.handler, __ATOMIC_RELAXED);
    __atomic_store_n(&actions[sig].mask, a.mask, __ATOMIC_RELAXED);
    __atomic_store_n(&actions[sig].flags, a.flags, __ATOMIC_RELAXED);
    __atomic_store_n(&action_seq, action_seq + 1, __ATOMIC_RELEASE);
}

static bool is_function(uptr handler)
{
    return handler != (uptr)SIG_DFL && handler != (uptr)SIG_IGN;
}

/* Install the trampoline as the kernel's handler. flags: those of the program's flags that the kernel must
 * know. */
static int install(int sig, int flags)
{
    struct sigaction k = {0};
    k.sa_sigaction = trampoline;
    k.sa_flags = (flags & (SA_NOCLDSTOP | SA_NOCLDWAIT | SA_ONSTACK | SA_RESTART | SA_NODEFER)) | SA_SIGINFO;
    /* A shadow fault may happen inside the program's own SIGSEGV handler, and on an exhausted stack. */
    if (sig == SIGSEGV)
        k.sa_flags |= SA_NODEFER | SA_ONSTACK;
    k.sa_mask = libc_mask(asynchronous());
    return REAL(sigaction)(sig, &k, NULL);
}

/* Under action_lock. What the program set, or what the process was started with. */
static int current_action(int sig, struct sigaction *ret)
{
    int rc = REAL(sigaction)(sig, NULL, ret);
    if (rc != 0 || ret->sa_sigaction != trampoline)
        return rc;
    struct action a = table_get(sig);
    ret->sa_handler = (void (*)(int))a.handler;
    ret->sa_flags = a.flags;
    ret->sa_mask = libc_mask(a.mask);
    return 0;
}

/* Under action_lock. */
static int change_action(int sig, const struct sigaction *act)
{
    struct action old = table_get(sig);
    struct action a = {(uptr)act->sa_handler, kernel_mask(&act->sa_mask), act->sa_flags};
    if (sig == SIGSEGV) {
        table_set(sig, a);
        return 0;
    }
    if (!is_function(a.handler)) {
        /* The kernel first: as long as the trampoline can be called, it must find a function. */
        int rc = REAL(sigaction)(sig, act, NULL);
        if (rc == 0)
            table_set(sig, a);
        return rc;
    }
    table_set(sig, a);
    int rc = install(sig, a.flags);
    if (rc != 0)
        table_set(sig, old);
    return rc;
}

/* Installing a handler happens before it runs. So do earlier installations: a thread may just have looked one
 * up and be about to call it. */
static void order(int sig, void (*edge)(struct dh_thread *, const volatile void *))
{
    struct dh_thread *t = __dh_hot.self;
    if (t != NULL && dh_thread_enter_any(t)) {
        edge(t, &actions[sig]);
        dh_thread_leave(t);
    }
}

static char sent[SIGNALS]; /* addresses at which sending each signal publishes */

void dh_signal_sends(struct dh_thread *t, int sig)
{
    if (sig > 0 && sig < SIGNALS)
        dh_order_release(t, &sent[sig]);
}

void dh_signal_fetched(struct dh_thread *t, int sig)
{
    if (sig > 0 && sig < SIGNALS)
        dh_order_acquire(t, &sent[sig]);
}

int dh_signal_action(int sig, const struct sigaction *act, struct sigaction *ret_old)
{
    DH_RESOLVE(sigaction);
    /* Those the kernel or libc refuses, or that cannot be handled. */
    if (sig < 1 || sig >= SIGNALS || sig == SIGKILL || sig == SIGSTOP || sig == CANCEL || sig == SETXID)
        return REAL(sigaction)(sig, act, ret_old);
    struct sigaction want, old;
    if (act != NULL)
        want = *act; /* act and ret_old may be the same; and reading it may fault, so not under the lock */
    if (act != NULL && is_function((uptr)want.sa_handler)) {
        order(sig, dh_order_release);
        dh_thread_may_be_interrupted();
    }
    u64 mask = dh_signal_block_all();
    table_lock();
    int rc = current_action(sig, &old);
    if (rc == 0 && act != NULL)
        rc = change_action(sig, &want);
    table_unlock();
    dh_signal_set_mask(mask);
    if (rc == 0 && ret_old != NULL)
        *ret_old = old;
    return rc;
}

/* SA_RESETHAND: exactly one arrival gets the handler. Called with all asynchronous signals blocked. */
static struct action take_once(int sig)
{
    table_lock();
    struct action a = table_get(sig);
    if (is_function(a.handler) && (a.flags & (int)SA_RESETHAND)) {
        table_set(sig, (struct action){(uptr)SIG_DFL, 0, 0});
        if (sig != SIGSEGV) {
            struct sigaction dfl = {.sa_handler = SIG_DFL};
            REAL(sigaction)(sig, &dfl, NULL);
        }
    }
    table_unlock();
    return a;
}

/* ---- Running handlers ---- */

static bool caused_by_instruction(int sig, const siginfo_t *info)
{
    bool kind =
        sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL || sig == SIGTRAP || sig == SIGSYS;
    return kind && info->si_code > 0;
}

static void send_again(int sig, siginfo_t *info)
{
    dh_sys6(SYS_rt_tgsigqueueinfo, getpid(), dh_sys_gettid(), sig, (long)info, 0, 0);
}

/* The program has no handler (any more). */
static void default_action(int sig, uptr handler, siginfo_t *info)
{
    bool fault = caused_by_instruction(sig, info);
    if (handler == (uptr)SIG_IGN && !fault)
        return;
    struct sigaction dfl = {.sa_handler = SIG_DFL};
    REAL(sigaction)(sig, &dfl, NULL);
    /* A fault recurs by itself, at the instruction that a core file should show. */
    if (!fault)
        send_again(sig, info);
}

/*
 * Calls the program's handler on thread t (NULL: not attached) as if the signal had just arrived in program
 * code. If it did, a frame records where: the interrupted function may be in the middle of pushing that very
 * frame, so its content is preserved.
 */
static DH_CALLS_PROGRAM void call_handler(struct dh_thread *t, const struct action *a, int sig,
                                          siginfo_t *info, ucontext_t *uc, bool just_now)
{
    u32 in_rt = t ? t->in_rt : 0;
    struct dh_regions regions = {0};
    struct dh_frame *f = __dh_hot.sp, kept;
    bool room = just_now && t && f && f < __dh_hot.limit;
    if (room) {
        kept = *f;
        f->pc = (const void *)(uc->uc_mcontext.gregs[REG_RIP] + 1); /* frames hold return addresses */
        f->ctx = 0;
        __dh_hot.sp = f + 1;
    }
    /* A fault inside the runtime, on bad memory of the program's: its handler may jump away. */
    struct dh_atomic_now atomic = {0};
    if (in_rt) {
        atomic = dh_atomic_suspend();
        t->in_rt = 0;
    }
    /* The regions of the interrupted code (lard.h) do not apply to the handler. */
    if (t) {
        regions = dh_regions_of(t);
        dh_regions_set(t, (struct dh_regions){0});
    }
    order(sig, dh_order_acquire);
    if (a->flags & SA_SIGINFO)
        ((void (*)(int, siginfo_t *, void *))a->handler)(sig, info, uc);
    else
        ((void (*)(int))a->handler)(sig);
    if (t)
        dh_regions_set(__dh_hot.self, regions); /* the kernel thread's, which may have switched */
    if (in_rt) {
        t->in_rt = in_rt;
        dh_atomic_resume(&atomic);
    }
    if (room) {
        *f = kept;
        __dh_hot.sp = f;
    }
}

static u64 handler_mask(const struct action *a, int sig, u64 interrupted)
{
    return interrupted | a->mask | (a->flags & SA_NODEFER ? 0 : dh_signal_bit(sig));
}

static u64 context_mask(const ucontext_t *uc)
{
    return kernel_mask(&uc->uc_sigmask);
}

static void set_context_mask(ucontext_t *uc, u64 mask)
{
    uc->uc_sigmask.__val[0] = mask; /* the kernel's set ends here; what follows is not ours */
}

/* Defer the signal until the thread leaves the runtime. */
static void hold_back(struct dh_thread *t, int sig, siginfo_t *info, ucontext_t *uc)
{
    struct dh_sig_state *s = &t->sig;
    if (s->pending) {
        /* Only cancellation or a SIGBUS or the like sent by kill() can get here; leave it to the kernel. */
        if (sig != SIGSEGV) {
            set_context_mask(uc, context_mask(uc) | dh_signal_bit(sig));
            send_again(sig, info);
        }
        return;
    }
    s->info = *info;
    memcpy(&s->context, uc, offsetof(ucontext_t, uc_sigmask) + sizeof(u64));
    if (uc->uc_mcontext.fpregs) {
        memcpy(&s->context.__fpregs_mem, uc->uc_mcontext.fpregs, sizeof(s->context.__fpregs_mem));
        s->context.uc_mcontext.fpregs = &s->context.__fpregs_mem;
    }
    s->mask = context_mask(uc);
    set_context_mask(uc, s->mask | asynchronous());
    s->pending = (u32)sig;
    dh_runtime_count(DH_COUNT_SIGNALS_DEFERRED);
}

static void trampoline(int sig, siginfo_t *info, void *context)
{
    int e = errno;
    ucontext_t *uc = context;
    bool fault = caused_by_instruction(sig, info);
    if (sig == SIGSEGV && fault && dh_region_fault((uptr)info->si_addr)) {
        errno = e;
        return;
    }
    struct dh_thread *t = __dh_hot.self;
    if (!fault && t && t->in_rt) {
        hold_back(t, sig, info, uc);
        errno = e;
        return;
    }
    struct action a = table_get(sig);
    if (a.flags & (int)SA_RESETHAND)
        a = take_once(sig);
    if (!is_function(a.handler)) {
        default_action(sig, a.handler, info);
        errno = e;
        return;
    }
    dh_signal_set_mask(handler_mask(&a, sig, context_mask(uc)));
    errno = e;
    call_handler(t, &a, sig, info, uc, true);
    /* The handler may have edited the mask to return to. */
    set_context_mask(uc, context_mask(uc) & ~dh_signal_bit(SIGSEGV));
}

void dh_signal_deliver(struct dh_thread *t)
{
    struct dh_sig_state *s = &t->sig;
    while (s->pending) {
        /* All asynchronous signals are blocked until the mask is set below: the slot is ours. in_rt keeps the
         * copies, which may be calls of memcpy, from counting as accesses of the program. */
        t->in_rt = 1;
        int sig = (int)s->pending;
        siginfo_t info = s->info;
        ucontext_t uc = s->context;
        if (uc.uc_mcontext.fpregs)
            uc.uc_mcontext.fpregs = &uc.__fpregs_mem;
        set_context_mask(&uc, s->mask);
        u64 mask = s->mask;
        s->pending = 0;
        t->in_rt = 0;
        struct action a = table_get(sig);
        if (a.flags & (int)SA_RESETHAND)
            a = take_once(sig);
        if (is_function(a.handler)) {
            dh_signal_set_mask(handler_mask(&a, sig, mask));
            call_handler(t, &a, sig, &info, &uc, false);
            mask = context_mask(&uc);
        } else {
            default_action(sig, a.handler, &info);
        }
        dh_signal_set_mask(mask);
    }
}

/* ---- Life ---- */

void dh_signal_init(void)
{
    DH_RESOLVE(sigaction);
    struct sigaction old;
    if (REAL(sigaction)(SIGSEGV, NULL, &old) == 0 && old.sa_sigaction != trampoline)
        table_set(SIGSEGV, (struct action){(uptr)old.sa_handler, kernel_mask(&old.sa_mask), old.sa_flags});
    install(SIGSEGV, 0);
    dh_signal_set_mask(dh_signal_block_all()); /* the process may have been started with SIGSEGV blocked */
}

/* libc hides its signals from sigaction, so this is the kernel's own structure. */
struct kernel_action {
    uptr handler;
    unsigned long flags;
    void (*restorer)(void);
    u64 mask;
};

void dh_signal_hook_cancel(void)
{
    struct kernel_action k = {0};
    if (dh_sys6(SYS_rt_sigaction, CANCEL, 0, (long)&k, sizeof(k.mask), 0, 0) != 0)
        return;
    if (!is_function(k.handler) || k.handler == (uptr)trampoline)
        return;
    u64 mask = dh_signal_block_all();
    table_lock();
    table_set(CANCEL, (struct action){k.handler, k.mask, (int)k.flags});
    table_unlock();
    dh_signal_set_mask(mask);
    k.handler = (uptr)trampoline;
    k.mask |= asynchronous();
    dh_sys6(SYS_rt_sigaction, CANCEL, (long)&k, 0, sizeof(k.mask), 0, 0);
}

void dh_signal_fork_before(void)
{
    table_lock();
}

void dh_signal_fork_after(void)
{
    table_unlock();
}
