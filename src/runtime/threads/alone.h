/*
 * alone.h - the only thread there is.
 *
 * As long as no other thread exists, and all that ended have ended before it in the order of events, whatever
 * a thread does happens before everything that any later thread does, since it is the one that will start
 * them. So its accesses can race with nothing, earlier or later: none is recorded or checked, and its
 * synchronisation says nothing that later threads do not know by their start. `base` and `span` are such that
 * the inlined check always passes.
 *
 * A thread is alone from the start of the program until it creates a thread, and again after it has joined
 * the last one. With a tap it never is: recordings are of everything. Nor is it again once it was in an
 * unordered region (lard.h): threads started there know nothing of what their creator did.
 *
 * A tap that has no use for any event says so, and then every thread is treated as if it were alone.
 */
#ifndef DH_RUNTIME_THREADS_ALONE_H
#define DH_RUNTIME_THREADS_ALONE_H

#include "runtime/threads/thread.h"

/* Does the program itself include lard.h? (Of shared libraries it is not known.) */
bool dh_alone_lard_spoken(void);
/* Does every thread know all that its creator knew? Once it does not, others may not. */
bool dh_alone_all_inherit(void);
/* t runs here. From now on it is alone, if it is. */
void dh_alone_begin(struct dh_thread *t);
/* It is about to be no longer. Nothing if it was not. */
void dh_alone_end(struct dh_thread *t);
/* Nobody wants to know what t, which runs here, does, nor what any other thread does: it is as if each were
 * alone until the program ends. */
void dh_alone_unheard(struct dh_thread *t);
/* It is about to be in an unordered region. */
void dh_alone_never(struct dh_thread *t);

#endif
