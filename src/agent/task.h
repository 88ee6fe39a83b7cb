/*
 * task.h - what the hive asks of one user: a pair of accesses to try in one order, or a bundle to look at;
 * and the board on which the process that talks to the hive writes it down for those that chase programs.
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
    u32 alternate; /* 1: the second access is to be made first */
    u64 unit;      /* ids, as in the table of the build */
    u64 sites[2];
    u64 tau_us;
};

/* What a hive has answered, as "task"; null is a task of kind NOTHING. NULL, or what is wrong with it.
 * Nothing in it is trusted: whether the ids are of the build is dh_agent_build_check's to say. */
const char *dh_agent_task_read(const json_t *o, const char *build, struct dh_agent_task *ret);
/* Up to n bytes of it in hexadecimal digits of lower case, n at least and most at most? */
bool dh_agent_is_hex(const char *text, size_t n, size_t most);

/* Memory that processes share. One of them writes. */
struct dh_agent_board {
    u32 turn;  /* atomic; odd while it is being written */
    u32 asked; /* 1: the hive has answered at least once */
    struct dh_agent_task task;
};

/* NULL: there is no memory. */
struct dh_agent_board *dh_agent_board_new(void);
void dh_agent_board_free(struct dh_agent_board *b);
void dh_agent_board_write(struct dh_agent_board *b, const struct dh_agent_task *task);
/* What is there now; and what changes when it does. */
struct dh_agent_task dh_agent_board_read(const struct dh_agent_board *b, u32 *ret_turn, bool *ret_asked);
u32 dh_agent_board_turn(const struct dh_agent_board *b);

#endif
