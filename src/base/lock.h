/*
 * lock.h - the runtime's own locks: spin briefly, then yield. Ranked: a thread takes locks in ascending rank
 * only, which is checked on every acquisition, so that a cycle is found the first time the path runs and not
 * the first time two threads deadlock.
 *
 * They are held for nanoseconds, never across a call that may block or into the host's code, and only
 * by threads that defer asynchronous signals; so spinning is right and a futex would not pay.
 */
#ifndef DH_BASE_LOCK_H
#define DH_BASE_LOCK_H

#include "base/base.h"

enum dh_rank {
    DH_RANK_COLLECT = 1, /* one collection of access ids at a time */
    DH_RANK_SYNC,        /* one shard of the synchronisation objects: which there are */
    DH_RANK_SYNC_OBJECT, /* one of them: what it publishes */
    DH_RANK_RANGE,       /* the list of range accesses under way */
    DH_RANK_TAP,         /* the laboratory's detector; the recorder's events of no thread */
    DH_RANK_REPORT,      /* the stream of race records */
    DH_RANK_THREADS,     /* the registry of threads */
    DH_RANK_HISTORY,     /* one shard of the interned histories */
    DH_RANK_IDS,         /* free blocks of access ids; numbers of histories */
    DH_RANK_REGION,      /* which shadow is mapped */
    DH_RANK_MODULES,     /* the table of loaded modules */
    DH_RANK_POOL,        /* the runtime's own memory */
};

struct dh_lock {
    u32 held;    /* 0 or 1 */
    u16 starved; /* a hint: someone has waited long; set and cleared by waiters */
    u16 rank;
#ifdef DH_CHECKED
    const void *owner; /* who holds it; written by its holder, atomic */
#endif
};

#define DH_LOCK_INIT(r) {.held = 0, .rank = (r)}

void dh_lock_take(struct dh_lock *l);
bool dh_lock_try(struct dh_lock *l);
void dh_lock_drop(struct dh_lock *l);

/* Does the calling kernel thread hold it? For DH_ASSERT: without DH_CHECKED it only tells whether any thread
 * does. */
bool dh_lock_is_mine(const struct dh_lock *l);

/*
 * Around fork: every lock of the runtime is taken, rank by rank, so that the child finds nothing
 * half-changed. Rank checks are off (several locks of one rank are taken). Parent and child both drop them
 * all.
 */
void dh_lock_fork_take(struct dh_lock *l);
void dh_lock_fork_drop(struct dh_lock *l);
typedef void dh_lock_fn(struct dh_lock *l);

#endif
