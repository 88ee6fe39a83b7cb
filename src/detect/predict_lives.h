/*
 * predict_lives.h - which object a variable is, while the trace is read for the first time (predict.c).
 *
 * Memory that is freed or made anew is another object from its next access on. Memory that was moved is the
 * same object in another place: a collector moves what the program takes to have stayed where it was, so a
 * move orders nothing and may stand anywhere in a reordering. Memory that was copied is an object with a past
 * that it shares: what was done before the copy belongs to an object that is accessed no more, the parent of
 * two that go on. Whoever looks for the past of an object goes up its parents (dh_predict.parent). A copy of
 * which only one end is ever used again is no copy but a move, and has no parent.
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
