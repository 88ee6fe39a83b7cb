/*
 * lockset.h - sets of held locks, interned as a tree: a set is the set before the last acquisition plus
 * one lock. 0 is the empty set. Only reports read them, so order of acquisition is kept and equal sets
 * reached in different order may have different numbers.
 */
#ifndef DH_RUNTIME_THREADS_LOCKSET_H
#define DH_RUNTIME_THREADS_LOCKSET_H

#include "runtime/threads/context.h"

#define DH_LOCKSET_BITS 20
#define DH_LOCKSET_UNKNOWN ((1u << DH_LOCKSET_BITS) - 1)

struct dh_lockset_node {
    u64 lock : 63;
    u64 read : 1; /* held in read mode */
    dh_ctx_t ctx; /* where it was taken */
    u32 parent;
    u32 next; /* hash chain */
};

u32 dh_lockset_with(u32 set, uptr lock, bool read, dh_ctx_t ctx);
const struct dh_lockset_node *dh_lockset_node(u32 set);

#endif
