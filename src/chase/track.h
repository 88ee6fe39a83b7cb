/*
 * track.h - windows in which the program's synchronisation is tracked from one access on: the command's side
 * (src/field/track.h is the other).
 */
#ifndef DH_CHASE_TRACK_H
#define DH_CHASE_TRACK_H

#include "chase/moment.h"

enum dh_chase_analysis {
    DH_CHASE_COLLISION, /* two threads are caught at the same time */
    DH_CHASE_LITEHB,    /* ordering is tracked from a sampled access on */
    DH_CHASE_FULLHB,    /* ordering is tracked all the time */
};

struct dh_chase_track {
    enum dh_chase_analysis analysis;
    u64 window_us;
    u64 until;                     /* by CLOCK_MONOTONIC: when the window ends */
    struct dh_chase_moment *first; /* the thread that made the access; NULL: there is no window */
};

/* Before the program begins. */
void dh_chase_track_start(const struct dh_chase_track *k, struct dh_chase_target *t);
/* The sites that are armed in every state. */
u8 dh_chase_track_standing(const struct dh_chase_track *k);
/* A thread waits at the first side; it is released when everything to be tracked is armed. */
void dh_chase_track_begin(struct dh_chase_track *k, struct dh_chase_target *t, u64 now);
/* Is the time up, can no thread race any more, or is it no longer known which can? */
bool dh_chase_track_is_over(const struct dh_chase_track *k, const struct dh_chase_target *t, u64 now);
/* The first thread's part, now the caller's; NULL: there is no window. */
struct dh_chase_moment *dh_chase_track_take(struct dh_chase_track *k);
void dh_chase_track_end(struct dh_chase_track *k, struct dh_chase_target *t);
/* NULL, or why the program cannot be tracked. */
const char *dh_chase_track_trouble(const struct dh_chase_target *t);

#endif
