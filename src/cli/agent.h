/*
 * agent.h - `deadheat agent`, and `deadheat run --hive`: the parts of the program deadheat-agent.
 */
#ifndef DH_CLI_AGENT_H
#define DH_CLI_AGENT_H

#include "agent/serve.h"

struct dh_cli_crowd; /* agent_crowd.c */

struct dh_cli_agent {
    struct dh_arena arena;
    const char *command; /* "agent", "agent show", "run", "crowd" */
    struct dh_agent_settings settings;
    bool insecure;
    const char **programs; /* or, for `run`, the program and its arguments */
    size_t n_programs;
    u64 limit_us;               /* of `send` */
    struct dh_cli_crowd *crowd; /* of `crowd`; NULL: it is another command */
};

/* agent_run.c: has the user opted out? */
bool dh_cli_agent_is_unwanted(void);
/* `deadheat run --hive`: becomes the program. Returns the exit status if it cannot. */
int dh_cli_agent_run(struct dh_cli_agent *c);
/* agent_crowd.c: `deadheat crowd`. Turns c into that command, with its settings. */
void dh_cli_crowd_begin(struct dh_cli_agent *c);
/* Where to store a flag's value, by its name without dashes; NULL: it is not a flag specific to this
 * command. */
const char **dh_cli_crowd_flag(struct dh_cli_agent *c, const char *name, size_t len);
extern const char dh_cli_crowd_usage[];
extern const char *const dh_cli_crowd_flags[];
extern const size_t dh_cli_crowd_n_flags;
/* The exit status. */
int dh_cli_crowd(struct dh_cli_agent *c);
/* agent_show.c: prints what would be sent. */
int dh_cli_agent_show(struct dh_cli_agent *c);

#endif
