/*
 * progress.h - are a program's threads still making progress? Judged from outside, by the kernel's counters.
 */
#ifndef DH_CHASE_PROGRESS_H
#define DH_CHASE_PROGRESS_H

#include <sys/types.h>

#include "base/base.h"

struct dh_chase_progress {
    pid_t pid;
    u32 tids[2];  /* which threads; both 0, or both ended: all of them */
    u64 switches; /* context switches so far, at the last check */
    u64 since_us; /* when one of them was last seen to move; 0: not checked yet */
};

/* Have all that are still alive slept without waking for this long? False if the program has ended. */
bool dh_chase_progress_is_stalled(struct dh_chase_progress *p, u64 now_us, u64 limit_us);

#endif
