/*
 * intercept.h - what the interceptor files share with each other and with start-up.
 */
#ifndef DH_RUNTIME_INTERCEPT_INTERCEPT_H
#define DH_RUNTIME_INTERCEPT_INTERCEPT_H

#include <pthread.h>
#include <signal.h>

#include "runtime/sink/sink.h"
#include "runtime/threads/scope.h"
#include "runtime/threads/thread.h"

/* Resolves every real function and takes over fork and exit. Called once by dh_runtime_init on the main
 * thread, before any constructor has run. dh_signal_init comes before it. */
void dh_intercept_init(void);

/* Parts of it, one a file. */
void dh_intercept_thread_init(void);    /* intercept/thread.c: the key whose destructor ends threads */
void dh_intercept_process_init(void);   /* intercept/process.c: fork */
void dh_intercept_exit_init(void);      /* intercept/exit.c: the last exit handler */
void dh_intercept_malloc_init(void);    /* intercept/malloc.c: where the loader is */
void dh_intercept_dl_fork_child(void);  /* intercept/dl.c: its lock, in a forked child */
void dh_intercept_sem_fork_child(void); /* intercept/sem.c: likewise */

extern DH_HIDDEN int (*dh_real_sigaction)(int, const struct sigaction *, struct sigaction *);

/* Around a system call that makes a copy of the process: before it, and after it in either process
 * (intercept/process.c). */
void dh_process_copy_begin(void);
void dh_process_copy_end(bool child);

/* A thread is about to be created: one that still runs at exit is waited for (intercept/exit.c). */
void dh_exit_wait_for_threads(void);

bool dh_mutex_refuses(const struct dh_thread *t, const pthread_mutex_t *m); /* intercept/mutex.c */
void dh_mutex_bequeath(struct dh_thread *t);                                /* likewise */

/* Using a synchronisation object conflicts with an unordered init, destroy or free before it. It is checked
 * and not recorded: recording it would cost more than most uses do, and a destroy after an unordered use is
 * seen through the data the lock protects. It is checked before acquiring from the object: the thread that
 * initialised a lock may have used it since, and a lock does not order its own initialisation. */
DH_INLINE void dh_object_use(struct dh_thread *t, const volatile void *object)
{
    if (!t->untracked)
        dh_sink_check(t, object, sizeof(int)); /* the smallest of them is an int */
}

/* Was the function on top of the shadow stack called by a plain library? */
bool dh_intercept_for_plain(void); /* intercept/intercept.c */

/* Init and destroy are plain writes: a race with any unordered use. Not those of a plain library: it may have
 * created the object on first use, ordered by atomics that we do not see. */
DH_INLINE void dh_object_new(struct dh_thread *t, const volatile void *object, size_t n)
{
    if (!dh_intercept_for_plain())
        dh_sink_access(t, object, n, DH_WRITE);
    dh_sink_forget(object, n);
}
#define dh_object_destroy dh_object_new

#endif
