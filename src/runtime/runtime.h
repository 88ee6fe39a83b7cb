/*
 * runtime.h - what the parts of the runtime offer each other; above all, what interceptors may call.
 *
 * An interceptor (intercept/) knows libc but nothing about shadow memory; the engine (engine/ and below)
 * knows shadow memory but nothing about libc. They meet here and in sink/sink.h, which passes events to the
 * engine or to a tap in its place.
 *
 * The pattern of an interceptor:
 *
 *     DH_INTERCEPTOR(int, pthread_mutex_lock, pthread_mutex_t *m)
 *     {
 *         DH_ENTER(pthread_mutex_lock, m);      // if the thread is not attached, or already inside the
 *                                               // runtime: return REAL(pthread_mutex_lock)(m)
 *         int rc = DH_BLOCKING(REAL(pthread_mutex_lock)(m));
 *         if (rc == 0)
 *             dh_order_lock(sc.t, m, 0);
 *         DH_RETURN(rc);
 *     }
 *
 * DH_ENTER pushes the caller's return address on the shadow stack, so that everything recorded inside has the
 * right calling context, and defers asynchronous signals until DH_RETURN. DH_RETURN keeps errno as the real
 * function left it. Inside, intercepted functions may only be called through REAL(): a nested call goes
 * straight to the real one anyway (see DH_ENTER).
 */
#ifndef DH_RUNTIME_H
#define DH_RUNTIME_H

#include "event/access.h"
#include "runtime/abi/abi.h"
#include "runtime/threads/context.h"
#include "runtime/threads/uid.h"

struct dh_thread; /* thread.h */

/* ---- Entering and leaving the runtime (scope.h has the macros) ------------------------------- */

/* ---- Memory: accesses, and what becomes of their histories (sink/sink.h) -------------------------- */

/* Make sure shadow exists for [p, p+n), called when memory appears (mmap, malloc, thread stacks,
 * dlopen). Returns false if the shadow could not be mapped: then the program must not get the memory, or the
 * access goes unseen and is counted (LOST_SHADOW). */
bool dh_region_map(const volatile void *p, size_t n);

/* The memory is gone (munmap): forget its history and return its shadow pages to the kernel. */
void dh_region_unmap(const volatile void *p, size_t n);

/* ---- Synchronisation --------------------------------------------------------------------------- */

/* Happens-before edges through an address that is not a lock: everything before a release happens
 * before everything after a later acquire of the same address. Release joins (does not replace). */
void dh_order_acquire(struct dh_thread *t, const volatile void *addr);
void dh_order_release(struct dh_thread *t, const volatile void *addr);
/* Release that replaces what earlier releases published (a barrier generation, a fresh event). */
void dh_order_release_store(struct dh_thread *t, const volatile void *addr);

/* Locks. flags: DH_LOCK_*. Lock after the real lock succeeded, unlock before the real unlock. Recursive
 * locks: the runtime counts, only the outermost pair creates ordering. Locks need not be created. */
enum {
    DH_LOCK_READ = 1,
    DH_LOCK_RECURSIVE = 2,
    DH_LOCK_SPIN = 4,
    DH_LOCK_TRY = 8,
    DH_LOCK_UNORDERED = 16, /* taken in an unordered region (lard.h); set by the runtime itself */
    DH_LOCK_LANGUAGE = 32,  /* language-level, not of pthread: it may move (dh_lard_lock) */
    DH_LOCK_COUNTED = 64,   /* held.c; set by the runtime itself */
    DH_LOCK_ROBUST = 128    /* another thread can acquire it after its owner died */
};
void dh_order_lock(struct dh_thread *t, const volatile void *m, u32 flags);
/* Returns how many levels were dropped (usually 1). all_levels: condition waits drop them all; pass the
 * result, and what dh_order_lock_kind returned for the held lock, to dh_order_relock. For rwlocks the runtime
 * knows in which mode they were taken. */
u32 dh_order_unlock(struct dh_thread *t, const volatile void *m, bool all_levels);
u32 dh_order_lock_kind(struct dh_thread *t, const volatile void *m);
void dh_order_relock(struct dh_thread *t, const volatile void *m, u32 kind, u32 levels);

