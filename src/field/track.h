/*
 * track.h - which threads are ordered after one access, by the synchronisation that the program does since
 * (LiteHB; Caper and RaceChaser, CC 2017, section 7.1), or by vector clocks from the start on (FullHB).
 *
 * An object is whatever threads synchronise through, named by an address. Whoever releases one must say so
 * before the real operation, and whoever acquires one after it: then nothing is missed although the two are
 * not one step, and although the following begins while other threads are in the middle of theirs. Where the
 * exact order of two operations cannot be known, the threads are taken to be ordered. So a race may be
 * missed, and is never invented.
 */
#ifndef DH_FIELD_TRACK_H
#define DH_FIELD_TRACK_H

#include "field/field.h"

/* Is anything followed now? */
DH_INLINE bool dh_field_tracks(void)
{
    const struct dh_control *c = __atomic_load_n(&dh_field_control, __ATOMIC_RELAXED);
    return c && __atomic_load_n(&c->tracking, __ATOMIC_RELAXED) != 0;
}

/* The object that all input and output goes through. */
extern const char dh_field_files;

/* The library has woken, and something may be followed later. The program has one thread. */
void dh_field_track_init(void);

/* Once these are called, something is or was followed; the caller has asked. */
void dh_field_track_release(const volatile void *object);
void dh_field_track_acquire(const volatile void *object);
/* A thread has ended, and this one has waited for it. */
void dh_field_track_join(pthread_t thread);
/* The bytes are about to become others: what was accessed there has no future. */
void dh_field_track_forget(const volatile void *p, size_t n);
/* What happens cannot be followed: the window shows nothing. The second, if this thread is ordered after the
 * access: only then it matters. */
void dh_field_track_lose(void);
void dh_field_track_give_up(void);

/* trap.c: this thread makes the access that is followed. */
void dh_field_track_begin(struct dh_control *c);
bool dh_field_track_is_ordered(struct dh_control *c);
/* It is about to access an atomic object; and has done so. */
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
