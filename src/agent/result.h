/*
 * result.h - the result of a task in one run, and the exact text that is sent about it. It has no members
 * other than these: no value, path, argument or name from the user's machine can get into it.
 */
#ifndef DH_AGENT_RESULT_H
#define DH_AGENT_RESULT_H

#include "base/base.h"

enum { DH_AGENT_MOST_MET = 1000, DH_AGENT_MOST_REACHED = 256, DH_AGENT_FRAMES = 64 };

/* Where two threads were: offsets in the build's file, 0 for frames outside of it. */
struct dh_agent_stacks {
    u64 at[2][DH_AGENT_FRAMES];
    size_t n[2];
};

/* Two accesses that were both executed. */
struct dh_agent_met {
    u64 sites[2];                        /* ids; of a race, in the order in which the accesses were made */
    u8 seen;                             /* DH_CONTROL_SEEN_... */
    const struct dh_agent_stacks *raced; /* of these sites; NULL: they have not been caught at once */
};

struct dh_agent_result {
    const char *id, *run; /* 32 hexadecimal digits each */
    u64 task;
    const char *result;      /* "race", "no-race", "timeout", "not-seen", "inference" */
    u32 alternate;           /* in which order */
    const char *consequence; /* "none", "crash", "hang"; NULL: not known */
    const char *saw;         /* "met", "not-aliasing", "one-thread"; NULL: nothing */
    bool none[2];            /* with not-seen: the build has no such instruction */
    u64 waited_us, run_us;
    const struct dh_agent_met *met; /* of an inference */
    size_t n_met;
    const u64 *reached; /* of an inference: ids of the accesses at which a thread was stopped */
    size_t n_reached;
    const u64 *stacks[2]; /* of a race: offsets in the build's file, 0 for frames outside of it */
    size_t n_stacks[2];
};

/* JSON, to be freed. */
char *dh_agent_result_text(const struct dh_agent_result *r);
/* What context inference saw of two accesses (DH_CONTROL_SEEN_...), in the hive's terms, or NULL. */
const char *dh_agent_result_saw(u8 seen);

#endif
