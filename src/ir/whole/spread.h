/*
 * spread.h - the objects reachable from given ones: what they hold, what that holds, and so on.
 */
#ifndef DH_IR_WHOLE_SPREAD_H
#define DH_IR_WHOLE_SPREAD_H

#include "ir/whole/model.h"

struct dh_w_spread {
    struct dh_w *w;
    bool *reached; /* by object; of the caller, all false at first */
    u32 *stack;
    size_t n, cap;
    struct dh_w_table done; /* by points-to set: thousands of places may hold the same */
};

/* Where to begin; both may be called often. */
void dh_w_spread_object(struct dh_w_spread *s, u32 object);
void dh_w_spread_node(struct dh_w_spread *s, dh_pts_node node); /* DH_PTS_NONE: nothing */
/* Reaches the rest, and frees all but `reached`. */
void dh_w_spread_finish(struct dh_w_spread *s);

#endif
