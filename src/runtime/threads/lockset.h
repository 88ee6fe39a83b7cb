/*
 * lockset.h - sets of held locks, interned as a tree: a set is the set before the last acquisition plus
 * one lock. Only reports read them, so order of acquisition is kept and equal sets
 * reached in different order may have different numbers.
 */
#ifndef DH_RUNTIME_THREADS_LOCKSET_H
#define DH_RUNTIME_THREADS_LOCKSET_H

#include "runtime/threads/context.h"

#define DH_LOCKSET_BITS 20
#define DH_LOCKSET_MAX ((1u << DH_LOCKSET_BITS) - 2) /* the next number means that the set is unknown */

typedef struct {
    u32 v;
} dh_lockset_t;
_Static_assert(sizeof(dh_lockset_t) == 4 && DH_LOCKSET_BITS < 32, "a number that records keep in fewer bits");

#define DH_LOCKSET_EMPTY ((dh_lockset_t){0})
#define DH_LOCKSET_UNKNOWN ((dh_lockset_t){DH_LOCKSET_MAX + 1}) /* the table is full */

/* As a number, for hashing and packing. */
DH_INLINE dh_lockset_t dh_lockset_from(u32 raw)
{
    return (dh_lockset_t){raw};
}

DH_INLINE u32 dh_lockset_raw(dh_lockset_t s)
{
    return s.v;
}

DH_INLINE bool dh_lockset_eq(dh_lockset_t a, dh_lockset_t b)
{
    return a.v == b.v;
}

DH_INLINE bool dh_lockset_is_empty(dh_lockset_t s)
{
    return s.v == 0;
}

DH_INLINE bool dh_lockset_is_unknown(dh_lockset_t s)
{
    return s.v == DH_LOCKSET_MAX + 1;
}

/* Are there locks in it whose names are known? Then it has a node. */
DH_INLINE bool dh_lockset_is_listed(dh_lockset_t s)
{
    return !dh_lockset_is_empty(s) && !dh_lockset_is_unknown(s);
}

struct dh_lockset_node {
    u64 lock : 63;
    u64 read : 1; /* held in read mode */
    dh_ctx_t ctx; /* where it was taken */
    dh_lockset_t parent;
    u32 next; /* hash chain */
};

dh_lockset_t dh_lockset_with(dh_lockset_t set, uptr lock, bool read, dh_ctx_t ctx);
const struct dh_lockset_node *dh_lockset_node(dh_lockset_t set);

#endif
