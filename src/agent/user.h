/*
 * user.h - one user of a hive: who it is, the tasks that it is given for one build, the results that it
 * sends.
 *
 * A process may be any number of users at once, each with a directory of its own, over one dh_agent_net:
 * nothing here is global. The directory has
 *
 *     user      32 hexadecimal digits, drawn once: all that the hive knows this user by
 *     spool/    results on their way (spool.h)
 *     balance   what its programs may still be made to wait (balance.h)
 *     trouble   what last went wrong, in one line; absent if all is well
 */
#ifndef DH_AGENT_USER_H
#define DH_AGENT_USER_H

#include "agent/net.h"
#include "agent/spool.h"
#include "agent/task.h"
#include "util/arena.h"

struct dh_agent_build;

/* What a person has asked for. */
struct dh_agent_settings {
    const char *hive;     /* an URL, without a slash at the end */
    const char *key_file; /* the program's ingest key */
    const char *cacert;   /* NULL: certificates of the system */
    const char *state;    /* a directory, in which each build has a user of its own */
    double rmax;          /* the part of the time that programs may be made to wait */
    u64 begin_us;         /* how long a program may be kept from beginning until its task is known */
    u64 hang_us;          /* two threads that do not move for so long, after a race, hang */
    u64 bound_us;         /* a task that no thread has come near for so long is given back */
    bool verbose;         /* sentences on standard error */
};

struct dh_agent_user {
    struct dh_arena arena;
    const struct dh_agent_settings *settings;
    struct dh_agent_net *net;
    char id[DH_AGENT_ID + 1];
    const char *spool, *balance, *trouble;
    char key[256]; /* read again whenever it is needed and was not there */
    bool sending, has_trouble;
    char sent[DH_AGENT_ID + 1]; /* the result that is under way, or the last that was */
    u64 look_us;                /* when to look at the spool again */
    u64 send_pause_us;          /* after a failure */
    u64 n_sent, n_refused;      /* results that the hive has taken, and that it never will */
};

/* 0 or a negative errno: the directory cannot be used. */
int dh_agent_user_open(struct dh_agent_user *u, const struct dh_agent_settings *settings, const char *dir,
                       struct dh_agent_net *net);
void dh_agent_user_close(struct dh_agent_user *u);
/* Sends what is to be sent, as far as it is time to. When to call this again, by CLOCK_MONOTONIC. */
u64 dh_agent_user_step(struct dh_agent_user *u, u64 now_us);
/* There is something new in the spool. */
void dh_agent_user_poke(struct dh_agent_user *u);
/* Is nothing left to be sent? */
bool dh_agent_user_is_done(const struct dh_agent_user *u);

/* The tasks of one user for one build. */
struct dh_agent_poll {
    struct dh_agent_user *user;
    const struct dh_agent_build *build; /* to check them by */
    struct dh_agent_board *board;
    u64 version; /* as the hive counts */
    u64 next_us; /* when to ask again */
    u64 asked_us;
    u64 pause_us;
    bool asking, known; /* known: it has answered once */
    u64 n_refused;      /* tasks that are not of this build */
};

/* False: no memory. */
bool dh_agent_poll_open(struct dh_agent_poll *p, struct dh_agent_user *u, const struct dh_agent_build *build);
void dh_agent_poll_close(struct dh_agent_poll *p);
u64 dh_agent_poll_step(struct dh_agent_poll *p, u64 now_us);

/* The body of a poll, to be freed. */
char *dh_agent_poll_body(const char *build, u64 version, u64 wait_s);

#endif
