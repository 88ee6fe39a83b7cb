/*
 * draw.h - which accesses are sampled when none were named: a small set of instructions, drawn at random from
 * the whole program, as in DataCollider (OSDI 2010, section 3.2).
 *
 * Every instruction is equally likely, however often it is executed: a breakpoint stays for one hit. When all
 * of the set were hit, or none has been for a while, another set is drawn.
 *
 * Alternatively accesses take turns, those with the fewest turns first. A turn is over when the access was
 * hit, or when no thread came to it in time. So hot accesses leave room for rare ones, and with a few hundred
 * accesses all rare ones are armed nearly always. Reads come one turn later than writes: every race involves
 * a write, and a thread that waits at the write meets all the others. Accesses whose bytes were seen to be
 * accessed by another thread get four turns for every one of the others.
 */
#ifndef DH_CHASE_DRAW_H
#define DH_CHASE_DRAW_H

#include "chase/target.h"

enum { DH_CHASE_DRAW_SET = 32, DH_CHASE_DRAW_TURNS = 256 /* with turns */ };

/* The accesses of one module. */
struct dh_chase_pool {
    const struct dh_chase_module *module;
    struct dh_chase_spots spots;
    u64 bias; /* while a set is drawn: the module's load bias */
    bool loaded;
    size_t first, n; /* with turns: the number of the first spot, and the count of spots */
};

/* The turns each access has had, over all runs of one command. */
struct dh_chase_turn {
    u32 times;
    u32 quarters; /* of a turn, as counted: those with the fewest come next */
    bool met;     /* another thread was seen at its bytes */
};

struct dh_chase_turns {
    struct dh_chase_turn *at; /* a heap array, by the number of the spot over all pools */
    u32 *order;               /* a heap array: these numbers in random order */
    size_t n;
    size_t next; /* where to start looking */
};

/* The caller sets the first four; the rest starts as zero. */
struct dh_chase_draw {
    struct dh_chase_pool *pools;
    size_t n_pools;
    u64 random;                    /* the seed, then the state of the generator */
    struct dh_chase_turns *turns;  /* NULL: every access is equally likely in every set */
    u32 numbers[DH_CONTROL_SITES]; /* with turns: the spot number of a site */
    bool active[DH_CONTROL_SITES]; /* is this site in the set? */
    size_t n;                      /* how many are */
    bool is_old;                   /* nobody comes to those that remain */
};

/* How many accesses there are to draw from. */
size_t dh_chase_draw_total(const struct dh_chase_draw *d);
/* The next random choice, from at least one. */
const struct dh_chase_spot *dh_chase_draw_next(struct dh_chase_draw *d, struct dh_chase_pool **ret_pool);

/* Numbers the spots of the pools; the turns are freed by their owner. */
void dh_chase_turns_init(struct dh_chase_turns *t, struct dh_chase_pool *pools, size_t n, u64 random);
void dh_chase_turns_done(struct dh_chase_turns *t);

/* Draws a set, unless there is a current one that is not old. 0, or an errno with a message if nothing could
 * be drawn; -EAGAIN: nothing is loaded yet. */
int dh_chase_draw_fill(struct dh_chase_draw *d, struct dh_chase_target *t, const char **ret_why);
/* This one was hit. */
void dh_chase_draw_drop(struct dh_chase_draw *d, u32 site);
/* Nobody has come to this set for `us`. Is it time for another? */
bool dh_chase_draw_ages(struct dh_chase_draw *d, u64 us);
/* How many turns this site has had; 0 without turns. */
u32 dh_chase_draw_times(const struct dh_chase_draw *d, u32 site);
/* A thread waiting at this site has met one that is just past its access, at pc: give both sites their next
 * turn soon. */
void dh_chase_draw_met(struct dh_chase_draw *d, u32 site, u64 pc);
/* The same for an access, by its number. */
void dh_chase_turns_met(struct dh_chase_turns *t, size_t number);

#endif
