/*
 * crowd.h - a simulated crowd: many users on one machine, a few of whom run the program at any time. The
 * paper's authors evaluated theirs in the same way (RaceMob, SOSP 2013, section 5).
 *
 * A user here is the same as with `deadheat run --hive`: a directory with its own number and spool, a real
 * process, a worker next to it, tasks chosen by the hive. Only the process that talks to the hive is shared.
 * The difference is that a program starts when its task is known, as if its user's agent had been there
 * before.
 */
#ifndef DH_AGENT_CROWD_H
#define DH_AGENT_CROWD_H

#include "agent/user.h"

struct dh_agent_crowd_count {
    u64 runs;          /* started */
    u64 ended;         /* ... and have ended */
    u64 crashed;       /* of these: killed by a signal that was not sent from here */
    u64 late;          /* ... took too long, and were terminated */
    u64 idle;          /* users who wanted to run it but had nothing to try, and so did not */
    u64 sent, refused; /* results that the hive has accepted, and rejected */
    bool interrupted;  /* by a signal */
};

struct dh_agent_crowd {
    const struct dh_agent_settings *settings; /* its state contains a directory for each user */
    u64 users, jobs, runs;                    /* how many: in all, at a time, at most */
    u64 visit;                                /* runs of one user in a row, unless there is nothing to try */
    u64 seed;
    u64 budget_us, limit_us; /* of all; of one run */
    const char *program;     /* its file */
    char **argv;             /* its command line; see dh_agent_crowd_fill for the placeholders */
    const char *client; /* a shell command run along with each run: when it ends, the program is asked to end;
                           NULL: none */
    const char *const *inputs; /* each run draws one of these files */
    size_t n_inputs;
    void (*progress)(void *ctx, const struct dh_agent_crowd_count *count); /* called now and then */
    void *ctx;
};

/* What differs between runs. */
struct dh_agent_crowd_run {
    u64 number, visit; /* of the run, and of the series of runs by the same user */
    u64 user, job, seed;
    const char *input; /* NULL: there is none */
};

/* A copy of the text with {run}, {user}, {job}, {seed} and {input} replaced; everything else is unchanged. */
char *dh_agent_crowd_fill(struct dh_arena *arena, const char *text, const struct dh_agent_crowd_run *run);
/* The user depends only on the seed of the crowd and run->visit; the seed and the input only on that and
 * run->number. Some users run it more often than others: of N users the first tenth has a third of all
 * runs. */
void dh_agent_crowd_draw(const struct dh_agent_crowd *c, struct dh_agent_crowd_run *run);

/* Returns when all runs are done, the time is over, nobody has anything left to try, or on SIGINT or SIGTERM;
 * programs still running are then terminated. 0, or a negative errno with a message. */
int dh_agent_crowd_gather(const struct dh_agent_crowd *c, struct dh_arena *arena,
                          struct dh_agent_crowd_count *ret, const char **ret_why);

#endif
