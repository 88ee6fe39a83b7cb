/*
 * hybrid.c - see hybrid.h. Locks give no order here: in another schedule they could be taken the other way
 * round.
 */
#include "detect/hybrid.h"

void dh_hybrid_init(struct dh_detector *d)
{
    dh_locksets_init(d->own, d);
}

void dh_hybrid_acquire(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    (void)lock;
    dh_held_acquire(d->own, &((struct dh_hybrid_thread *)thread)->held, e);
}

void dh_hybrid_release(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    (void)lock;
    dh_held_release(d->own, &((struct dh_hybrid_thread *)thread)->held, e);
}
