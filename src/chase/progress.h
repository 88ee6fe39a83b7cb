/*
 * progress.h - do threads of a program still move? Seen from outside, by what the kernel counts.
 */
#ifndef DH_CHASE_PROGRESS_H
#define DH_CHASE_PROGRESS_H

#include <sys/types.h>

#include "base/base.h"

struct dh_chase_progress {
    pid_t pid;
    u32 tids[2];  /* which threads; 0 and 0, or when these have ended: all */
    u64 switches; /* how often they have been switched to or from, when last looked at */
    u64 since_us; /* when one of them was last seen to move; 0: nobody has looked */
};

/* Have those that still live slept, without waking once, for so long? False if the program has ended. */
bool dh_chase_progress_is_stalled(struct dh_chase_progress *p, u64 now_us, u64 limit_us);

#endif
