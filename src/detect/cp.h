/*
 * cp.h - the causally-precedes order inside one window of the trace. See cp.c.
 */
#ifndef DH_DETECT_CP_H
#define DH_DETECT_CP_H

#include "detect/predict.h"

/* A critical section that is, at least in part, in the window. Numbers of these are + 1; 0: none. */
struct dh_cp_section {
    u32 section; /* of dh_predict */
    u32 before;  /* the previous one of its lock */
    u32 next;    /* the next one of its lock */
    u32 after;   /* the last one of its lock known to end before this one begins */
};

/* The last two sections of a lock, of two threads, that read or wrote an object. */
struct dh_cp_accessed {
    u64 key; /* lock and object, + 1; 0: the slot is free */
    u32 read[2], written[2];
};

struct dh_cp_window {
    const struct dh_predict *p;
    u32 from, to; /* events from .. to - 1 */
    struct dh_cp_section *sections;
    u32 *h, *c; /* a row per section, at its release or the end of the window: what happened, what is ordered
                   before */
    u32 n, cap, cap_h, cap_c;
    u32 *slot;                       /* of each section of the trace: its number here */
    u32 *oldest, *newest;            /* of each lock: its sections here */
    u32 *released;                   /* of each lock, during a pass: the section released last */
    struct dh_cp_accessed *accessed; /* open addressing */
    u32 n_accessed, cap_accessed;
    u32 *published;         /* of each object other than a mutex: what was published to it, a row here, + 1 */
    u32 *published_readers; /* of each lock: what its readers published, likewise */
    u32 *published_rows;
    u32 n_published, cap_published;
    u32 *thread_h, *thread_c; /* a row per thread */
};

int dh_cp_init(struct dh_cp_window *w, const struct dh_predict *p); /* 0 or -ENOMEM */
/* Closes the rules over the events from .. to - 1. False: no memory. */
bool dh_cp_close(struct dh_cp_window *w, u32 from, u32 to);
/* Iterates over the closed window again, event by event; dh_cp_ordered refers to the events passed so far. */
void dh_cp_begin(struct dh_cp_window *w);
void dh_cp_pass(struct dh_cp_window *w, u32 e);

/* Is event e ordered before the last passed event of thread t? */
DH_INLINE bool dh_cp_ordered(const struct dh_cp_window *w, u32 e, u32 t)
{
    return w->p->local[e] < w->thread_c[(size_t)t * w->p->threads + w->p->trace->events[e].thread];
}

#endif
