/*
 * habit.h - how the two places of a race are usually locked and ordered in a trace, to explain the race: "8
 * of 9 accesses held this lock".
 *
 * Not a detector, though it is fed like one: it gets races that detectors found, and the whole trace a second
 * time. Racing accesses may appear in a recording in a different order than they were made, so the usual case
 * is counted over all of it.
 *
 *   an access        at one of the two places. Those that a thread makes there without acquiring or
 *                    publishing anything in between count as one.
 *   an observation   of the two places: an access, and the last one at the other place to the same memory, if
 *                    another thread made that and one of them writes. It is ordered if the earlier one
 *                    happens before it; by the object from which its thread last learned of the other thread.
 *                    Observations between one such stretch of a thread and one epoch of another count as one
 *                    if they come in a row. What orders one place before the other need not order them the
 *                    other way: the direction in which one object ordered more is told, and an observation
 *                    without an order counts for both.
 */
#ifndef DH_DETECT_HABIT_H
#define DH_DETECT_HABIT_H

#include "detect/host.h"

struct dh_habit {
    /* The race: the event that found it, the places of that access and of the earlier one, and the thread of
     * the earlier one. */
    u64 event;
    u32 sites[2];
    u32 earlier;

    /* The answer. */
    u32 accesses; /* 0: the race was not found again, or there are too many */
    u32 held;     /* accesses under the lock that most of them held; 0: there is none */
    u32 lock;
    bool lacks[2]; /* of the race's accesses, as in `sites`: was it made without that lock? false: unknown */
    u32 held_from; /* accesses under some lock that was acquired at the place where most took one */
    u32 taken_at;
    u32 ordered;      /* observations that were ordered by the object that ordered most; 0: there is none */
    u32 observations; /* in that direction, if there is one */
    u32 order;
    u32 before; /* accesses until the race was found */
    u32 newest; /* the thread that was created last before that; DH_UNKNOWN: none, or there are too many */

    /* Private. */
    const void *pair; /* NULL: it was not found yet */
    u64 locks[2];     /* what the accesses held */
};

enum { DH_HABIT_PAIRS = 1024 }; /* of places that are tracked; races at others get no answer */

/* The races, sorted by event, stay the caller's. 0 or -ENOMEM. */
int dh_habit_add(struct dh_host *h, struct dh_habit *races, u32 n);
/* Answers them, after the last event and while the host is there. */
void dh_habit_answer(struct dh_habit *races, u32 n);

#endif
