/*
 * busy.h - what the program's other threads are doing, for a process that is about to end.
 */
#ifndef DH_RUNTIME_THREADS_BUSY_H
#define DH_RUNTIME_THREADS_BUSY_H

#include "base/base.h"

enum dh_busy {
    DH_BUSY_NONE,    /* there are no others, or all have ended */
    DH_BUSY_BLOCKED, /* each waits for something: a lock, a descriptor, the time */
    DH_BUSY_RUNNING  /* one of them runs, or could */
};

/* Call it outside the runtime. The threads are checked one after the other: one that was found blocked may
 * have been woken by the time the last one is checked. */
enum dh_busy dh_busy_others(void);

#endif
