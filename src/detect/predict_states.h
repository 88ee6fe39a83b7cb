/*
 * predict_states.h - what a search knows about two groups of accesses to one variable: a cut that only grows,
 * and which of the earlier accesses are ruled out for good.
 *
 * Kept for one variable at a time; the memory is reused for the next.
 */
#ifndef DH_DETECT_PREDICT_STATES_H
#define DH_DETECT_PREDICT_STATES_H

#include "detect/predict.h"

struct dh_state {
    u64 key;    /* the two groups */
    u32 failed; /* the last earlier access that is ruled out for good; DH_NONE: none yet */
    u32 known;  /* the first that later ones do not need; DH_NONE: not looked for */
    u32 slot;   /* in the index */
    u32 *cut;
};

/* All zero but p is a valid start; freed with the detector. */
struct dh_states {
    const struct dh_predict *p;
    struct dh_state *items;
    u32 n, cap;
    u32 made;   /* items that have a cut of their own, in use or not */
    u32 *index; /* items + 1; open addressing; 0: the slot is free */
    u32 cap_index;
};

/* The state of a key, new ones with an empty cut; valid until the next call. NULL: no memory. */
struct dh_state *dh_states_at(struct dh_states *s, u64 key);
void dh_states_clear(struct dh_states *s);

#endif
