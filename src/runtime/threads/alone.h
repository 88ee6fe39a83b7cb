/*
 * alone.h - the only thread there is.
 *
 * As long as no other thread exists, and the ends of all earlier threads happened before, whatever a thread
 * does happens before everything that any later thread does, since it will start them. So its accesses cannot
 * race with anything, earlier or later: none is recorded or checked, and its synchronisation publishes
 * nothing that later threads do not inherit when they start. `base` and `span` are set such that the inlined
 * check always passes.
 *
 * A thread is alone from the start of the program until it creates a thread, and again after it has joined
 * the last one. With a tap it never is: recordings contain everything. Nor is it ever again after an
 * unordered region (lard.h): threads started there are not ordered after what their creator did.
 *
 * A tap that needs no events says so, and then every thread is treated as if it were alone.
 */
#ifndef DH_RUNTIME_THREADS_ALONE_H
#define DH_RUNTIME_THREADS_ALONE_H

#include "runtime/threads/thread.h"

/* Does the program itself include lard.h? (Not known for shared libraries.) */
bool dh_alone_lard_spoken(void);
/* Does every thread inherit its creator's clock? Once one has not, others may not either. */
bool dh_alone_all_inherit(void);
/* t runs on this kernel thread. Treat it as alone from now on, if it is. */
void dh_alone_begin(struct dh_thread *t);
/* It is about to be no longer alone. No effect if it was not. */
void dh_alone_end(struct dh_thread *t);
/* No one needs the events of t, which runs here, or of any other thread: treat each as alone until the
 * program ends. */
void dh_alone_unheard(struct dh_thread *t);
/* It is about to enter an unordered region. */
void dh_alone_never(struct dh_thread *t);

#endif
