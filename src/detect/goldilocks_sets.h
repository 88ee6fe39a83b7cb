/*
 * goldilocks_sets.h - the sets of threads and locks by which goldilocks.c transfers ownership of accesses
 * (Goldilocks, PLDI 2007, section 4), all of them at once.
 *
 * Elements of sets are threads and locks, numbered in order of appearance. A step (from, to) means: every set
 * that contains `from` also contains `to` from here on. The paper's sets belong to variables, and a walk over
 * the steps updates one lazily. But the sets of one thread's accesses contain each other: an element in the
 * set of a later access is in those of all earlier ones, and until the thread's next step they are the same.
 * So an element has one number for each thread, the last stretch of that thread (from one such step to the
 * next) in whose sets it is. A step is then a maximum of two vectors, for however many variables, and whether
 * an element is in a set is one comparison.
 */
#ifndef DH_DETECT_GOLDILOCKS_SETS_H
#define DH_DETECT_GOLDILOCKS_SETS_H

#include "detect/vc.h"

/* What an element stands for; a lock is two, the second for its readers, and a thread has two for its fences.
 */
enum { DH_GOLD_THREAD, DH_GOLD_LOCK, DH_GOLD_READERS, DH_GOLD_FENCE };

/* As `to`: the element is removed from all sets. */
#define DH_GOLD_NOBODY UINT32_MAX

/* The set of an access. All zero: there was no access. */
struct dh_gold_set {
    u32 thread;  /* who accessed, + 1 */
    u32 stretch; /* of that thread */
    u32 site;    /* where: the caller's */
};

struct dh_gold_element {
    struct dh_vc last; /* by thread: the last stretch in whose sets it is */
    u32 thread;        /* + 1, if it is one */
    u32 stretch;       /* of that thread, the current one */
};

/* All zero but d is a valid start; freed with the detector. */
struct dh_gold_sets {
    struct dh_detector *d;
    struct dh_gold_element *elements;
    u32 n, cap;
    u32 *numbers; /* by id * 4 + kind: element + 1; 0: none yet */
    u32 n_numbers;
};

/* The element for a thread or lock; ids end at 2^30. Without memory some other element, and the detector is
 * marked as failed. */
u32 dh_gold_element(struct dh_gold_sets *sets, u32 id, u32 kind);
/* One step. */
void dh_gold_give(struct dh_gold_sets *sets, u32 from, u32 to);

/* The set of an access by this thread, made now. */
DH_INLINE struct dh_gold_set dh_gold_start(const struct dh_gold_sets *sets, u32 self, u32 site)
{
    const struct dh_gold_element *x = &sets->elements[self];
    DH_ASSERT(x->thread);
    return (struct dh_gold_set){.thread = x->thread, .stretch = x->stretch, .site = site};
}

/* Is the element in the set? */
DH_INLINE bool dh_gold_has(const struct dh_gold_sets *sets, const struct dh_gold_set *s, u32 element)
{
    DH_ASSERT(s->thread);
    return s->stretch <= dh_vc_get(&sets->elements[element].last, s->thread - 1);
}

#endif
