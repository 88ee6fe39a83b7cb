/*
 * hybrid.h - what the hybrid detectors share: the relaxed happens-before relation and the locks held.
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

#define DH_HYBRID_HANDLERS \
    DH_HB_RELAXED, .init = dh_hybrid_init, .acquire = dh_hybrid_acquire, .release = dh_hybrid_release

#endif
