/*
 * lately.h - addresses that a thread recently synchronised on: what is known without looking up their
 * objects. Owner only, inside the runtime. Written by order.c; see struct dh_lately.
 */
#ifndef DH_RUNTIME_THREADS_LATELY_H
#define DH_RUNTIME_THREADS_LATELY_H

#include "runtime/threads/sync.h"

enum { DH_LATELY_NOT_ALL = 1 }; /* odd, so no version of an object that is not being changed */

DH_INLINE struct dh_lately *dh_lately(struct dh_thread *t, uptr addr)
{
    return &t->lately[(addr >> 3 ^ addr >> 7) % DH_LATELY];
}

/* Is the object at addr unchanged since the thread last knew everything it publishes? */
DH_INLINE bool dh_lately_known(const struct dh_lately *e, uptr addr)
{
    return e->addr == addr && e->version != DH_LATELY_NOT_ALL && dh_sync_version(e->object) == e->version;
}

/* Has t recorded anything in its current epoch? */
DH_INLINE bool dh_thread_has_recorded(const struct dh_thread *t)
{
    return t->ids.made != 0 || !dh_id_eq(t->ids.special.next, t->ids.special_floor);
}

/* Is what t would publish at addr already published there? False may also mean that it takes longer to
 * tell. */
DH_INLINE bool dh_lately_said(const struct dh_thread *t, const struct dh_lately *e, uptr addr)
{
    return e->said == t->saying && dh_lately_known(e, addr) && !dh_thread_has_recorded(t);
}

#endif
