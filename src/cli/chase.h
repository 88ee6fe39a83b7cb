/*
 * chase.h - what the files of `deadheat chase` share.
 */
#ifndef DH_CLI_CHASE_H
#define DH_CLI_CHASE_H

#include "chase/chase.h"
#include "report/reporter.h"

enum { DH_CHASE_MODULES = 16 };

struct dh_chase_request {
    struct dh_arena arena;
    const char *pair; /* as given */
    bool any;         /* whatever conflicts with the first position; there is no second */
    struct dh_chase_position positions[2];
    struct dh_chase_module modules[DH_CHASE_MODULES]; /* the program, then what --module names */
    size_t n_modules;
    enum { DH_CHASE_FREE, DH_CHASE_PRIMARY, DH_CHASE_ALTERNATE } steer; /* which access goes first */
    u64 tau_us;  /* steering: how long a thread that comes too early is held */
    u64 hang_us; /* threads that do not move for so long, after steering, hang */
    bool again;  /* the program is run more than once, so it must come to an end */
    double rmax;
    u64 delay_us;
    u64 seed; /* 0: another one in every run */
    u64 trials;
    u64 exitcode;
    const char *output, *suppressions, *color;
    bool source, stats, list;
    char **argv; /* the program and its arguments */
    struct dh_chase_sites sites;
};

/* chase_pair.c: opens the modules and finds the accesses of the positions. 0, or the exit
 * status after a sentence. */
int dh_chase_find_sites(struct dh_chase_request *q);
/* Prints them. */
void dh_chase_list_sites(struct dh_chase_request *q);
void dh_chase_close_modules(struct dh_chase_request *q);

/* chase_run.c: one run of the program. */
struct dh_chase_trial {
    int status;     /* of the program, as wait gives it */
    bool ran;       /* false: it could not be started or met, and that was said */
    bool confirmed; /* and not suppressed */
    bool timeout;   /* steering: a thread was held, and nobody came to the other access */
    bool blind;     /* nothing could be seen for a reason that was said */
    u64 reached;    /* times that a thread waited */
    u64 waited_us, total_us;
    u64 traps, harmless; /* as in struct dh_control */
};
struct dh_chase_trial dh_chase_try(struct dh_chase_request *q, struct dh_reporter *reporter, int output);

#endif
