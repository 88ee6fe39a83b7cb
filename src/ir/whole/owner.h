/*
 * owner.h - objects that are handed from thread to thread: for the assumption `owned`.
 *
 * A block that goes through a queue is accessed by one thread at a time: the one that took it out of the
 * queue, under the queue's lock. No lock is held at these accesses, and none is needed. Three things are
 * looked for:
 *
 *  - TAKING (take.c): a pointer is read from a place in shared memory under a lock, and the same critical
 * section moves on from that place: it writes the index or the pointer by which the place was found, or puts
 * into the place what follows. Objects that are taken somewhere, and what they point to, may be HANDED OVER.
 *  - BORROWING (owner.c): a pointer to such an object that was read from shared memory without taking it, or
 * given to a new thread. Such code does not own the object.
 *  - KEEPING (kept.c): a thread goes on to use an object after it has put it into shared memory, beyond the
 *    critical section in which it did so.
 *
 * A pair of accesses to an object that is handed over, neither of them borrowing nor keeping, is dropped
 * under the assumption, if all places in shared memory that hold the object are themselves free of pairs.
 */
#ifndef DH_IR_WHOLE_OWNER_H
#define DH_IR_WHOLE_OWNER_H

#include "ir/whole/race.h"

struct dh_w_owner {
    struct dh_w_races *r;
    bool any;                  /* something is taken somewhere */
    bool *handed;              /* by object */
    bool *mixed;               /* by object that one thread has for itself: it holds borrowed pointers */
    u8 **borrows;              /* by instance: by local */
    struct dh_w_table kept;    /* by instance and op: accesses after the object was handed over */
    struct dh_w_table taking;  /* by instance and op: 1 if it takes */
    struct dh_w_table lending; /* by points-to set: 1 if shared memory in it holds handed objects and is not
                                  handed itself */
    bool any_mixed;
    struct dh_w_table holding; /* by points-to set: 1 if handed objects are in it */
    struct caller {
        u32 inst, op;
    } *callers;
    u32 *first_caller; /* by instance: its callers in the list above; one more at the end */
    /* What was found, for dh_w_owner_settle: */
    struct dh_w_raced {
        dh_pts_location location;
        u32 length;
        u32 object;
        bool soft; /* only by pairs that the assumption may drop */
    } *raced;
    size_t n_raced, cap_raced;
    struct dh_w_table raced_of;
    struct dh_w_way {
        u32 object, found;
    } *ways;
    size_t n_ways, cap_ways;
};

/* Whether others than one thread may reach it. */
DH_INLINE bool dh_w_owner_shared(const struct dh_w *w, u32 object)
{
    const struct dh_w_object *o = &w->objects[object];
    return o->kind == DH_W_GLOBAL || o->kind == DH_W_OUTSIDE || o->escapes;
}
/* take.c */
bool dh_w_takes(struct dh_w_races *r, u32 inst, u32 op);
/* owner.c: may the value point to something that is handed over? */
bool dh_w_owner_holds(struct dh_w_owner *o, dh_pts_node node);
/* kept.c */
void dh_w_kept_find(struct dh_w_owner *o);

#endif
