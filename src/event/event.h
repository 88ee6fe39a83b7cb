/*
 * event.h - the vocabulary of recorded executions: one event is 16 bytes, whatever the trace it came from.
 *
 * Threads, synchronisation objects and variables are dense numbers from 0, assigned in order of first
 * appearance by the producer of the events (a reader of traces, the engine in a running program); their names
 * are in separate tables (event/names.h). The three are separate name spaces: thread 0, lock 0 and variable 0
 * have nothing in common.
 *
 *   field    meaning
 *   op       enum dh_op
 *   mode     enum dh_mode of ACQUIRE, RELEASE; DH_READ or DH_WRITE of VOLATILE; enum dh_order of ATOMIC_*
 *            and FENCE; flags of event/access.h for READ and WRITE, including DH_ATOMIC
 *   size     bytes of an access (0: unknown); cells of a RANGE_* (a longer range is several events)
 *   thread   the thread that did it
 *   target   by op: the variable; the lock, condition, barrier, volatile or atomic; the other thread
 *   site     where in the program, an opaque number here; of RANGE_MOVE, RANGE_COPY: the source's first cell
 *
 * An atomic operation on memory is two events: ATOMIC_* on its synchronisation object, for the ordering it
 * creates, and READ or WRITE with DH_ATOMIC in `mode` on its variable, for the accesses it may race with. The
 * use of a lock or of another synchronisation object begins with such a READ, with DH_UNKEPT.
 */
#ifndef DH_EVENT_EVENT_H
#define DH_EVENT_EVENT_H

#include "base/base.h"
#include "event/access.h"
#include "event/atomic.h"

enum dh_op {
    DH_OP_SKIP,        /* nothing to analyse: removed by a filter; it still counts as an event */
    DH_OP_READ,        /* target: variable */
    DH_OP_WRITE,       /* target: variable */
    DH_OP_ACQUIRE,     /* target: lock */
    DH_OP_RELEASE,     /* target: lock */
    DH_OP_FORK,        /* target: the new thread */
    DH_OP_JOIN,        /* target: the thread that has ended */
    DH_OP_BEGIN,       /* first event of a thread; carries no order */
    DH_OP_END,         /* last event of a thread; carries no order */
    DH_OP_VOLATILE,    /* target: synchronisation object; mode: DH_READ acquires, DH_WRITE releases */
    DH_OP_ATOMIC_LOAD, /* target: synchronisation object; mode: order */
    DH_OP_ATOMIC_STORE,
    DH_OP_ATOMIC_RMW,
    DH_OP_FENCE,         /* mode: order; no target */
    DH_OP_BARRIER_ENTER, /* target: synchronisation object */
    DH_OP_BARRIER_LEAVE,
    DH_OP_NOTIFY,      /* target: condition */
    DH_OP_WAIT,        /* target: condition; recorded when the waiter has been woken */
    DH_OP_RANGE_NEW,   /* target: first variable; `size` cells become new memory */
    DH_OP_RANGE_FREE,  /* target: first variable; the memory is freed */
    DH_OP_RANGE_MOVE,  /* target: first variable of the destination; site: of the source */
    DH_OP_BRANCH,      /* control may depend on earlier reads of this thread */
    DH_OP_BLOCK_BEGIN, /* an atomic block, a transaction: skipped by race detectors */
    DH_OP_BLOCK_END,
    DH_OP_RANGE_COPY, /* like RANGE_MOVE, but the source keeps its history */
    DH_OP_COUNT
};

enum dh_mode {
    DH_EXCLUSIVE = 0,
    DH_SHARED = 1, /* the reader's side of a reader-writer lock */
    DH_LET_GO = 2, /* additional flag of RELEASE: no longer held, but it publishes nothing (a lock that the
                    * program took and its language runtime released) */
};

/* Flag of RANGE_NEW: not new memory, but moved or copied here from memory without history. */
#define DH_BLANK 1

struct dh_event {
    u8 op;
    u8 mode;
    u16 size;
    u32 thread;
    u32 target;
    u32 site;
};

_Static_assert(sizeof(struct dh_event) == 16, "traces held in memory are sized by this");

DH_INLINE bool dh_event_is_access(const struct dh_event *e)
{
    return e->op == DH_OP_READ || e->op == DH_OP_WRITE;
}

/* A read that is checked against what came before it, and not kept. */
DH_INLINE bool dh_event_is_check(const struct dh_event *e)
{
    return e->op == DH_OP_READ && (e->mode & DH_UNKEPT) != 0;
}

/* What `target` numbers. */
enum dh_space { DH_SPACE_NONE, DH_SPACE_VARIABLE, DH_SPACE_LOCK, DH_SPACE_THREAD };

DH_INLINE enum dh_space dh_event_space(u8 op)
{
    switch (op) {
    case DH_OP_READ:
    case DH_OP_WRITE:
    case DH_OP_RANGE_NEW:
    case DH_OP_RANGE_FREE:
    case DH_OP_RANGE_MOVE:
    case DH_OP_RANGE_COPY:
        return DH_SPACE_VARIABLE;
    case DH_OP_FORK:
    case DH_OP_JOIN:
        return DH_SPACE_THREAD;
    case DH_OP_ACQUIRE:
    case DH_OP_RELEASE:
    case DH_OP_VOLATILE:
    case DH_OP_ATOMIC_LOAD:
    case DH_OP_ATOMIC_STORE:
    case DH_OP_ATOMIC_RMW:
    case DH_OP_BARRIER_ENTER:
    case DH_OP_BARRIER_LEAVE:
    case DH_OP_NOTIFY:
    case DH_OP_WAIT:
        return DH_SPACE_LOCK;
    default:
        return DH_SPACE_NONE;
    }
}

#endif
