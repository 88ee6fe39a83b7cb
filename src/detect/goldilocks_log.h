/*
 * goldilocks_log.h - the log of hand-overs and the sets that are read off it (Goldilocks, PLDI 2007, section
 * 5).
 *
 * Elements of sets are threads and locks, numbered in order of appearance; a set is a row of bits. A step
 * (from, to) of the log says: where `from` is in a set, `to` is too from here on. A set holds its elements as
 * of place `at` in the log; threads are never taken away. The log is bounded: when it is full, all sets are
 * brought forward at once and it starts anew, so memory depends on the number of variables, threads and locks
 * only.
 */
#ifndef DH_DETECT_GOLDILOCKS_LOG_H
#define DH_DETECT_GOLDILOCKS_LOG_H

#include "detect/detector.h"

/* What an element stands for; a lock is two, the second for its readers, and a thread has two for its fences.
 */
enum { DH_GOLD_THREAD, DH_GOLD_LOCK, DH_GOLD_READERS, DH_GOLD_FENCE };

/* Given to nobody, an element is taken out of all sets. */
#define DH_GOLD_NOBODY UINT32_MAX

struct dh_gold_set {
    u32 thread; /* who accessed, + 1; 0: there was no access */
    u32 self;   /* the same as an element */
    u32 site;   /* where */
    u32 locks;  /* held exclusively then: an interned set, the caller's */
    u32 at;     /* place in the log */
    u32 words;  /* of bits that count; 0: the set is {self} */
    u64 known;  /* threads below 64 that were found to be in it, by their own numbers: the caller's */
    u64 *bits;  /* NULL: there was no need for them yet */
};

struct dh_gold_step {
    u32 from;
    u32 to;
};

struct dh_gold_log {
    struct dh_detector *d;
    struct dh_gold_step *steps;
    u32 n, cap;
    u32 *numbers; /* by id * 4 + kind: element + 1; 0: none yet */
    u32 n_numbers;
    u32 n_elements;
    /* Set by dh_gold_log_init; a test makes them small. */
    u32 limit;        /* steps */
    size_t row_bytes; /* of one backward pass over the log; elements that need more are done in segments */
};

typedef void dh_gold_set_fn(void *ctx, struct dh_gold_set *s);
typedef void dh_gold_each_fn(struct dh_detector *d, dh_gold_set_fn *fn,
                             void *ctx); /* calls fn for all sets */

void dh_gold_log_init(struct dh_gold_log *log, struct dh_detector *d);
/* The element for a thread or lock; ids end at 2^30. Without memory some other element, and the detector is
 * marked as failed. */
u32 dh_gold_element(struct dh_gold_log *log, u32 id, u32 kind);
/* One step; when the log is full, all sets are brought forward first. */
void dh_gold_give(struct dh_gold_log *log, u32 from, u32 to, dh_gold_each_fn *each);

/* s := {self}, from now on; `thread`, `site` and `locks` are the caller's to set. */
void dh_gold_start(struct dh_gold_log *log, struct dh_gold_set *s, u32 self);
/* Bring the set forward until `wanted` is in it, or to the end of the log; is it? */
bool dh_gold_advance(struct dh_gold_log *log, struct dh_gold_set *s, u32 wanted);
void dh_gold_drop(struct dh_gold_log *log, struct dh_gold_set *s);
/* A set that was copied byte by byte gets bits of its own. */
void dh_gold_own(struct dh_gold_log *log, struct dh_gold_set *s);

DH_INLINE bool dh_gold_has(const struct dh_gold_set *s, u32 element)
{
    if (element / 64 >= s->words)
        return element == s->self;
    return s->bits[element / 64] >> (element % 64) & 1;
}

#endif
