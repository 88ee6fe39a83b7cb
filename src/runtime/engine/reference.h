/*
 * reference.h - the rules of FastTrack (figure 3 of the paper, as step.c departs from it) as a judge: what
 * may a word look like after an access, given what it looked like before?
 *
 * Stated for one byte and one access at a time, from the vector clock and the records of ids alone: no memo
 * table, no mask arithmetic over whole words, no form of cell. It is slow and meant to be read; nothing of it
 * is shared with the code that it judges. Only checked builds have it (recheck.h).
 *
 * On the bytes of an access, where its thread has made no such access in this epoch yet:
 *
 *   races      a read races with writes of the write plane, a write with those and with reads of all planes;
 *              but for what has happened before, and for two atomic accesses. Each has to be told.
 *   presence   the access is in its own plane.
 *   loss       a plain write may drop what its own thread's planes held, and what other classes have read if
 * it has happened before, or if the write has raced; a plain read what happened before in its own plane; an
 * atomic access the atomic accesses that happened before in its own plane.
 *
 * On all other bytes nothing is added, and nothing is lost but what the thread's read plane holds beside a
 * write of the write plane that stands for it.
 *
 * An access may be described by another one of the same thread and epoch: which of them a report shows is not
 * the rules' concern.
 */
#ifndef DH_RUNTIME_ENGINE_REFERENCE_H
#define DH_RUNTIME_ENGINE_REFERENCE_H

#include "clock/vclock.h"
#include "runtime/shadow/ids.h"

/* One access to some bytes of the word, in one plane (of all planes: dh_plane_nth). */
struct dh_reference_entry {
    dh_id_t id;
    u32 plane;
    dh_mask_t mask;
};

/* What all planes hold of a word. */
struct dh_reference_word {
    const struct dh_reference_entry *e;
    u32 n;
};

/* The access that is judged. */
struct dh_reference_access {
    const struct dh_vclock *vc; /* what its thread knows, its own epoch included */
    dh_slot_t slot;
    u32 class; /* whose read plane */
    u32 kind;
    dh_mask_t mask;
    bool recorded;       /* before, and now only looked at again (pending.h): its races are judged, no more */
    const dh_id_t *told; /* the earlier accesses of the races that were told */
    u32 told_n;
};

enum dh_reference_verdict {
    DH_REFERENCE_RIGHT,
    DH_REFERENCE_UNTOLD, /* a race with `id` was not told */
    DH_REFERENCE_ABSENT, /* the access is not in its plane */
    DH_REFERENCE_EXTRA,  /* it is where it was not made */
    DH_REFERENCE_LOST,   /* `id` has to stay, and is gone */
};

/* Where it is wrong. */
struct dh_reference_fault {
    enum dh_reference_verdict verdict;
    u32 plane, byte;
    dh_id_t id;
};

struct dh_reference_fault dh_reference_judge(const struct dh_reference_access *a,
                                             const struct dh_reference_word *before,
                                             const struct dh_reference_word *after);

/* Can the fault be another thread's doing? It is if that has put an access there since. One that was there
 * before and is not ordered with a may have been put there again, as engine.c does when a range comes in
 * between: then what is gone proves nothing, but every race has to be told. */
bool dh_reference_is_disturbed(const struct dh_reference_access *a, const struct dh_reference_fault *fault,
                               const struct dh_reference_word *before, const struct dh_reference_word *after);

/* Is an access like a, of the same epoch, in a's own plane, on all bytes of a? */
bool dh_reference_holds(const struct dh_reference_access *a, const struct dh_reference_word *w);

#endif
