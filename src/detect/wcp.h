/*
 * wcp.h - the critical sections of the wcp detector: what one of them published, and the queue of each lock.
 * See wcp.c.
 */
#ifndef DH_DETECT_WCP_H
#define DH_DETECT_WCP_H

#include "detect/vc.h"

/* One critical section; shared by the queue of its lock and the variables accessed in it. */
struct dh_wcp_section {
    struct dh_vc h; /* what happened before its release, including the release; empty while it is open, and
                     * when no longer needed */
    u32 thread;
    u32 acq, rel; /* clocks of the thread */
    u32 refs : 29;
    u32 last : 1;   /* the last one of its lock, whose clock the next holder needs */
    u32 listed : 1; /* one of the references is that of dh_wcp_closed */
    u32 known : 1;  /* all threads are ordered after it */
};
_Static_assert(sizeof(struct dh_wcp_section) == 32, "a power of two, as memory comes in");

/* The closed sections of a thread that may have a clock, oldest first. All zero: none. */
struct dh_wcp_closed {
    struct dh_wcp_section **items;
    u32 n, cap;
};

/* A section in a queue, with its frequently used data. */
struct dh_wcp_queued {
    struct dh_wcp_section *section;
    u32 thread;
    u32 acq, rel;
};

/* The closed sections of a lock that some thread may still have to be ordered after, oldest first. All zero:
 * empty. */
struct dh_wcp_queue {
    struct dh_wcp_queued *items;
    u32 n, cap;
    u32 tidy_at;            /* length at which to look for what nobody needs */
    u32 slowest;            /* the thread to check first: it was furthest behind when all were last checked */
    u64 base;               /* number of items[0] among all sections of the lock */
    struct dh_by_thread at; /* of u64: the first section the thread was not yet ordered after */
};

/* Longer queues are thinned out: what docs/design/prediction.md says. */
enum { DH_WCP_QUEUE_MAX = 1 << 16 };

struct dh_wcp_section *dh_wcp_section_new(struct dh_detector *d, u32 thread,
                                          u32 clock); /* one reference; NULL: no memory */
void dh_wcp_section_unref(struct dh_detector *d, struct dh_wcp_section *s);

void dh_wcp_closed_add(struct dh_detector *d, struct dh_wcp_closed *c, struct dh_wcp_section *s);
/* All threads are ordered after the thread's releases up to this clock: how many sections are left. */
u32 dh_wcp_closed_settle(struct dh_detector *d, struct dh_wcp_closed *c, u32 clock);

/* Rule (b) for thread tid, which releases the lock and has p ordered before it: the last section it is
 * ordered after and was not before. Call it again once p includes that section, until it returns NULL. */
const struct dh_wcp_queued *dh_wcp_queue_order(struct dh_detector *d, struct dh_wcp_queue *q, u32 tid,
                                               const struct dh_vc *p);
/* Prefetch for dh_wcp_queue_order. */
DH_INLINE void dh_wcp_queue_soon(const struct dh_wcp_queue *q, u32 tid)
{
    __builtin_prefetch(q->items);
    dh_by_thread_soon(&q->at, tid, sizeof(u64));
}

/* Takes over the reference. */
void dh_wcp_queue_push(struct dh_detector *d, struct dh_wcp_queue *q, struct dh_wcp_section *s);
/* Drops what no thread can need. `knows` gives p of a thread, NULL for one that has ended; `known`, of the
 * first n_known threads, the clock up to which all others are ordered after the thread's releases. */
typedef const struct dh_vc *dh_wcp_knows_fn(struct dh_detector *d, u32 tid);
void dh_wcp_queue_tidy(struct dh_detector *d, struct dh_wcp_queue *q, dh_wcp_knows_fn *knows,
                       const u32 *known, u32 n_known);

#endif
