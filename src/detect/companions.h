/*
 * companions.h - races between atomic and plain accesses, for detectors that do not know about atomics.
 *
 * Two atomic accesses never race, an atomic and a plain one do. So a variable that thread u accesses
 * atomically gets a second cell for u, a companion: it sees all plain accesses and the atomic ones of u,
 * while the variable's own cell sees the plain ones only. Atomic accesses of different threads never meet in
 * one cell, everything else does; what a detector reports from any of these cells is a race. A companion
 * starts as a copy of the variable's cell, which has seen the plain accesses so far.
 */
#ifndef DH_DETECT_COMPANIONS_H
#define DH_DETECT_COMPANIONS_H

#include "detect/table.h"

struct dh_detector;
struct dh_event;

/* All zero is a valid start. */
struct dh_companions {
    struct dh_table heads;  /* u32 by variable: first companion + 1; 0: none */
    struct dh_table links;  /* by companion: its thread, and the next one of the variable */
    struct dh_table states; /* by companion: a cell */
    u32 n;                  /* companions ever made */
    u32 spare;              /* first of those free for reuse, + 1 */
};

/* Can the detector have companions at all? */
bool dh_companions_possible(const struct dh_detector *d);
/* The companion of a variable for a thread, created on first use. NULL: no memory. */
void *dh_companions_get(struct dh_detector *d, u32 cell, u32 tid);
/* Show a plain access to all companions of its variable. */
void dh_companions_show(struct dh_detector *d, const struct dh_event *e, void *thread);
/* The variable's memory is freed or new. */
void dh_companions_drop(struct dh_detector *d, u32 cell);
/* `to`, which has no companions, takes over those of `from`, which is left with none. */
void dh_companions_move(struct dh_detector *d, u32 to, u32 from);
/* The variable `to`, which has none, gets copies of another's companions. */
void dh_companions_copy(struct dh_detector *d, u32 to, u32 from);
void dh_companions_done(struct dh_companions *c);

#endif
