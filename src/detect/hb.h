/*
 * hb.h - happens-before by vector clocks, shared by every detector that uses it.
 *
 * Two relations. The full one has fork, join, locks, volatiles, atomics and barriers. The relaxed one of the
 * hybrid detectors leaves lock order out and has wait and notify instead (for the full one a condition adds
 * nothing to the order its mutex gives). A detector chooses by which of these handlers it puts into its
 * table; its thread state begins with struct dh_hb_thread, its lock state with struct dh_hb_lock.
 *
 * Invariant: a thread starts a new clock after everything that publishes the old one. So a thread that knows
 * clock k of thread u knows all that u knew when it published k.
 */
#ifndef DH_DETECT_HB_H
#define DH_DETECT_HB_H

#include "detect/vc.h"

struct dh_hb_thread {
    struct dh_vc c;
    u32 tid;
    u32 clock; /* its own component of c */
    struct dh_vc
        *released;      /* what a release fence published for later relaxed stores; NULL: no such fence yet */
    struct dh_vc *seen; /* what relaxed loads saw, for a later acquire fence */
};

struct dh_hb_lock {
    struct dh_vc l;    /* last release; of a barrier: the round being left */
    struct dh_vc r;    /* releases of readers since; of a barrier: the round being entered */
    u32 tid;           /* who released last, */
    u32 clock;         /* and at which clock; 0: a join of several, or nothing */
    u32 entered, left; /* barrier: threads in r; threads that have yet to leave the round in l */
    bool readers;      /* r holds something */
};

void dh_hb_thread_init(struct dh_detector *d, void *thread, u32 tid);
dh_sync_fn dh_hb_acquire, dh_hb_release;
dh_thread_fn dh_hb_fork, dh_hb_join;
dh_sync_fn dh_hb_volatile, dh_hb_atomic, dh_hb_barrier_enter, dh_hb_barrier_leave;
dh_sync_fn dh_hb_wait, dh_hb_notify; /* of the relaxed relation */

/* A new clock for the thread, after it published the old one. */
DH_INLINE void dh_hb_tick(struct dh_detector *d, struct dh_hb_thread *t)
{
    dh_vc_set(d, &t->c, t->tid, ++t->clock);
}

/* The handlers of the two relations and the state they need, for a table of operations. A detector with more
 * thread state uses DH_HB_COMMON and adds the rest itself. */
#define DH_HB_COMMON                                                                              \
    .lock_size = sizeof(struct dh_hb_lock), .thread_init = dh_hb_thread_init, .fork = dh_hb_fork, \
    .join = dh_hb_join, .volatile_access = dh_hb_volatile, .atomic = dh_hb_atomic,                \
    .barrier_enter = dh_hb_barrier_enter, .barrier_leave = dh_hb_barrier_leave
#define DH_HB_FULL                                                                      \
    DH_HB_COMMON, .thread_size = sizeof(struct dh_hb_thread), .acquire = dh_hb_acquire, \
        .release = dh_hb_release
#define DH_HB_RELAXED DH_HB_COMMON, .wait = dh_hb_wait, .notify = dh_hb_notify

#endif
