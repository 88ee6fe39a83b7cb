/*
 * crowd.h - a simulated crowd: many users on one machine, of whom a few at a time run the program. The
 * paper's authors evaluated theirs so, too (RaceMob, SOSP 2013, section 5).
 *
 * A user here is what `deadheat run --hive` makes of one: a directory with a number and a spool of its own, a
 * real process, a worker beside it, tasks that the hive chooses. Shared is only the process that talks to the
 * hive. Unlike there, a program begins when its task is known: its user's agent was there before.
 */
#ifndef DH_AGENT_CROWD_H
#define DH_AGENT_CROWD_H

#include "agent/user.h"

struct dh_agent_crowd_count {
    u64 runs;          /* that were begun */
    u64 ended;         /* ... and have ended */
    u64 crashed;       /* of these: by a signal that nobody here has sent */
    u64 late;          /* ... took too long, and were ended */
    u64 idle;          /* users who wanted to run it and had nothing to try, so did not */
    u64 sent, refused; /* results that the hive has taken, and that it did not want */
    bool interrupted;  /* by a signal */
};

struct dh_agent_crowd {
    const struct dh_agent_settings *settings; /* the state has a directory for each user */
    u64 users, jobs, runs;                    /* how many: in all, at a time, at most */
    u64 visit;                                /* runs of one user in a row, unless there is nothing to try */
    u64 seed;
    u64 budget_us, limit_us; /* of all; of one run */
    const char *program;     /* its file */
    char **argv;             /* what it is started with; see dh_agent_crowd_fill for what is replaced in it */
    const char *client;      /* for the shell, beside each run: when it ends, the program is asked to end;
                              * NULL: none */
    const char *const *inputs; /* files of which each run draws one */
    size_t n_inputs;
    void (*progress)(void *ctx, const struct dh_agent_crowd_count *count); /* now and then */
    void *ctx;
};

/* What differs between runs. */
struct dh_agent_crowd_run {
    u64 number, visit; /* of the run, and of the series of runs by the same user */
    u64 user, job, seed;
    const char *input; /* NULL: there is none */
};

/* A copy of the text with {run}, {user}, {job}, {seed} and {input} replaced; all else stays as it is. */
char *dh_agent_crowd_fill(struct dh_arena *arena, const char *text, const struct dh_agent_crowd_run *run);
/* Who runs it depends on nothing but the seed of the crowd and run->visit, with which seed and input on
 * nothing but that and run->number. Some run it more often than others: of N users the first tenth has a
 * third of all runs. */
void dh_agent_crowd_draw(const struct dh_agent_crowd *c, struct dh_agent_crowd_run *run);

/* Until all runs are done, the time is over, nobody has anything left to try, or SIGINT or SIGTERM: then what
 * still runs is ended. 0, or a negative errno with a sentence. */
int dh_agent_crowd_gather(const struct dh_agent_crowd *c, struct dh_arena *arena,
                          struct dh_agent_crowd_count *ret, const char **ret_why);

#endif
