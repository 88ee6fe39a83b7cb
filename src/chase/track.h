/*
 * track.h - windows in which the program's synchronisation is followed from one access on, seen from the
 * command (src/field/track.h has the other side).
 */
#ifndef DH_CHASE_TRACK_H
#define DH_CHASE_TRACK_H

#include "chase/moment.h"

enum dh_chase_analysis {
    DH_CHASE_COLLISION, /* two threads are caught at once */
    DH_CHASE_LITEHB,    /* order is followed from a sampled access on */
    DH_CHASE_FULLHB,    /* order is followed all the time */
};

struct dh_chase_track {
    enum dh_chase_analysis analysis;
    u64 window_us;
    u64 until;                     /* by CLOCK_MONOTONIC: when the window ends */
    struct dh_chase_moment *first; /* the thread that made the access; NULL: there is no window */
};

/* Before the program begins. */
void dh_chase_track_start(const struct dh_chase_track *k, struct dh_chase_target *t);
/* Which sites are armed however things stand. */
u8 dh_chase_track_standing(const struct dh_chase_track *k);
/* A thread waits at the first side, and is let go when all is armed that is to be followed. */
void dh_chase_track_begin(struct dh_chase_track *k, struct dh_chase_target *t, u64 now);
/* Has the time passed, can nobody race any more, or is it not known who can? */
bool dh_chase_track_is_over(const struct dh_chase_track *k, const struct dh_chase_target *t, u64 now);
/* The first thread's part, for the callee; NULL: there is no window. */
struct dh_chase_moment *dh_chase_track_take(struct dh_chase_track *k);
void dh_chase_track_end(struct dh_chase_track *k, struct dh_chase_target *t);
/* NULL, or why the program cannot be followed. */
const char *dh_chase_track_trouble(const struct dh_chase_target *t);

#endif
