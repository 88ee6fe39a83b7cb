/*
 * agent.h - `deadheat agent`, and `deadheat run --hive`: the parts of the program deadheat-agent.
 */
#ifndef DH_CLI_AGENT_H
#define DH_CLI_AGENT_H

#include "agent/serve.h"

struct dh_cli_agent {
    struct dh_arena arena;
    const char *command; /* "agent", "agent show", "run" */
    struct dh_agent_settings settings;
    bool insecure;
    const char **programs; /* or, for `run`, the program and its arguments */
    size_t n_programs;
    u64 limit_us; /* of `send` */
};

/* agent_run.c: has the user opted out? */
bool dh_cli_agent_is_unwanted(void);
/* `deadheat run --hive`. Becomes the program. The exit status if it cannot. */
int dh_cli_agent_run(struct dh_cli_agent *c);
/* agent_show.c: prints what would be sent. */
int dh_cli_agent_show(struct dh_cli_agent *c);

#endif
