/*
 * lockset.h - sets of locks, interned: a set is a number, equal numbers are equal sets, 0 is the empty set.
 *
 * Adding, removing and intersecting go through small caches, so that recurring operations cost one lookup.
 * The number of sets grows with the combinations of locks a program really holds, which are few.
 */
#ifndef DH_DETECT_LOCKSET_H
#define DH_DETECT_LOCKSET_H

#include "detect/detector.h"

struct dh_lockset {
    u32 *locks; /* rising */
    u32 n;
};

struct dh_lockset_memo {
    u32 a, b; /* b: a set or, to add and remove, a lock */
    u32 op;   /* 0: unused */
    u32 result;
};

enum { DH_LOCKSET_MEMO = 4096 };

struct dh_locksets {
    struct dh_detector *d;
    struct dh_lockset *sets; /* by number */
    u32 n, cap;
    u32 *index; /* open addressing: numbers; 0: empty */
    u32 index_cap;
    u32 *scratch; /* a set being built */
    u32 scratch_cap;
    struct dh_lockset_memo memo[DH_LOCKSET_MEMO];
};

void dh_locksets_init(struct dh_locksets *s, struct dh_detector *d);
/* All give 0 when there is no memory; the detector is then marked as failed. */
u32 dh_lockset_add(struct dh_locksets *s, u32 set, u32 lock);
u32 dh_lockset_remove(struct dh_locksets *s, u32 set, u32 lock);
u32 dh_lockset_meet(struct dh_locksets *s, u32 a, u32 b);

DH_INLINE bool dh_lockset_disjoint(struct dh_locksets *s, u32 a, u32 b)
{
    return a == 0 || b == 0 || (a != b && dh_lockset_meet(s, a, b) == 0);
}

DH_INLINE bool dh_lockset_within(struct dh_locksets *s, u32 a, u32 b)
{
    return a == 0 || a == b || (b != 0 && dh_lockset_meet(s, a, b) == a);
}

/* What a thread holds. A write counts only the locks held exclusively: many may hold the reader's side
 * (Eraser, section 2.4). */
struct dh_held {
    u32 any;
    u32 exclusive;
};

void dh_held_acquire(struct dh_locksets *s, struct dh_held *held, const struct dh_event *e);
/* For RELEASE, including one that creates no ordering. */
void dh_held_release(struct dh_locksets *s, struct dh_held *held, const struct dh_event *e);

DH_INLINE u32 dh_held_for(const struct dh_held *held, const struct dh_event *e)
{
    return e->op == DH_OP_WRITE ? held->exclusive : held->any;
}

#endif
