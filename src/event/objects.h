/*
 * objects.h - numbers of synchronisation objects by address. An address whose object is gone gets a new
 * number when another one appears there, so that the two have no order in common.
 *
 * Freestanding; the caller serialises all use.
 */
#ifndef DH_EVENT_OBJECTS_H
#define DH_EVENT_OBJECTS_H

#include "base/base.h"

struct dh_object;

/* All zero is a valid start. */
struct dh_objects {
    struct dh_object *
        *buckets;  /* chains by block of 256 bytes, so that a range is found without visiting all */
    u32 n_buckets; /* 0 or a power of two */
    u32 live;
    u64 *addrs; /* by number */
    u32 n, cap;
};

void dh_objects_done(struct dh_objects *o);
/* The number of the object at addr, a new one if there is none. UINT32_MAX: no memory. */
u32 dh_objects_at(struct dh_objects *o, u64 addr);
void dh_objects_forget(struct dh_objects *o, u64 addr, u64 n);
/* Move those in [from, from + n) to [to, to + n); those that were there are gone. */
void dh_objects_move(struct dh_objects *o, u64 to, u64 from, u64 n);

#endif
