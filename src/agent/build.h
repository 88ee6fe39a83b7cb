/*
 * build.h - a field build as described by its file: its id, its table of sites and pairs, its code; and how a
 * task is mapped to its instructions.
 *
 * A hive refers to sites by ids and to nothing else. Ids that are not in the build's own table are refused
 * here, and code outside the functions that the table covers is refused again in the program (field/agent.h).
 */
#ifndef DH_AGENT_BUILD_H
#define DH_AGENT_BUILD_H

#include "agent/task.h"
#include "chase/loaded.h"
#include "chase/moment.h"
#include "chase/sites.h"
#include "report/pairs.h"

struct dh_agent_build {
    struct dh_arena arena;
    const char *path;
    char id[DH_AGENT_BUILD + 1];
    struct dh_pairs *table;
    struct dh_chase_module module;
    struct dh_chase_accesses atomics; /* to be tracked */
    struct dh_chase_loaded loaded;
    const char *unfollowed; /* why its synchronisation cannot be tracked; NULL: it can */
};

/* Just the id of a field build. 0, or a negative errno with a message. */
int dh_agent_build_id(struct dh_arena *arena, const char *path, char ret[DH_AGENT_BUILD + 1],
                      const char **ret_why);
/* Without its code, tasks can only be checked. 0, or a negative errno with a message. */
int dh_agent_build_open(struct dh_agent_build *b, const char *path, bool with_code, const char **ret_why);
void dh_agent_build_close(struct dh_agent_build *b);

/* NULL, or why the task is not valid for this build. */
const char *dh_agent_build_check(const struct dh_agent_build *b, const struct dh_agent_task *task);

/* Which site of the table an instruction belongs to, by its number among the sites of one side. */
struct dh_agent_sides {
    struct dh_chase_sites sites;
    u32 *of[2];   /* for each instruction, sites of the table: those on the first side, and on the second;
                   * DH_PAIRS_NONE: it is not on that side. Of several, one */
    bool none[2]; /* the task's first access, or its second, has no instruction */
};

/* The instructions of a task that was checked, in the arena. first: which of its two sites is on the first
 * side, at which threads are stopped. NULL, or why it cannot be chased. */
const char *dh_agent_build_sides(struct dh_agent_build *b, struct dh_arena *arena,
                                 const struct dh_agent_task *task, int first, u64 seed,
                                 struct dh_agent_sides *ret);
/* The same instructions, all of them on the first side: to wait at any, and watch its bytes. */
void dh_agent_build_watched(struct dh_arena *arena, const struct dh_agent_sides *sides,
                            struct dh_agent_sides *ret);
/* The site of the table at this place in the source that is a pair with `first`, alone or in a bundle;
 * DH_PAIRS_NONE: there is none. *ret_exact: also by its column. */
u32 dh_agent_build_other_at(const struct dh_agent_build *b, u32 first, const struct dh_chase_place *at,
                            bool *ret_exact);

#endif
