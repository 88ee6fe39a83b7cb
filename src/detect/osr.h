/*
 * osr.h - does a given pair race in an optimistic reordering? See osr.c.
 */
#ifndef DH_DETECT_OSR_H
#define DH_DETECT_OSR_H

#include "detect/osr_search.h"
#include "detect/witness.h"

/* A held section that must come after a later one of its lock. */
struct dh_reversal {
    u32 head;   /* the acquisition of the held section */
    u32 tail;   /* the last release of its lock in the cut */
    u64 before; /* the reversals, as bits, whose tail must come after this head */
    u8 least;   /* level that head must have at least */
};

enum { DH_OSR_REVERSALS = 64 };

/* How far the quick search for reversals goes in all: steps per event of the trace, and for short traces.
 * Real traces need a fraction of one. */
enum { DH_OSR_STEPS = 64, DH_OSR_STEPS_SMALL = 1 << 20 };

/* What must come after an event in a cut: osr_reach.c. All zero but `p` and `limit` is a valid start. */
struct dh_osr_reach {
    const struct dh_predict *p;
    u64 steps, limit;
    u32 *joins;      /* by the thread that is joined, in order */
    u32 *first_join; /* of each thread, and one more */
    const u32 *cut;
    u32 to;       /* events beyond do not matter */
    u32 *from;    /* of each thread: the set begins here; where the cut ends: it has nothing of it */
    u32 *done;    /* of each thread: what is from here on was followed */
    u32 *waiting; /* threads with something to follow */
    u32 n_waiting;
};

/* The set of what comes after `head`, as far as `to`. False: beyond the limit, or no memory. */
bool dh_osr_reach(struct dh_osr_reach *r, const u32 *cut, u32 head, u32 to);

/* Is event i, one of the cut, in the set? */
DH_INLINE bool dh_osr_reaches(const struct dh_osr_reach *r, u32 i)
{
    return r->p->local[i] >= r->from[r->p->trace->events[i].thread];
}

/* Levels of what was executed last on an object; good if `stamp` is that of the scan. */
struct dh_osr_object {
    u32 stamp;
    u8 written, read;
};

/* The order of a reordering: events of a cut, by level, then as in the trace. */
struct dh_osr_order {
    const struct dh_predict *p;
    struct dh_osr_reach reach;
    struct dh_osr_search search;
    bool searched; /* the last order found is that of the search */
    struct dh_osr_object *objects;
    u32 stamp;
    u8 *threads; /* level each thread has reached */
    u8 *level;   /* of each event, if there are reversals */
    u32 from;    /* events before have level 0 */
    u8 top;
    struct dh_reversal reversals[DH_OSR_REVERSALS];
    u32 n; /* reversals; 0: the order of the trace will do */
};

enum dh_osr_closed {
    DH_OSR_CLOSED,
    DH_OSR_EARLIER_IN, /* the earlier access is in the cut: with all later ones too */
    DH_OSR_NO,
};

enum dh_osr_found {
    DH_OSR_FOUND,
    DH_OSR_NOT_NOW,
    DH_OSR_NEVER, /* nor with a later access of the same thread that holds the same locks */
};

int dh_osr_order_init(struct dh_osr_order *o, const struct dh_predict *p); /* 0 or -ENOMEM */
/* The smallest cut that contains `cut` and leaves at most one section of each lock open. */
enum dh_osr_closed dh_osr_close(const struct dh_predict *p, u32 *cut, u32 earlier, u32 now);
/* Can the closed cut be executed with the two accesses next? Fills n and reversals. */
enum dh_osr_found dh_osr_order_find(struct dh_osr_order *o, const u32 *cut, u32 earlier, u32 now);
/* After that: level, from and top. */
void dh_osr_order_levels(struct dh_osr_order *o, const u32 *cut);
/* All of it for one pair: the cut is written to `cut`, which has room for all threads. */
bool dh_osr_quick(struct dh_osr_order *o, u32 *cut, u32 earlier, u32 now);
/* Likewise, and the search where that fails. What is left open is counted (given_up of the detector). */
enum dh_osr_answer dh_osr_pair(struct dh_osr_order *o, u32 *cut, u32 earlier, u32 now);
/* The checked witness of a pair that was found, in w->sequence: its length, or 0. */
u64 dh_osr_witness(struct dh_osr_order *o, struct dh_witness *w, const u32 *cut, u32 earlier, u32 now);
/* Emits the race with its witness, which is due, unless the check finds fault with that. 0 or -ENOMEM. */
int dh_osr_report(struct dh_osr_order *o, struct dh_witness *w, const u32 *cut, u32 earlier, u32 now);

#endif
