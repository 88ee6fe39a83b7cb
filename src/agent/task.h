/*
 * task.h - what the hive asks one user to do: try a pair of accesses in one order, or examine a bundle; and
 * the board on which the process that talks to the hive posts it for those that chase programs.
 */
#ifndef DH_AGENT_TASK_H
#define DH_AGENT_TASK_H

#include <jansson.h>

#include "base/base.h"

enum { DH_AGENT_BUILD = 128, DH_AGENT_MOST_TAU_US = 200000 };
enum dh_agent_kind { DH_AGENT_NOTHING, DH_AGENT_VALIDATION, DH_AGENT_INFERENCE };

struct dh_agent_task {
    u64 number;
    u32 kind;      /* enum dh_agent_kind */
    u32 alternate; /* 1: the second access should come first */
    u64 unit;      /* ids, as in the table of the build */
    u64 sites[2];
    u64 tau_us;
};

/* Parses the "task" of a hive's answer; null is a task of kind NOTHING. NULL, or what is wrong with it.
 * Nothing in it is trusted: dh_agent_build_check decides whether the ids belong to the build. */
const char *dh_agent_task_read(const json_t *o, const char *build, struct dh_agent_task *ret);
/* Is the text lower-case hexadecimal, with at least n and at most `most` digits? */
bool dh_agent_is_hex(const char *text, size_t n, size_t most);

/* Memory shared by processes. One of them writes it. */
struct dh_agent_board {
    u32 turn;  /* atomic; odd while it is being written */
    u32 asked; /* 1: the hive has answered at least once */
    struct dh_agent_task task;
};

/* NULL: out of memory. */
struct dh_agent_board *dh_agent_board_new(void);
void dh_agent_board_free(struct dh_agent_board *b);
void dh_agent_board_write(struct dh_agent_board *b, const struct dh_agent_task *task);
/* The present task; and a number that changes when it does. */
struct dh_agent_task dh_agent_board_read(const struct dh_agent_board *b, u32 *ret_turn, bool *ret_asked);
u32 dh_agent_board_turn(const struct dh_agent_board *b);

#endif
