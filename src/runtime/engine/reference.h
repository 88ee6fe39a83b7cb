/*
 * reference.h - the rules of FastTrack (figure 3 of the paper, as step.c departs from it) as a judge: what
 * may a word look like after an access, given what it looked like before?
 *
 * Stated for one byte and one access at a time, using only the vector clock and the id records: no memo
 * table, no mask arithmetic over whole words, no cell encodings. It is slow and meant to be read, and shares
 * nothing with the code that it judges. Checked builds only (recheck.h).
 *
 * On the bytes of an access, if its thread has not made such an access in this epoch yet:
 *
 *   races      a read races with writes of the write plane, a write with those and with reads of all planes;
 *              except for what happened before, and for two atomic accesses. Each must be reported.
 *   presence   the access is in its own plane.
 *   loss       a plain write may drop what its own thread's planes held, and what other classes have read
 *              if that happened before, or if the write has raced; a plain read what happened before in its
 *              own plane; an atomic access the atomic accesses that happened before in its own plane.
 *
 * On all other bytes nothing is added, and nothing is lost except entries of the thread's read plane for
 * which a write in the write plane stands.
 *
 * An access may be represented by another one of the same thread and epoch: the rules do not care which of
 * them a report shows.
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
    bool recorded;           /* earlier, and now checked again (pending.h): only its races are judged */
    const dh_id_t *reported; /* the earlier accesses of the races that were reported */
    u32 n_reported;
};

enum dh_reference_verdict {
    DH_REFERENCE_RIGHT,
    DH_REFERENCE_UNREPORTED, /* a race with `id` was not reported */
    DH_REFERENCE_ABSENT,     /* the access is not in its plane */
    DH_REFERENCE_EXTRA,      /* it is on bytes that it did not touch */
    DH_REFERENCE_LOST,       /* `id` must be kept, but is gone */
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

/* Can another thread have caused the fault? Yes if it has put an access there since. An access that was there
 * before and is not ordered with a may have been put there again, as engine.c does when a range comes in
 * between: then a loss proves nothing, but every race must be reported. */
bool dh_reference_is_disturbed(const struct dh_reference_access *a, const struct dh_reference_fault *fault,
                               const struct dh_reference_word *before, const struct dh_reference_word *after);

/* Is an access like a, of the same epoch, in a's own plane, on all bytes of a? */
bool dh_reference_holds(const struct dh_reference_access *a, const struct dh_reference_word *w);

#endif
