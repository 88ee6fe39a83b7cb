/*
 * agent.h - a program chased by an agent (src/agent) instead of by the command that started it: how the agent
 * is found, and the limits on what it can make the program do (docs/design/agent.md).
 */
#ifndef DH_FIELD_AGENT_H
#define DH_FIELD_AGENT_H

#include "field/field.h"

/* Called before libc's environment is set up: a socket to this user's agent for this very build, or -1.
 * Nothing is found in a program whose user has opted out. */
int dh_field_agent_find(char **environment);

/* Does the agent mean to track the program's synchronisation? It has a second to say so if it was found, and
 * longer if it started the program. -1: it has not answered. */
int dh_field_agent_follows(int fd, bool found);

/* Puts the rules below in force. False: the program has no table to check against. */
bool dh_field_agent_begin(void);
/* Are they in force? */
bool dh_field_agent_rules(void);
/* How long to wait: the control block's value, within bounds. */
u64 dh_field_agent_bound(u64 us);
/* May a thread do anything but continue at this site? Only in functions of the program's own table. */
bool dh_field_agent_allows(struct dh_control *c, const struct dh_control_site *site);
/* Has the agent been silent for long? Then breakpoints are removed, once, and it is ignored from then on. */
bool dh_field_agent_is_gone(struct dh_control *c);

/* library.c: restores the code that breakpoints have replaced. */
void dh_field_restore(void);

#endif
