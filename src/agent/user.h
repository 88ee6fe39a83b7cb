/*
 * user.h - one user of a hive: its identity, the tasks it is given for one build, the results it sends.
 *
 * A process may be any number of users at once, each with a directory of its own, over one dh_agent_net:
 * nothing here is global. The directory contains
 *
 *     user      32 hexadecimal digits, drawn once: the only identification sent to the hive
 *     spool/    results on their way (spool.h)
 *     balance   how long its programs may still be made to wait (balance.h)
 *     trouble   what last went wrong, in one line; absent if all is well
 */
#ifndef DH_AGENT_USER_H
#define DH_AGENT_USER_H

#include "agent/net.h"
#include "agent/spool.h"
#include "agent/task.h"
#include "util/arena.h"

struct dh_agent_build;

/* What the person running it has asked for. */
struct dh_agent_settings {
    const char *hive;     /* a URL, without a trailing slash */
    const char *key_file; /* the program's ingest key */
    const char *cacert;   /* NULL: the system's certificates */
    const char *state;    /* a directory, in which each build has its own user */
    double rmax;          /* the fraction of the time that programs may be made to wait */
    u64 begin_us;         /* how long a program's start may be delayed until its task is known */
    u64 hang_us;          /* two threads that make no progress for this long after a race hang */
    u64 bound_us;         /* a task is returned if no thread has come near it for this long */
    bool verbose;         /* messages on standard error */
};

struct dh_agent_user {
    struct dh_arena arena;
    const struct dh_agent_settings *settings;
    struct dh_agent_net *net;
    char id[DH_AGENT_ID + 1];
    const char *spool, *balance, *trouble;
    char key[256]; /* read again whenever it is needed but missing */
    bool sending, has_trouble;
    char sent[DH_AGENT_ID + 1]; /* the result being sent, or the last one that was */
    u64 look_us;                /* when to look at the spool again */
    u64 send_pause_us;          /* after a failure */
    u64 n_sent, n_refused;      /* results that the hive has accepted, and that it never will */
};

/* 0 or a negative errno: the directory cannot be used. */
int dh_agent_user_open(struct dh_agent_user *u, const struct dh_agent_settings *settings, const char *dir,
                       struct dh_agent_net *net);
void dh_agent_user_close(struct dh_agent_user *u);
/* Sends what is due. Returns when to call this again, by CLOCK_MONOTONIC. */
u64 dh_agent_user_step(struct dh_agent_user *u, u64 now_us);
/* There is something new in the spool. */
void dh_agent_user_poke(struct dh_agent_user *u);
/* Has everything been sent? */
bool dh_agent_user_is_done(const struct dh_agent_user *u);

/* The tasks of one user for one build. */
struct dh_agent_poll {
    struct dh_agent_user *user;
    const struct dh_agent_build *build; /* to check them against */
    struct dh_agent_board *board;
    u64 version; /* as counted by the hive */
    u64 next_us; /* when to ask again */
    u64 asked_us;
    u64 pause_us;
    bool asking, known; /* known: it has answered once */
    u64 n_refused;      /* tasks that were not valid for this build */
};

/* False: out of memory. */
bool dh_agent_poll_open(struct dh_agent_poll *p, struct dh_agent_user *u, const struct dh_agent_build *build);
void dh_agent_poll_close(struct dh_agent_poll *p);
u64 dh_agent_poll_step(struct dh_agent_poll *p, u64 now_us);

/* The body of a poll, to be freed. */
char *dh_agent_poll_body(const char *build, u64 version, u64 wait_s);

#endif
