/*
 * work.h - chases one running program from outside for one task after another (RaceMob, SOSP 2013, sections
 * 3.2 and 3.3).
 *
 * Each program has its own worker process: the work blocks, it reads debug information, and if it dies, the
 * program continues (field/agent.h). It does not use the network. Tasks come through the board; results go to
 * the spool.
 */
#ifndef DH_AGENT_WORK_H
#define DH_AGENT_WORK_H

#include "agent/user.h"

struct dh_agent_work {
    const struct dh_agent_settings *settings;
    struct dh_agent_build *build; /* opened by the caller; NULL: the program's file is opened here */
    const struct dh_agent_board *board;
    const char *spool;   /* directory */
    const char *balance; /* file; balance.h */
    int poke;            /* a byte is written here when something is in the spool; -1: not wanted */
    int socket;          /* where the program's library says hello */
    pid_t pid;
};

/* Returns when the program has ended, or this process was asked to stop by SIGTERM. 0, or a negative errno:
 * the program was not chased. */
int dh_agent_work(struct dh_agent_work *w);

/* The same in a new process, which is asked to stop when this one dies. It closes `unused` and the
 * connections of this process, and owns the work's socket. -1, with errno: it could not be started. */
pid_t dh_agent_work_start(struct dh_agent_work *w, int unused);

#endif
