/*
 * track.h - which threads are ordered after one access, by the synchronisation that the program performs from
 * then on (LiteHB; Caper and RaceChaser, CC 2017, section 7.1), or by vector clocks from the start (FullHB).
 *
 * An object is anything that threads synchronise through, identified by an address. A release must be
 * reported before the real operation, and an acquire after it: then nothing is missed although report and
 * operation are not atomic, and although tracking may begin while other threads are in the middle of an
 * operation. If the exact order of two operations cannot be known, the threads are taken to be ordered. So a
 * race may be missed, but none is ever invented.
 */
#ifndef DH_FIELD_TRACK_H
#define DH_FIELD_TRACK_H

#include "field/field.h"

/* Is anything being tracked? */
DH_INLINE bool dh_field_tracks(void)
{
    const struct dh_control *c = __atomic_load_n(&dh_field_control, __ATOMIC_RELAXED);
    return c && __atomic_load_n(&c->tracking, __ATOMIC_RELAXED) != 0;
}

/* The object that all input and output goes through. */
extern const char dh_field_files;

/* The library has been activated, and tracking may begin later. The program has one thread. */
void dh_field_track_init(void);

/* The caller has checked dh_field_tracks(): something is or was tracked when these are called. */
void dh_field_track_release(const volatile void *object);
void dh_field_track_acquire(const volatile void *object);
/* A thread has ended, and this one has waited for it. */
void dh_field_track_join(pthread_t thread);
/* The memory is about to be reused: earlier accesses to it no longer matter. */
void dh_field_track_forget(const volatile void *p, size_t n);
/* Something happened that cannot be tracked: the window proves nothing. The second one does so only if this
 * thread is ordered after the access, when it matters. */
void dh_field_track_lose(void);
void dh_field_track_give_up(void);

/* trap.c: this thread performs the access that is tracked. */
void dh_field_track_begin(struct dh_control *c);
bool dh_field_track_is_ordered(struct dh_control *c);
/* It is about to access an atomic object; it has done so. */
void dh_field_track_atomic(u8 order, u64 address);
void dh_field_track_made(void);

/* clocks.c: the same with vector clocks. False: there is no room. */
bool dh_field_clocks_init(void);
bool dh_field_clocks_release(u64 object);
bool dh_field_clocks_acquire(u64 object);
bool dh_field_clocks_join(u64 thread);
bool dh_field_clocks_begin(void);
bool dh_field_clocks_is_ordered(void);

#endif
