/*
 * witness.h - the proof that goes with a predicted race: a reordering of the trace, checked event by event.
 *
 * The reordering executes a cut (detect/predict.h), level by level and inside a level in the order of the
 * trace, then the two accesses. It mostly begins as the trace does: that beginning is known to be possible,
 * and only what follows it is written down. The check knows nothing of how it was found. It replays the
 * sequence and accepts it only if
 *   - every thread does its events in its own order, from its first one, after it was forked;
 *   - a join comes after all that the joined thread did before it in the trace;
 *   - a variable that was freed or made anew is accessed only after that, its former life only before;
 *   - a lock is taken only while nobody holds it, for reading only while nobody holds it for itself;
 *   - every event that reads a variable or another synchronisation object finds the same last writer as in
 *     the trace, be it one of an object of which it is a copy, and what is accessed before a copy is made
 * comes before writes to the copy; one that waits for signals finds the same ones;
 *   - the last two are conflicting accesses of two threads, not both atomic, either of which could come next:
 *     they alone may see another value.
 * What fails is not reported.
 *
 * A sequence may be as long as the trace, and a trace may have as many races as events, so sequences are not
 * made without end: replays come to DH_WITNESS_EACH times the length of the trace for all races,
 * DH_WITNESS_NEW times for the first race of each pair of sites. A race beyond that is reported without a
 * sequence (witness NULL).
 */
#ifndef DH_DETECT_WITNESS_H
#define DH_DETECT_WITNESS_H

#include "detect/predict.h"

enum { DH_WITNESS_EACH = 16, DH_WITNESS_NEW = 64, DH_WITNESS_SMALL = 1 << 20 };

/* Event `event` cannot come before the fork. */
struct dh_guard {
    u32 event, fork;
};

/* All zero but `p` is a valid start; freed with the detector. */
struct dh_witness {
    const struct dh_predict *p;
    struct dh_guard *guards; /* forks that events wait for, by event */
    u32 n_guards, cap_guards;
    bool lives;        /* some memory was made anew or freed */
    u32 *done, *owner; /* of the replay: per thread, per lock */
    u32 *readers;      /* likewise: how many hold the lock in shared mode */
    u32 *writer;       /* likewise, per object: who wrote it last; how often it was signalled */
    u32 *written;      /* and at which step; how many of its signals have happened, of the first ones */
    u32 *place; /* of each object: how many writes of the trace came before the event asked about last */
    u32 *stamp; /* of each object: the replay that changed it last; else it is as the beginning leaves it */
    u32 *
        copy_written; /* of each object: the last replay that wrote a copy of it; NULL: there are no copies */
    u32 round;        /* of replays */
    u32 *sequence;
    u32 start;  /* the sequence made last follows the events before this one, */
    u64 length; /* and has so many with them */
    u64 spent;  /* events replayed */
    u64 *pairs; /* of sites, + 1; open addressing */
    u32 n_pairs, cap_pairs;
};

/* Is a sequence to be made for this race? Asked once a race. */
bool dh_witness_due(struct dh_witness *w, u32 earlier, u32 now);
/* The first event that is not in the cut: up to there it is the trace. */
u32 dh_witness_beginning(const struct dh_predict *p, const u32 *cut);
/* The sequence that executes `cut`, then `earlier` and `now`, checked: its length, or 0. `level` of each
 * event from `from` on, up to `top`; before, and if it is NULL, all are 0. */
u64 dh_witness_make(struct dh_witness *w, const u32 *cut, const u8 *level, u32 from, u32 top, u32 earlier,
                    u32 now);
/* Room for a sequence that was found in another way; NULL: no memory. */
u32 *dh_witness_room(struct dh_witness *w);
/* n events are there, to follow those before `start`; adds the two accesses and checks it: its length, or 0.
 */
u64 dh_witness_found(struct dh_witness *w, u32 start, u64 n, u32 earlier, u32 now);
/* Emits the race, with the sequence made last or without. 0 or -ENOMEM. */
int dh_witness_emit(struct dh_witness *w, bool with, u32 earlier, u32 now);
/* Both, for a cut that is executed in the order of the trace, if a sequence is due; a race whose sequence is
 * refused is not emitted. 0 or -ENOMEM. */
int dh_witness_report(struct dh_witness *w, const u32 *cut, u32 earlier, u32 now);

/* Is the sequence, after the events before `start`, such a reordering? Also false without memory (d->failed).
 */
bool dh_witness_check(struct dh_witness *w, u32 start, const u32 *sequence, u64 n);

#endif
