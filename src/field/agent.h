/*
 * agent.h - a program that an agent (src/agent) chases, and not a command that has started it: how the agent
 * is found, and what it cannot make the program do (docs/design/agent.md).
 */
#ifndef DH_FIELD_AGENT_H
#define DH_FIELD_AGENT_H

#include "field/field.h"

/* Before libc's environment is there: a socket that leads to this user's agent for this very build, or -1.
 * Nothing is found in a program whose user has opted out. */
int dh_field_agent_find(char **environment);

/* Does the agent mean to follow the program's synchronisation? It has a second to say so if it was found, and
 * longer if it has started the program. -1: it has not. */
int dh_field_agent_follows(int fd, bool found);

/* From now on the rules below are in force. False: the program has no table to go by. */
bool dh_field_agent_begin(void);
/* Are they? */
bool dh_field_agent_rules(void);
/* How long to wait: what the control block says, within bounds. */
u64 dh_field_agent_bound(u64 us);
/* May a thread do anything but go on at this site? Only in functions of the program's own table. */
bool dh_field_agent_allows(struct dh_control *c, const struct dh_control_site *site);
/* Has the agent not been heard of for long? Then breakpoints are taken back, once, and it does not count any
 * more. */
bool dh_field_agent_is_gone(struct dh_control *c);

/* library.c: puts back what breakpoints have replaced. */
void dh_field_restore(void);

#endif
