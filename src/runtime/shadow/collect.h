/*
 * collect.h - recycling of access ids and histories.
 */
#ifndef DH_RUNTIME_SHADOW_COLLECT_H
#define DH_RUNTIME_SHADOW_COLLECT_H

#include "runtime/threads/thread.h"

/* Run a collection on this thread, or return at once if another thread is at it. The caller is inside the
 * runtime but holds no cell in a variable. */
/* Wait until every other thread has been outside the runtime. self may be inside; it holds no lock. */
void dh_collect_quiesce(struct dh_thread *self);
void dh_collect_run(struct dh_thread *self);
/* A new generation without a collection: each thread comes by dh_thread_forget_cells when it next enters the
 * runtime. False: a collection is under way, try again. */
bool dh_collect_turn(void);
/* Is a collection marking? Then whoever copies cells marks them (copy.c). */
bool dh_collect_marking(void);
void dh_collect_mark_cell(u32 cell);
void dh_collect_each_lock(dh_lock_fn *fn);

#endif
