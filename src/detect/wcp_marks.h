/*
 * wcp_marks.h - the last access of each thread to a variable, for the wcp detector: its clock, and where it
 * was.
 *
 * Sorted by thread, with room for the threads that made one: a variable that many threads share has many
 * marks, and a crowd has many such variables. What each access needs (threads and clocks) is adjacent; what
 * only a report needs follows.
 */
#ifndef DH_DETECT_WCP_MARKS_H
#define DH_DETECT_WCP_MARKS_H

#include "detect/vc.h"

/* 12 bytes: an event's number is in two halves, so that it needs no alignment. */
struct dh_wcp_place {
    u32 event_low, event_high;
    u32 site;
};

/* All zero: no access. */
struct dh_wcp_marks {
    u32 *items; /* `cap` threads, as many clocks, as many places */
    u32 n, cap;
    struct dh_known all; /* as in vc.h, of what is weakly ordered */
};

/* One mark, for a report. */
struct dh_wcp_mark {
    u32 thread;
    u32 clock;
    u32 site;
    u64 event;
};

/* Event d->event, by this thread. Without memory the detector has failed and nothing has changed. */
void dh_wcp_marks_set(struct dh_detector *d, struct dh_wcp_marks *m, u32 tid, u32 clock, u32 site);
/* The first one from number `from` on that is outside the clock; m->n: none. */
u32 dh_wcp_marks_outside(const struct dh_wcp_marks *m, u32 from, const struct dh_vc *c);
struct dh_wcp_mark dh_wcp_marks_at(const struct dh_wcp_marks *m, u32 i); /* i < m->n */
/* `to`, all zero, becomes a deep copy of `from`. */
void dh_wcp_marks_copy(struct dh_detector *d, struct dh_wcp_marks *to, const struct dh_wcp_marks *from);
void dh_wcp_marks_drop(struct dh_detector *d, struct dh_wcp_marks *m);

#endif
