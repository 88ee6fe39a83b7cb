/*
 * chase.h - one run of a program with one pair of accesses to confirm.
 */
#ifndef DH_CHASE_CHASE_H
#define DH_CHASE_CHASE_H

#include "chase/moment.h"
#include "chase/policy.h"

struct dh_chase_run {
    struct dh_chase_target *target;
    struct dh_chase_policy *policy;
    const struct dh_chase_sites *sites;
    /* Has the program ended? Asked every now and then, and whenever a signal comes. */
    bool (*ended)(void *ctx);
    void *ctx;

    /* What came of it. */
    bool placed;                    /* every module of the sites was loaded */
    bool traced, filtered;          /* breakpoints were not set for a while; not any more */
    struct dh_chase_moment *moment; /* of the race that was confirmed; NULL: none */
    const char *trouble;            /* why the chase was given up; NULL: it was not */
    u64 total_us;
    u64 reached; /* times that a thread came to the first side and waited */
};

/* The program has been met and waits; this lets it go, and returns when it has ended. */
void dh_chase_run(struct dh_chase_run *run, int socket);

#endif
