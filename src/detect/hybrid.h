/*
 * hybrid.h - what detectors share that know both an order and the locks held; the hybrid ones among them have
 * the relaxed happens-before relation.
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

void dh_hybrid_init(struct dh_detector *d);
dh_sync_fn dh_hybrid_acquire, dh_hybrid_release;

/* For a table of operations: what both need, and all that a hybrid detector needs. */
#define DH_HYBRID_STATE                                                                     \
    .own_size = sizeof(struct dh_locksets), .thread_size = sizeof(struct dh_hybrid_thread), \
    .init = dh_hybrid_init, .let_go = dh_hybrid_release
#define DH_HYBRID_ALL \
    DH_HB_RELAXED, DH_HYBRID_STATE, .acquire = dh_hybrid_acquire, .release = dh_hybrid_release

#endif
