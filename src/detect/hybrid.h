/*
 * hybrid.h - shared by detectors that use both an order and locksets; the hybrid ones among them use the
 * relaxed happens-before relation.
 *
 * The detector's own state begins with struct dh_locksets, its thread state with struct dh_hybrid_thread.
 */
#ifndef DH_DETECT_HYBRID_H
#define DH_DETECT_HYBRID_H

#include "detect/hb.h"
#include "detect/lockset.h"

struct dh_hybrid_thread {
    struct dh_hb_thread hb;
    struct dh_held held;
};

/* A summary of several accesses, which avoids checking each one: they all happened before any thread that
 * knows an epoch (vc.h), or all held a lock that this access holds too. All zero: no access. */
struct dh_hybrid_all {
    struct dh_known known;
    u32 locks; /* held at each; not more than these */
    bool any;
};

/* Is it certain that an access of the thread with these locks races with none of them? */
bool dh_hybrid_all_safe(struct dh_detector *d, const struct dh_hybrid_all *all,
                        const struct dh_hybrid_thread *t, u32 locks);
void dh_hybrid_all_add(struct dh_detector *d, struct dh_hybrid_all *all, const struct dh_hybrid_thread *t,
                       u32 locks);
/* All of them are within the clock of the thread. */
DH_INLINE void dh_hybrid_all_within(struct dh_hybrid_all *all, const struct dh_hybrid_thread *t)
{
    all->known = (struct dh_known){.tid = t->hb.tid, .clock = t->hb.clock};
}

void dh_hybrid_init(struct dh_detector *d);
dh_sync_fn dh_hybrid_acquire, dh_hybrid_release;

/* For a table of operations: what both need, and all that a hybrid detector needs. */
#define DH_HYBRID_STATE                                                                     \
    .own_size = sizeof(struct dh_locksets), .thread_size = sizeof(struct dh_hybrid_thread), \
    .init = dh_hybrid_init, .let_go = dh_hybrid_release
#define DH_HYBRID_ALL \
    DH_HB_RELAXED, DH_HYBRID_STATE, .acquire = dh_hybrid_acquire, .release = dh_hybrid_release

#endif
