/*
 * draw.h - which accesses are sampled when nobody has named any: a small set of instructions, drawn at random
 * from all of the program, as DataCollider does (OSDI 2010, section 3.2).
 *
 * Every instruction is as likely as any other, however often it is executed: a breakpoint is there for one
 * hit. When all of the set were hit, or nobody has come for a while, another is drawn.
 *
 * Or they take turns. Then those come next that had the fewest: a turn is over when the access was hit, or
 * when nobody came to it in its time. So what is executed all the time leaves room for what is rare, and of a
 * few hundred accesses all that are rare are armed nearly always. What only reads comes a turn later than
 * what writes: every race has an access that writes, and who waits there meets all the others. Accesses whose
 * bytes were seen to be accessed by another thread have four turns where others have one.
 */
#ifndef DH_CHASE_DRAW_H
#define DH_CHASE_DRAW_H

#include "chase/target.h"

enum { DH_CHASE_DRAW_SET = 32, DH_CHASE_DRAW_TURNS = 256 /* with turns */ };

/* The accesses of one module. */
struct dh_chase_pool {
    const struct dh_chase_module *module;
    struct dh_chase_spots spots;
    u64 bias; /* while a set is drawn: where the module is */
    bool loaded;
    size_t first, n; /* with turns: the number of the first spot, and how many there were */
};

/* What each access has had, in all runs of one command. */
struct dh_chase_turn {
    u32 times;
    u32 quarters; /* of a turn, as they are counted: the fewest come next */
    bool met;     /* another thread was seen at its bytes */
};

struct dh_chase_turns {
    struct dh_chase_turn *at; /* a heap array, by the number of the spot over all pools */
    u32 *order;               /* a heap array: these numbers at random */
    size_t n;
    size_t next; /* where to look first */
};

/* The caller sets the first four; the rest is zero. */
struct dh_chase_draw {
    struct dh_chase_pool *pools;
    size_t n_pools;
    u64 random;                    /* the seed, then the state of the generator */
    struct dh_chase_turns *turns;  /* NULL: all are as likely in every set */
    u32 numbers[DH_CONTROL_SITES]; /* with turns: which spot a site is */
    bool active[DH_CONTROL_SITES]; /* is this site in the set? */
    size_t n;                      /* how many are */
    bool is_old;                   /* nobody comes to those that are left */
};

/* How many accesses there are to draw from. */
size_t dh_chase_draw_total(const struct dh_chase_draw *d);
/* The next random choice, of at least one. */
const struct dh_chase_spot *dh_chase_draw_next(struct dh_chase_draw *d, struct dh_chase_pool **ret_pool);

/* Numbers the spots of the pools; the turns are freed by their owner. */
void dh_chase_turns_init(struct dh_chase_turns *t, struct dh_chase_pool *pools, size_t n, u64 random);
void dh_chase_turns_done(struct dh_chase_turns *t);

/* Draws a set, unless there is one that is not old. 0, or an errno with a sentence if nothing could be drawn;
 * -EAGAIN: nothing is loaded yet. */
int dh_chase_draw_fill(struct dh_chase_draw *d, struct dh_chase_target *t, const char **ret_why);
/* This one was hit. */
void dh_chase_draw_drop(struct dh_chase_draw *d, u32 site);
/* Nobody has come to this set for so long. Is it time for another? */
bool dh_chase_draw_ages(struct dh_chase_draw *d, u64 us);
/* How many turns this site has had; 0 without turns. */
u32 dh_chase_draw_times(const struct dh_chase_draw *d, u32 site);
/* Who waited at this site has met who is behind its access at pc: neither is to wait for long for its next
 * turn. */
void dh_chase_draw_met(struct dh_chase_draw *d, u32 site, u64 pc);
/* The same of an access, by its number. */
void dh_chase_turns_met(struct dh_chase_turns *t, size_t number);

#endif
