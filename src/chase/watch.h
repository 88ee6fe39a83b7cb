/*
 * watch.h - hardware watchpoints on the bytes that a waiting thread is about to access, in all other threads
 * of the program: a thread that accesses them, in whatever code, traps right after its access.
 *
 * The kernel sets them for us in another process (perf_event_open with sigtrap), as it does for a debugger.
 */
#ifndef DH_CHASE_WATCH_H
#define DH_CHASE_WATCH_H

#include "chase/target.h"

enum { DH_CHASE_WATCH_BYTES = 32 }; /* four watchpoints of eight bytes, which is what the processor has */

struct dh_chase_watch {
    int *fds; /* a heap array */
    size_t n, cap;
    u64 address; /* the part of the span that is watched */
    u8 size;
    u8 before[DH_CHASE_WATCH_BYTES]; /* the contents when the wait began */
};

/* 0, or a negative errno: the kernel refuses watchpoints. */
int dh_chase_watch_probe(void);
/* Watches the first span that the waiting thread is about to access; if it reads, only writes matter. Without
 * `hardware`, only the present contents are remembered. The watchpoints trap at most `hits` times, but once
 * in every thread, and not in threads that begin later; if it is 0, any number of times, and in these, too.
 * 0, or a negative errno: the kernel refuses. */
int dh_chase_watch_set(struct dh_chase_watch *w, const struct dh_chase_target *t, bool hardware, u32 hits);
void dh_chase_watch_clear(struct dh_chase_watch *w);
/* Have the bytes changed since? */
bool dh_chase_watch_changed(const struct dh_chase_watch *w, const struct dh_chase_target *t);
void dh_chase_watch_done(struct dh_chase_watch *w);

#endif
