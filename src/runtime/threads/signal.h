/*
 * signal.h - the one asynchronous signal whose handling a thread may have deferred.
 *
 * Written by the owning thread only: by its signal trampoline when the signal arrives inside the runtime,
 * and by dh_signal_deliver when the thread leaves it. See signal.c.
 */
#ifndef DH_RUNTIME_THREADS_SIGNAL_H
#define DH_RUNTIME_THREADS_SIGNAL_H

#include <signal.h>
#include <ucontext.h>

#include "base/base.h"

struct dh_thread;

struct dh_sig_state {
    volatile u32 pending; /* number of the deferred signal; 0: none */
    u64 mask;             /* the thread's signal mask when it arrived; all are blocked until delivery */
    siginfo_t info;
    ucontext_t context;
};

void dh_signal_init(void); /* takes SIGSEGV over, before the real functions are looked up (init.c) */

/* The thread has left the runtime and sig.pending was seen non-zero: run the handler now. */
void dh_signal_deliver(struct dh_thread *t);

/* sigaction as the program sees it. 0 or -1 with errno. */
int dh_signal_action(int sig, const struct sigaction *act, struct sigaction *ret_old);

/* Put the trampoline before libc's own cancellation handler, so that it too waits for the thread to leave the
 * runtime. Call it once libc has installed that handler. */
void dh_signal_hook_cancel(void);

/* Sending a signal happens before fetching it (sigwait, signalfd): before the real send, and after a signal
 * was fetched. Which of several sends it was cannot be known, so all of them count. Invalid signal numbers
 * are allowed. */
void dh_signal_sends(struct dh_thread *t, int sig);
void dh_signal_fetched(struct dh_thread *t, int sig);

/* A copy of the program's mask without the signals that must never really be blocked. in may be NULL. */
const sigset_t *dh_signal_filter(const sigset_t *in, sigset_t *storage);

/* The kernel's format of a signal set: one bit per signal, from 1. */
DH_INLINE u64 dh_signal_bit(int sig)
{
    return 1ull << (sig - 1);
}

/* Block every asynchronous signal on this thread; returns the mask to pass to dh_signal_set_mask. */
u64 dh_signal_block_all(void);
void dh_signal_set_mask(u64 mask);

/* Around fork: no thread changes an action while the process is copied. */
void dh_signal_fork_before(void);
void dh_signal_fork_after(void);

#endif
