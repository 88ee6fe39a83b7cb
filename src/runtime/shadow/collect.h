/*
 * collect.h - recycling of access ids and histories.
 */
#ifndef DH_RUNTIME_SHADOW_COLLECT_H
#define DH_RUNTIME_SHADOW_COLLECT_H

#include "runtime/threads/thread.h"

/* Start a new generation without a collection: each thread calls dh_thread_forget_cells when it next enters
 * the runtime. Waits until every other thread has been outside. self may be inside, or NULL if the caller is
 * not a thread of the program; it holds no lock. False: cannot tell whether they have been outside. */
bool dh_collect_quiesce(struct dh_thread *self);
/* Run a collection on this thread, or return at once if another thread is running one. The caller is inside
 * the runtime but holds no cell in a variable. */
void dh_collect_run(struct dh_thread *self);
/* Is a collection marking? Then code that copies cells must mark them (copy.c). */
bool dh_collect_marking(void);
void dh_collect_mark_cell(dh_cell_t cell);
void dh_collect_each_lock(dh_lock_fn *fn);

#endif
