/*
 * osr.h - does a given pair race in an optimistic reordering? See osr.c.
 */
#ifndef DH_DETECT_OSR_H
#define DH_DETECT_OSR_H

#include "detect/witness.h"

/* A held section that must come after a later one of its lock. */
struct dh_reversal {
    u32 head; /* the acquisition of the held section */
    u32 tail; /* the last release of its lock in the cut */
    u8 least; /* level that head must have at least */
    u8 head_level, tail_level;
};

enum { DH_OSR_REVERSALS = 64 };

/* Levels of what was executed last on an object; good if `stamp` is that of the scan. */
struct dh_osr_object {
    u32 stamp;
    u8 written, read;
};

/* The order of a reordering: events of a cut, by level, then as in the trace. */
struct dh_osr_order {
    const struct dh_predict *p;
    struct dh_osr_object *objects;
    u32 stamp;
    u8 *threads; /* level each thread has reached */
    u8 *level;   /* of each event, if there are reversals */
    u8 top;
    struct dh_reversal reversals[DH_OSR_REVERSALS];
    u32 n; /* reversals; 0: the order of the trace will do */
};

enum dh_osr_closed {
    DH_OSR_CLOSED,
    DH_OSR_EARLIER_IN, /* the earlier access is in the cut: with all later ones too */
    DH_OSR_NO,
};

int dh_osr_order_init(struct dh_osr_order *o, const struct dh_predict *p); /* 0 or -ENOMEM */
/* The smallest cut that contains `cut` and leaves at most one section of each lock open. */
enum dh_osr_closed dh_osr_close(const struct dh_predict *p, u32 *cut, u32 earlier, u32 now);
/* Can the closed cut be executed with the two accesses next? Fills n, level and top. */
bool dh_osr_order_find(struct dh_osr_order *o, const u32 *cut, u32 earlier, u32 now);
/* All of it for one pair: the cut is written to `cut`, which has room for all threads. */
bool dh_osr_pair(struct dh_osr_order *o, u32 *cut, u32 earlier, u32 now);

#endif
