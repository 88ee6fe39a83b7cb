/*
 * predict_lives.h - maps variables to objects, while the trace is read for the first time (predict.c).
 *
 * Memory that is freed or newly allocated is a different object from its next access on. Memory that was
 * moved is the same object in another place: a garbage collector moves objects without the program noticing,
 * so a move creates no ordering and may be anywhere in a reordering. Memory that was copied shares its
 * history: what was done before the copy belongs to an object that is no longer accessed, the parent of the
 * two that continue. The history of an object includes that of its parents (dh_predict.parent). If only one
 * side of a copy is ever used again, it is a move, without a parent.
 */
#ifndef DH_DETECT_PREDICT_LIVES_H
#define DH_DETECT_PREDICT_LIVES_H

#include "detect/predict.h"

struct dh_lives {
    u32 *object;  /* of each variable; of one that shares: the object it will go on from */
    u32 *pending; /* of each variable: the event that made it anew, + 1; SHARES, UNBORN; 0: it is `object` */
    u32 *sharing; /* of each object: how many variables and objects go on from it */
    u32 next;     /* object to be made */
};

/* At most this many objects will be made: one for each first access to a variable after an event that changes
 * what it is. `pending` is left as it was found, all zero. */
u32 dh_lives_count(const struct dh_trace *trace, u32 *pending);
/* When the number of objects is known. False: no memory. */
bool dh_lives_init(struct dh_lives *l, struct dh_predict *p);
void dh_lives_done(struct dh_lives *l, struct dh_predict *p);
/* Event i makes, frees, moves or copies variables. */
void dh_lives_range(struct dh_lives *l, struct dh_predict *p, u32 i);
/* The object that an access to the variable is to. *ret_new: it has just been made. */
u32 dh_lives_access(struct dh_lives *l, struct dh_predict *p, u32 cell, bool *ret_new);

#endif
