/*
 * chase.h - one run of a program with one pair of accesses to confirm, or with accesses chosen at random.
 */
#ifndef DH_CHASE_CHASE_H
#define DH_CHASE_CHASE_H

#include "chase/draw.h"
#include "chase/moment.h"
#include "chase/policy.h"
#include "chase/track.h"

struct dh_chase_run {
    struct dh_chase_target *target;
    struct dh_chase_policy *policy;
    const struct dh_chase_sites *sites; /* with `draw`: none */
    struct dh_chase_draw *draw;         /* the first side is drawn at random from these; NULL: it is not */
    /* Has the program ended? Asked every now and then, and whenever a signal comes. */
    bool (*ended)(void *ctx);
    /* Is the program to be left alone from now on, though it goes on? Asked as often; NULL: never. */
    bool (*withdrawn)(void *ctx);
    /* A window at this site is over, and control->seen says who came to the second side; NULL: nobody asks.
     */
    void (*window)(void *ctx, u32 first);
    /* Two threads have met; the moment is the callee's. False if it is no race after all. */
    bool (*found)(void *ctx, struct dh_chase_moment *moment);
    /* Two threads are stopped at what seems to be a race by happens-before. NULL, or a sentence: what orders
     * them may not have been seen. Not asked by the analysis of collisions. */
    const char *(*unseen)(void *ctx);
    /* With `any`: these bytes, which a thread was about to access at this site, have changed, and nobody was
     * seen to. */
    void (*changed)(void *ctx, u32 site, const struct dh_control_span *span);
    /* Inference. After a wait its bytes are watched for so long while nobody waits; 0: they are not. */
    u64 linger_us;
    u64 linger_early_us; /* the same at the first turns of an access: who else comes says how promising it is
                          */
    /* Who has met who waits at this site before, by their program counters behind the access: need not be
     * looked at again. At most n; how many. Then a wait does not end with the first who comes. NULL: it does.
     */
    size_t (*known)(void *ctx, u32 site, bool at_once, u64 *ret_pcs, size_t n);
    /* They have met; at once: while the one waited. The moment is the caller's. */
    void (*met)(void *ctx, u32 site, u64 pc, struct dh_chase_moment *moment, bool at_once);
    void *ctx;
    bool swapped; /* the first side is the second position: the moment names the accesses in their order */
    enum dh_chase_analysis analysis;
    u64 window_us; /* unless the analysis is that of collisions: how long an access is followed */
    bool any; /* whatever conflicts with the first side counts, and the chase goes on; there is no second */
    bool unwatched; /* ... without watchpoints: there is a second side of many accesses */
    u64 start_us;   /* when the time began of which the policy grants a part; 0: with this run */

    /* What came of it. */
    bool direct;           /* its code had to be made writable */
    bool placed;           /* every module of the sites was loaded */
    bool traced, filtered; /* breakpoints were not set for a while; not any more */
    bool confirmed;        /* at least once */
    const char *trouble;   /* why the chase was given up; NULL: it was not */
    u64 total_us;
    u64 reached; /* times that a thread came to the first side and waited */
};

/* The program has been met and waits; this lets it go, and returns when it has ended, or when it is to be
 * left alone, with nothing armed and nobody waiting. socket: -1 if it does not wait any more. */
void dh_chase_run(struct dh_chase_run *run, int socket);

#endif
