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

bool dh_hybrid_all_safe(struct dh_detector *d, const struct dh_hybrid_all *all,
                        const struct dh_hybrid_thread *t, u32 locks)
{
    return !all->any || dh_is_known(&all->known, &t->hb.c) || !dh_lockset_disjoint(d->own, all->locks, locks);
}

void dh_hybrid_all_add(struct dh_detector *d, struct dh_hybrid_all *all, const struct dh_hybrid_thread *t,
                       u32 locks)
{
    dh_known_add(&all->known, !all->any, &t->hb.c, t->hb.tid, t->hb.clock);
    if (!all->any)
        all->locks = locks;
    else if (all->locks && all->locks != locks)
        all->locks = dh_lockset_meet(d->own, all->locks, locks);
    all->any = true;
}
