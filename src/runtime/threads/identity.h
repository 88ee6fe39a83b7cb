/*
 * identity.h - which logical thread a kernel thread is at the moment (include/deadheat/lard.h, rule 5).
 */
#ifndef DH_RUNTIME_THREADS_IDENTITY_H
#define DH_RUNTIME_THREADS_IDENTITY_H

#include "runtime/threads/thread.h"

/* The calling kernel thread has been attached as t, on this stack. */
void dh_identity_start(struct dh_thread *t, uptr stack_lo, uptr stack_hi);
/* The thread that the calling kernel thread was started as. NULL: it is not attached. */
struct dh_thread *dh_identity_native(void);
/* The calling kernel thread, inside the runtime, becomes `to`, and stays inside the runtime. Creates no
 * ordering. `top` is the end of the caller's frame: nothing below it is used any more. */
void dh_identity_switch(struct dh_thread *to, uptr top);
/* The same from outside the runtime, for the common case of an interpreter's threads: only the identity
 * changes. NULL: the thread it was started as. False: it is another case, and nothing was done. */
bool dh_identity_take_turn(struct dh_thread *to);
/* An access of `now`, the current thread, seems to race with one of thread `earlier` at addr: did this kernel
 * thread make both, to memory of its own rather than the language's? */
bool dh_identity_in_turn(const struct dh_thread *now, dh_uid_t earlier, uptr addr);
/* The kernel thread leaves its outermost untracked region. */
void dh_identity_tracked(void);
/* Where to push the first frame since the switch, or one that exceeds the limit. */
struct dh_frame *dh_identity_frame(struct dh_thread *t);

/* Shadow call stacks. They are reused and never unmapped: a function during which a switch happened may still
 * refer to its frame. Under dh_threads_lock. */
struct dh_frame *dh_identity_take_frames(size_t n); /* NULL: no memory */
void dh_identity_give_frames(struct dh_thread *t);

#endif
