/*
 * chase.h - one run of a program, to confirm one pair of accesses or to sample accesses at random.
 */
#ifndef DH_CHASE_CHASE_H
#define DH_CHASE_CHASE_H

#include "chase/draw.h"
#include "chase/loaded.h"
#include "chase/moment.h"
#include "chase/policy.h"
#include "chase/track.h"

struct dh_chase_run {
    struct dh_chase_target *target;
    struct dh_chase_policy *policy;
    struct dh_chase_loaded *loaded;     /* what other runs have learned of the program's files */
    const struct dh_chase_sites *sites; /* with `draw`: none */
    struct dh_chase_draw *draw;         /* the first side is drawn at random from these; NULL: it is fixed */
    /* Has the program ended? Polled now and then, and after every signal. */
    bool (*ended)(void *ctx);
    /* Should the program, though still running, be left alone from now on? Polled as often; NULL: never. */
    bool (*withdrawn)(void *ctx);
    /* A window at this site is over; control->seen says what reached the second side. NULL: not wanted. */
    void (*window)(void *ctx, u32 first);
    /* Two threads have met; the callee owns the moment. Returns false if it is not a race after all. */
    bool (*found)(void *ctx, struct dh_chase_moment *moment);
    /* Two threads are stopped at what looks like a race by happens-before. Returns NULL, or a sentence if
     * synchronisation between them may have been missed. Not called for collision analysis. */
    const char *(*unseen)(void *ctx);
    /* With `any`: the bytes that a thread was about to access here have changed, but no writer was caught. */
    void (*changed)(void *ctx, u32 site, const struct dh_control_span *span);
    /* Inference: how long after a wait its bytes are still watched, while nobody waits; 0: not at all. */
    u64 linger_us;
    u64 linger_early_us; /* the same for an access's first turns: who else comes shows how promising it is */
    /* Fills in at most n program counters (just after the access) of those already known to meet a thread
     * waiting at this site, which need not be examined again; returns how many. A wait then does not end with
     * the first arrival. NULL: it does. */
    size_t (*known)(void *ctx, u32 site, bool at_once, u64 *ret_pcs, size_t n);
    /* They have met; at_once: while the first was still waiting. The caller owns the moment. */
    void (*met)(void *ctx, u32 site, u64 pc, struct dh_chase_moment *moment, bool at_once);
    void *ctx;
    bool swapped; /* the first side is the second position: the moment keeps the original order */
    enum dh_chase_analysis analysis;
    u64 window_us; /* how long an access is tracked, except in collision analysis */
    bool any; /* no second side: anything that conflicts with the first counts, and the chase continues */
    bool unwatched; /* ... without watchpoints: the second side consists of many accesses */
    u64 start_us;   /* start of the time of which the policy grants a share; 0: start of this run */
    u64 kept_us;    /* since when the beginning of the program has been delayed, which counts as a wait; 0: it
                     * does not, or has begun */

    /* Results. */
    bool direct;           /* its code had to be made writable */
    bool placed;           /* all modules that contain sites were loaded */
    bool armed;            /* a thread would have been stopped at the first side, for some time at least */
    bool traced, filtered; /* breakpoints could not be set for a while; or from then on */
    bool confirmed;        /* at least once */
    const char *trouble;   /* why the chase was abandoned; NULL: it was not */
    bool deaf;             /* ... because the program may set signals unseen, in other runs, too */
    u64 total_us;
    u64 reached; /* how often a thread came to the first side and waited */
};

/* The program has connected and waits; this releases it. Returns when the program has ended or should be left
 * alone, with nothing armed and nobody waiting. socket: -1 if the program no longer waits. */
void dh_chase_run(struct dh_chase_run *run, int socket);

#endif