/* ---- Threads ------------------------------------------------------------------------------------ */

/* Called by the parent before the real creation; NULL if no more are available (counted). */
struct dh_thread *dh_thread_new(struct dh_thread *parent);
/* Called first thing on the new kernel thread. Finds the stack bounds and clears their history. */
void dh_thread_start(struct dh_thread *t);
/* Called on the thread when its start routine and its TSD destructors are done. Detaches the kernel
 * thread: later accesses on it go unseen. */
void dh_thread_finish(struct dh_thread *t);
/* The real creation failed: undo it. */
void dh_thread_cancel_new(struct dh_thread *t);
/* t joined child (which has finished). */
void dh_thread_join(struct dh_thread *t, struct dh_thread *child);
void dh_thread_detach(struct dh_thread *child);
void dh_thread_set_name(struct dh_thread *t, const char *name);
/* Language-level threads (lard.h), fibers: no kernel thread is started for them. */
struct dh_thread *dh_thread_new_carried(struct dh_thread *parent);
/* The kernel thread switches to another logical thread. sync: the switch orders the two. It stays inside the
 * runtime, and leaves it as `to`. */
void dh_thread_switch(struct dh_thread *to, bool sync);
/* t, which is not running, has ended. */
void dh_thread_end_carried(struct dh_thread *t);
/* The pthread_t of a thread, kept for join by handle. */
void dh_thread_bind(struct dh_thread *t, unsigned long pthread);
struct dh_thread *dh_thread_by_pthread(unsigned long pthread);
/* t is about to wait for child to end, without a time limit; NULL: no longer. */
void dh_thread_joining(struct dh_thread *t, struct dh_thread *child);
/* From now on a waiting thread may be interrupted to do something else: by a signal handler, or by
 * cancellation. */
void dh_thread_may_be_interrupted(void);

/* A recording keeps what is done in untracked and unordered regions (option lard_system). */
extern bool dh_system_kept;

/* ---- Heap ------------------------------------------------------------------------------------------ */

/* A block of the program's heap appeared at p with n usable bytes. Clears history. */
void dh_heap_new(struct dh_thread *t, void *p, size_t n);
/* ... is about to be freed: counts as a write to all of it, by which use-after-free races are recognised. */
void dh_heap_free(struct dh_thread *t, void *p, size_t n);

/* What a report says about a heap block; filled in by heap.c. */
struct dh_heap_block {
    uptr start;
    size_t size;
    dh_ctx_t ctx; /* where it was allocated */
    dh_uid_t uid; /* by which thread */
    bool freed;   /* and its memory not reused yet */
};
/* The block that holds addr, live or freed but not reused. */
bool dh_heap_find(uptr addr, struct dh_heap_block *ret_block);

/* The context node of "here", for heap.c: the current shadow stack, interned. */
dh_ctx_t dh_thread_current_ctx(struct dh_thread *t);
dh_uid_t dh_thread_uid(const struct dh_thread *t);

/* ---- Life of the process --------------------------------------------------------------------------- */

void dh_runtime_init(void); /* idempotent; called from .preinit_array, constructors and interceptors */
int dh_runtime_exit_status(int status); /* at exit: ends reporting; returns the exit status to use */
void dh_runtime_fork_before(void);      /* takes every runtime lock, in rank order */
void dh_runtime_fork_parent(void);
void dh_runtime_fork_child(void);
void dh_modules_changed(void); /* after dlopen/dlclose: module table, shadow for new segments */

/* ---- Counters of what could not be seen ------------------------------------------------------- */
enum dh_counter {
#define DH_COUNTER(name, help) DH_COUNT_##name,
#include "runtime/counters.def"
#undef DH_COUNTER
    DH_COUNT_MAX
};
/* From here to the end: those counted only with --stats. */
#define DH_RULES_FIRST DH_COUNT_MILLISECONDS
#define DH_RULES (DH_COUNT_MAX - DH_RULES_FIRST)
void dh_runtime_count(enum dh_counter c);

#endif
