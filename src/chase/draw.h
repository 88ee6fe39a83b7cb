/*
 * draw.h - which accesses are sampled when nobody has named any: a small set of instructions, drawn at random
 * from all of the program, as DataCollider does (OSDI 2010, section 3.2).
 *
 * Every instruction is as likely as any other, however often it is executed: a breakpoint is there for one
 * hit. When all of the set were hit, or the set is old, another is drawn.
 */
#ifndef DH_CHASE_DRAW_H
#define DH_CHASE_DRAW_H

#include "chase/target.h"

enum { DH_CHASE_DRAW_SET = 32 };

/* The accesses of one module. */
struct dh_chase_pool {
    const struct dh_chase_module *module;
    struct dh_chase_spots spots;
    u64 bias; /* while a set is drawn: where the module is */
    bool loaded;
};

/* The caller sets the first three; the rest is zero. */
struct dh_chase_draw {
    struct dh_chase_pool *pools;
    size_t n_pools;
    u64 random;                    /* the seed, then the state of the generator */
    bool active[DH_CONTROL_SITES]; /* is this site in the set? */
    size_t n;                      /* how many are */
    u64 since_us;                  /* when they were drawn */
};

/* How many accesses there are to draw from. */
size_t dh_chase_draw_total(const struct dh_chase_draw *d);
/* The next random choice, of at least one. */
const struct dh_chase_spot *dh_chase_draw_next(struct dh_chase_draw *d, struct dh_chase_pool **ret_pool);

/* Draws a set, unless there is one that is not old. 0, or an errno with a sentence if nothing could be drawn;
 * -EAGAIN: nothing is loaded yet. */
int dh_chase_draw_fill(struct dh_chase_draw *d, struct dh_chase_target *t, u64 now_us, const char **ret_why);
/* This one was hit. */
void dh_chase_draw_drop(struct dh_chase_draw *d, u32 site);
/* Is it time for another set, even if nobody has come to this one? */
bool dh_chase_draw_is_old(const struct dh_chase_draw *d, u64 now_us);

#endif
