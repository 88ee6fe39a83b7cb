/*
 * trial.h - one program that a worker chases, and one task for it: what trial.c has seen, and work.c bases
 * its decisions on.
 */
#ifndef DH_AGENT_TRIAL_H
#define DH_AGENT_TRIAL_H

#include "agent/balance.h"
#include "agent/build.h"
#include "agent/result.h"
#include "agent/work.h"
#include "chase/chase.h"

enum {
    DH_AGENT_MOST_KNOWN = 256,
    DH_AGENT_MOST_WATCHED =
        64 /* meetings in one result, since that many need not be in the bundle (hive/decide.c) */
};

struct dh_agent_program {
    struct dh_agent_work *with;
    struct dh_agent_build *build;
    struct dh_chase_target target;
    int pidfd;
    u64 begin_us; /* until then the start of the program may be delayed, if its task is not known */
    u64 hello_us; /* when the program, waiting to begin, had nothing to wait for but this worker */
    u64 start_us;
    u64 told_us, told_waited_us; /* what earlier results have reported */
    u64 waited_us, late_us;
    struct dh_agent_balance balance; /* taken from the user's balance */
    bool taken;
    bool hurry;                /* the start of the program need not be delayed */
    char run[DH_AGENT_ID + 1]; /* drawn for this execution */
    bool ended;
    const char *trouble; /* why this program cannot be chased any more */
    bool unfollowed;     /* its synchronisation cannot be tracked */
    bool unwatched;      /* the kernel refuses hardware watchpoints */
    u32 done;            /* the board's turn whose task has been answered, plus one; 0: none */
};

enum dh_agent_part {
    DH_AGENT_STEER, /* the thread that comes too early is held */
    DH_AGENT_TRACK, /* happens-before is tracked from the first access on */
    DH_AGENT_WATCH  /* hardware watchpoints on the bytes that a thread is about to access */
};

/* An instruction, by its address in the program, that has accessed the bytes of a watched one. */
struct dh_agent_known {
    u64 pc;
    u32 site;
    bool at_once;
};

/* One task. */
struct dh_agent_trial {
    struct dh_agent_program *w;
    struct dh_arena arena;
    struct dh_agent_task task;
    u32 turn; /* of the board */
    struct dh_agent_sides sides, watched;
    const struct dh_chase_run *run; /* of this part */
    struct dh_chase_policy policy;
    u64 since_us, until_us; /* of this part */
    u64 reached_us;         /* when a thread first came to the first side; 0: none has */
    enum dh_agent_part part;
    bool raced;
    bool tried;                     /* something was armed, or cannot be, in any part */
    bool reached, ordered;          /* in all parts */
    bool held;                      /* a thread was held, by steering */
    u32 ordered_before;             /* control->ordered when this part began */
    u8 seen;                        /* DH_CONTROL_SEEN_..., in all windows */
    u32 tids[2];                    /* the threads that raced */
    int first;                      /* which access of the task is on the first side in this part */
    u64 stacks[2][DH_AGENT_FRAMES]; /* of the race, by access of the task */
    size_t n_stacks[2];
    struct dh_agent_met *met;
    size_t n_met, cap_met;
    size_t n_watched; /* of these, found by watching */
    u64 met_us;       /* when two accesses of a bundle first came to the same bytes; 0: never */
    u64 reached_sites[DH_AGENT_MOST_REACHED]; /* ids of the accesses at which a thread was stopped */
    size_t n_reached;
    struct dh_agent_known known[DH_AGENT_MOST_KNOWN];
    size_t n_known;
};

/* Callbacks of a chase whose context is a trial: a window is over; two threads have met (chase.h). */
void dh_agent_trial_window(void *ctx, u32 first);
bool dh_agent_trial_race(void *ctx, struct dh_chase_moment *moment);
/* ... while bytes are watched. */
size_t dh_agent_trial_known(void *ctx, u32 site, bool at_once, u64 *ret_pcs, size_t n);
void dh_agent_trial_met(void *ctx, u32 site, u64 pc, struct dh_chase_moment *moment, bool at_once);

#endif
