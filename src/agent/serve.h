/*
 * serve.h - the process that talks to the hive and starts a worker (work.h) for each running program: a
 * user's daemon, for any number of builds, or the companion of one program that was just started.
 */
#ifndef DH_AGENT_SERVE_H
#define DH_AGENT_SERVE_H

#include "agent/user.h"

/* Runs until SIGTERM or SIGINT. The programs are files; a new build that replaces an old one is noticed. 0,
 * or a negative errno with a message. */
int dh_agent_serve(const struct dh_agent_settings *settings, const char *const *programs, size_t n,
                   struct dh_arena *arena, const char **ret_why);

/* For one program, which has this pid and says hello on the socket. Returns when it has ended and the results
 * are sent, or the hive has not accepted them within some seconds: then they stay in the spool. */
int dh_agent_attend(const struct dh_agent_settings *settings, const char *program, int socket, pid_t pid);

/* Sends what is in the spool of any build, for at most this long. Returns the number of results left. */
size_t dh_agent_flush(const struct dh_agent_settings *settings, u64 limit_us);

/* Calls back with the directory of each user below the state's. */
void dh_agent_each_user(const struct dh_agent_settings *settings, void (*take)(void *ctx, const char *dir),
                        void *ctx);

/* The directory of the user of this build. */
const char *dh_agent_user_dir(struct dh_arena *arena, const struct dh_agent_settings *settings,
                              const char *build);

#endif
