/*
 * vclock.h - epochs and vector clocks (FastTrack section 2.2), as the runtime keeps them.
 *
 * A vector clock maps thread slots to clocks; slots are small integers that threads share over
 * time (docs/design/engine.md, "Slots"), so a clock is as long as the largest number of threads that lived
 * at once. Three shapes:
 *
 *   struct dh_vclock   a thread's own clock: mutable, owner only.
 *   struct dh_snap     a copy, reference-counted, shared by everything released since the owner last learned
 *                      something new. Immutable, but for one that a single publication holds.
 *   struct dh_publish  what a release leaves in a synchronisation object: a snapshot, and the epoch of
 *                      the releaser, which may be newer than its component in the snapshot. Guarded
 *                      by the object's lock.
 */
#ifndef DH_CLOCK_VCLOCK_H
#define DH_CLOCK_VCLOCK_H

#include "base/base.h"

/* An index into vector clocks. */
typedef struct {
    u32 v;
} dh_slot_t;
_Static_assert(sizeof(dh_slot_t) == 4, "records of blocks of ids hold one beside a clock");

#define DH_SLOT_NONE ((dh_slot_t){UINT32_MAX})

/* As a number, for iterating over slots, packing and printing. */
DH_INLINE dh_slot_t dh_slot_from(u32 raw)
{
    return (dh_slot_t){raw};
}

DH_INLINE u32 dh_slot_raw(dh_slot_t s)
{
    return s.v;
}

DH_INLINE bool dh_slot_is_none(dh_slot_t s)
{
    return s.v == UINT32_MAX;
}

DH_INLINE bool dh_slot_eq(dh_slot_t a, dh_slot_t b)
{
    return a.v == b.v;
}

struct dh_snap {
    u32 refs; /* atomic */
    u32 n;
    u32 cap; /* of c */
    u32 c[];
};

struct dh_vclock {
    u32 *c;
    u32 n;   /* components in use; the others are 0 */
    u32 cap; /* of c */
};

struct dh_publish {
    struct dh_snap *snap; /* NULL: nothing was released here */
    dh_slot_t slot;       /* the releaser's; none: several releases were joined */
    u32 clock;
};

/* Grow to hold n components. The old array is returned in *ret_old (its length in *ret_old_cap), because
 * another thread may be reading it; free it when none can be. False: no memory. */
bool dh_vclock_reserve(struct dh_vclock *v, u32 n, u32 **ret_old, u32 *ret_old_cap);

DH_INLINE u32 dh_vclock_get(const struct dh_vclock *v, dh_slot_t slot)
{
    return dh_slot_raw(slot) < v->n ? v->c[dh_slot_raw(slot)] : 0;
}

/* An existing component. */
DH_INLINE u32 *dh_vclock_at(const struct dh_vclock *v, dh_slot_t slot)
{
    DH_ASSERT(dh_slot_raw(slot) < v->cap);
    return &v->c[dh_slot_raw(slot)];
}

DH_INLINE u32 *dh_snap_at(struct dh_snap *s, dh_slot_t slot)
{
    DH_ASSERT(dh_slot_raw(slot) < s->cap);
    return &s->c[dh_slot_raw(slot)];
}

/* v := v joined with p. Capacity must suffice (dh_vclock_reserve to p's length). True if v grew. */
bool dh_vclock_join(struct dh_vclock *v, const struct dh_publish *p);
/* Does everything in p already happen before v's owner? May answer by FastTrack's shortcut. */
bool dh_vclock_knows(const struct dh_vclock *v, const struct dh_publish *p);
/* The same, component by component, without the shortcut. */
bool dh_vclock_covers(const struct dh_vclock *v, const struct dh_publish *p);
/* Set for good once single clock entries have been raised: then knowing an epoch of a thread no longer
 * implies knowing what that thread knew then, so the shortcut is invalid. */
extern bool dh_vclock_patchy;
/* The length a clock needs to acquire p. */
u32 dh_publish_len(const struct dh_publish *p);

struct dh_snap *dh_snap_of(const struct dh_vclock *v);
/* The join of a publication and a clock, with the clock's owner at its epoch. NULL: no memory. */
struct dh_snap *dh_snap_join(const struct dh_publish *p, const struct dh_vclock *v);
struct dh_snap *dh_snap_ref(struct dh_snap *s);
void dh_snap_unref(struct dh_snap *s); /* NULL is legal */

/* If p is the only holder of its snapshot and there is room: make p a copy of the clock, with its owner at
 * `own`; or p joined with the clock. That is cheaper than a new one, and allocates nothing. False: not
 * possible, p is unchanged. */
bool dh_publish_rewrite(struct dh_publish *p, const struct dh_vclock *v, dh_slot_t slot, u32 own);
bool dh_publish_raise(struct dh_publish *p, const struct dh_vclock *v);

void dh_publish_clear(struct dh_publish *p);
void dh_publish_copy(struct dh_publish *dst, const struct dh_publish *src);

#endif
