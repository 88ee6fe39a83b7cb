/*
 * chase.h - what the files of `deadheat chase` share.
 */
#ifndef DH_CLI_CHASE_H
#define DH_CLI_CHASE_H

#include <jansson.h>

#include "chase/chase.h"
#include "chase/loaded.h"
#include "chase/sites.h"
#include "report/reporter.h"
#include "util/map.h"

enum { DH_CHASE_MODULES = 16, DH_CHASE_TRUSTED = 64 };

struct dh_chase_inference;
struct dh_chase_live;
struct dh_pairs_place;
struct dh_static;

struct dh_chase_request {
    struct dh_arena arena;
    const char *pair; /* as given */
    struct dh_chase_position positions[2];
    struct dh_chase_module modules[DH_CHASE_MODULES]; /* the program, then those given by --module */
    size_t n_modules;
    u64 tau_us;  /* steering: how long a thread that comes too early is held */
    u64 hang_us; /* threads that make no progress for this long after steering hang */
    enum dh_chase_analysis analysis;
    u64 window_us;                         /* how long an access is tracked */
    bool tracking_only;                    /* ... and the second side is ignored: for measurements */
    struct dh_chase_accesses atomics;      /* to be tracked */
    const char *trusted[DH_CHASE_TRUSTED]; /* files whose code orders no threads; "": the program */
    size_t n_trusted;
    struct dh_chase_loaded loaded; /* libraries that it loads */
    double rmax;
    u64 delay_us;
    u64 longest_us;             /* waits at an access get longer, up to this; 0: they do not */
    u64 infer_us;               /* how long inference runs may take; 0: until they end */
    u64 infer_steady;           /* they stop after this many without a new meeting; 0: there is one run */
    const struct dh_map *lines; /* lines to draw from, as FILE:LINE; NULL: the lines of the pairs */
    u64 seed;                   /* 0: different in every run */
    u64 trials;
    u64 exitcode;
    const char *output, *suppressions, *color;
    bool unwritten;    /* a record did not get into the output: the status says so, whatever was found */
    const char *from;  /* a file with the pairs; NULL: none */
    const char *style; /* of the program's pairs: relay or sound */
    const char *state, *summary; /* files; NULL: none */
    const char *replay;          /* a fingerprint; NULL: none */
    u64 budget_us;               /* for all runs together; 0: no limit */
    u64 deadline_us;             /* by CLOCK_MONOTONIC: the program is killed then; 0: it is not */
    FILE *copy;                  /* gets a copy of a run's records; NULL: none */
    char **argv;                 /* the program and its arguments */
    struct dh_chase_sites sites;
    struct dh_chase_pool pools[DH_CHASE_MODULES]; /* all accesses of the modules, to draw from */
    enum { DH_CHASE_FREE, DH_CHASE_PRIMARY, DH_CHASE_ALTERNATE } steer; /* which access goes first */
    bool any;                /* anything that conflicts with the first position; there is no second */
    bool drawn;              /* ... and no first either: accesses are drawn at random */
    bool unwatched;          /* ... but the kernel refuses watchpoints: other accesses are the second side */
    bool all;                /* the pairs in the program's table */
    bool again;              /* the program is run more than once, so it must end */
    bool infer;              /* find out which accesses meet: before the pairs are run, or only that */
    struct dh_static *table; /* of the program, once needed */
    bool no_table;           /* it was needed, and there is none */
    struct dh_map missed;    /* races that are not in the table, by their lines */
    json_t *unchased; /* with many pairs: instructions that cannot be chased, by location; NULL: none */
    struct dh_chase_inference *inference; /* of the run about to begin; NULL: it is not an inference run */
    bool rmax_given, delay_given;
    bool source, stats, list;
    bool may_be_none; /* a file of races may have none that can be chased */
    bool brief;       /* with many pairs: print neither races as they come, nor a summary at the end */
    bool interrupted; /* after many pairs: the user interrupted the program in order to stop everything */
    bool once;        /* with many pairs: one confirmed once is not run again; otherwise, twice */
    bool follow_up;   /* with many pairs that are steered: what inference has confirmed is not done yet */
    u64 runs;         /* after many pairs: runs of the program */
    struct dh_chase_live
        *live;      /* with many pairs: the table to keep up to date while the program runs; NULL: none */
    u64 infer_runs; /* ... that were inference runs */
};

/* chase_pair.c: opens the modules. 0, or the exit status after a message. */
int dh_chase_open_modules(struct dh_chase_request *q);
/* Finds the accesses at the positions. 0, or the exit status after a message. */
int dh_chase_find_sites(struct dh_chase_request *q);
/* The same for machine-written positions: columns (perhaps of another compiler) and directories (perhaps of
 * another machine) are ignored. NULL, or why there is nothing to chase. */
const char *dh_chase_find_candidate(struct dh_chase_request *q);
/* The same for one position, whatever it is paired with. */
const char *dh_chase_find_access(struct dh_chase_request *q, const struct dh_chase_position *at);
/* Finds all accesses of the modules, to draw from. 0, or the exit status after a message. */
int dh_chase_find_all(struct dh_chase_request *q);
/* chase_others.c: for `any`. If the kernel refuses hardware watchpoints, prints a message, and other accesses
 * of the modules become the second side. 0, or the exit status after a message. */
int dh_chase_check_watchpoints(struct dh_chase_request *q);
/* Prints them. */
void dh_chase_list_sites(struct dh_chase_request *q);
void dh_chase_close_modules(struct dh_chase_request *q);

/* chase_track.c: --analysis. 0, or the exit status after a message. */
int dh_chase_track_set(struct dh_chase_request *q, const char *text);
/* "litehb" or "fullhb"; NULL: two threads are caught at the same time. */
const char *dh_chase_track_name(const struct dh_chase_request *q);
/* Can the program be tracked? The first finds its atomic accesses, the second adds them to the sites. */
int dh_chase_track_prepare(struct dh_chase_request *q);
/* --trust. 0, or the exit status after a message. */
int dh_chase_track_trust(struct dh_chase_request *q, const char *name);
/* In a run, when the program has loaded its libraries and waits. False after a message: what they do cannot
 * be tracked. */
bool dh_chase_track_check(struct dh_chase_request *q, const struct dh_chase_target *t);
int dh_chase_track_add(struct dh_chase_request *q);

/* chase_run.c: one run of the program. */
struct dh_chase_trial {
    int status;      /* of the program, as wait gives it */
    bool ran;        /* false: it could not be started or did not connect, and a message was printed */
    bool confirmed;  /* and not suppressed */
    bool timeout;    /* steering: a thread was held, and no other came to the other access */
    bool blind;      /* nothing could be seen, for a reason that was printed */
    bool deaf;       /* ... that all runs have in common */
    bool broken_off; /* it was killed because the time for all runs was over */
    u64 reached;     /* how often a thread waited */
    u64 drawn;       /* different accesses that were drawn */
    u64 waited_us, total_us;
    u64 late_us;         /* how long threads whose wait was over had no processor */
    u64 cpu_us;          /* processor time of the program */
    u64 traps, harmless; /* as in struct dh_control */
    u64 ordered;         /* the same */
};
struct dh_chase_trial dh_chase_try(struct dh_chase_request *q, struct dh_reporter *reporter, int output);
/* Whoever interrupts or ends the program by a signal to the command, or by SIGINT, means the command: there
 * is no further run. */
bool dh_chase_was_interrupted(const struct dh_chase_trial *t);

/* ---- Many pairs ---- */

/* A proposed pair, and the results so far. */
struct dh_chase_candidate {
    struct dh_chase_position at[2]; /* A, the earlier access where there is one, and B */
    const char *name;               /* both, as for --pair; identifies the candidate in a state */
    const char *fingerprint;        /* NULL: not known */
    bool reversed;                  /* it was seen with B made first */
    bool inferred;                  /* `confirmed` counts what dynamic context inference has seen */
    u32 rank;                       /* the smaller, the more promising */
    u32 repeated;                   /* how many more of the proposed pairs have the same positions */
    u32 runs[2];                    /* with A waiting, and with B */
    u32 confirmed, reached, met,
        timeouts;        /* runs; met: two threads at the same bytes, both reading or atomic */
    u32 ordered;         /* runs in which the two accesses were ordered */
    const char *refused; /* why it cannot be chased; NULL: it can */
};

struct dh_chase_candidates {
    struct dh_chase_candidate *at; /* a heap array */
    size_t n, cap;
    u64 left_out; /* of the input: frees, and accesses without a known line */
    struct dh_map by_name;
    struct dh_map turns; /* while a file is read: how many there have been for a variable */
};

/* chase_from.c: pairs proposed by a file of race records or findings, or by the table in a program. 0, or the
 * exit status after a message. */
int dh_chase_from_file(struct dh_chase_request *q, struct dh_chase_candidates *ret);
int dh_chase_from_program(struct dh_chase_request *q, struct dh_chase_candidates *ret);
/* NULL if the pair is there already. */
struct dh_chase_candidate *dh_chase_add_candidate(struct dh_chase_request *q, struct dh_chase_candidates *c,
                                                  const struct dh_chase_position at[2]);
/* The program's own table, with the pairs of a style. 0, or the exit status after a message. */
int dh_chase_load_table(struct dh_chase_request *q, const char *style, struct dh_static *ret);
void dh_chase_forget_table(struct dh_static *s);
/* Race records in the format of `deadheat report --all --format=json`; NULL: a line is not a record. */
json_t *dh_chase_findings(const char *text, size_t len);
/* The fingerprint of the first race in these records; NULL: there is none. */
const char *dh_chase_fingerprint(struct dh_arena *arena, const char *records, size_t len);

/* chase_state.c: what has been tried, in a file that is valid whenever this process is killed. */
struct dh_chase_state {
    int fd; /* -1: none */
};
struct dh_chase_outcome {
    const char *pair, *word,
        *fingerprint;  /* word: "confirmed", "no race", "not seen", "not reached", "timeout"; or
                          "met", of no run for this pair, but by inference */
    const char *steer; /* "primary", "alternate" or NULL */
    bool swapped;      /* B waited */
    bool met;
    bool at_once; /* of a pair that met: at the same time, which confirms it */
};
/* Opens or creates it, and passes each line to the callback. 0, or the exit status after a message. */
int dh_chase_state_open(struct dh_chase_request *q, struct dh_chase_state *s,
                        void (*take)(void *ctx, const struct dh_chase_outcome *o), void *ctx);
void dh_chase_state_add(struct dh_chase_state *s, const struct dh_chase_outcome *o);
void dh_chase_state_close(struct dh_chase_state *s);

/* chase_sound.c: the program's own table, with the pairs of `sound`; NULL: none. It is read when first
 * needed. */
struct dh_static *dh_chase_table(struct dh_chase_request *q);
void dh_chase_close_table(struct dh_chase_request *q);
/* Two accesses have raced. Are they missing from the table? If so, a message is printed. */
bool dh_chase_is_missed(struct dh_chase_request *q, const struct dh_chase_place places[2]);

/* ---- Inference ---- */

/* Two accesses by different threads to the same bytes, at least one of them a write. */
struct dh_chase_meeting {
    struct dh_chase_position at[2]; /* sorted by their texts */
    const char *name;               /* both, as in a candidate */
    bool at_once;                   /* one was made while a thread waited at the other: that is a race */
    bool missed;                    /* ... and the static analysis has no such pair */
    bool known, known_at_once;      /* it has been reported; and that it was at once */
};

struct dh_chase_seen {
    u64 pc;
    u32 site;
    bool at_once;
};

struct dh_chase_inference {
    struct dh_chase_request *q;
    struct dh_chase_meeting *at; /* a heap array */
    size_t n, cap;
    struct dh_map by_name;
    struct dh_chase_seen *seen; /* a heap array: what has been examined in this run */
    size_t n_seen, cap_seen;
    u64 windows;
    struct dh_chase_turns turns;
};

/* chase_infer.c: `--infer` without --all and --from. Returns the exit status. */
int dh_chase_infer(struct dh_chase_request *q);
/* Its steps. 0, or the exit status after a message; dh_chase_infer_end must be called in any case. Accesses
 * are drawn from the lines of the request, otherwise from those of these pairs; NULL: from those of the
 * program's table. */
int dh_chase_infer_begin(struct dh_chase_request *q, struct dh_chase_inference *inf,
                         const struct dh_chase_candidates *proposed);
/* Adds the line of a site to the lines that a request draws from. */
void dh_chase_add_line(struct dh_arena *arena, struct dh_map *lines, const struct dh_pairs_place *at);
struct dh_chase_trial dh_chase_infer_run(struct dh_chase_inference *inf, struct dh_reporter *reporter,
                                         int output);
/* Accesses at the lines of pairs that have met in earlier runs come first. */
void dh_chase_infer_promise(struct dh_chase_inference *inf, const struct dh_chase_candidates *c);
void dh_chase_infer_print(struct dh_chase_inference *inf);
json_t *dh_chase_infer_json(const struct dh_chase_inference *inf);
void dh_chase_infer_end(struct dh_chase_inference *inf);
/* In a run: which meetings with this site have been examined (struct dh_chase_run); examines one. */
size_t dh_chase_infer_known(const struct dh_chase_inference *inf, u32 site, bool at_once, u64 *ret_pcs,
                            size_t n);
void dh_chase_infer_met(struct dh_chase_inference *inf, u32 site, u64 pc, struct dh_chase_moment *moment,
                        bool at_once);

/* ---- While many pairs are run ---- */

struct dh_chase_sum {
    u64 tried, reached, confirmed, twice, not_seen, timeout, not_chased, left;
};

enum { DH_CHASE_LIVE_OUTCOMES = 4 };

/* chase_live.c: a table at the bottom of the terminal. */
struct dh_chase_live {
    bool on;           /* there is a terminal with enough room for it */
    int rows, columns; /* of the terminal, when it was last drawn; 0: it was not */
    int lines;         /* of the table */
    u64 start_us, budget_us, drawn_us;
    u64 pairs, runs; /* set by the caller, with the sum, before it shows them */
    struct dh_chase_sum sum;
    char now[256];                              /* what is being done */
    char outcomes[DH_CHASE_LIVE_OUTCOMES][256]; /* the latest ones, in a ring */
    int n_outcomes;
};
void dh_chase_live_begin(struct dh_chase_live *l, u64 start_us, u64 budget_us);
/* outcome: NULL if there is no new one. */
void dh_chase_live_show(struct dh_chase_live *l, const char *now, const char *outcome);
/* While something is going on: updates the time. NULL: there is no table. */
void dh_chase_live_tick(struct dh_chase_live *l);
/* Removes it. */
void dh_chase_live_end(struct dh_chase_live *l);

/* cmd_chase.c: a request with the default settings. */
struct dh_chase_request dh_chase_defaults(void);
/* Opens the program and finds out whether it can be chased; call dh_chase_close_modules in any case. 0, or
 * the exit status after a message. */
int dh_chase_prepare(struct dh_chase_request *q);
/* How long steering holds a thread after this many runs in which that was too short (RaceMob, SOSP 2013,
 * section 3.2.3). */
u64 dh_chase_tau(u64 timeouts);
/* The file that records are appended to; -1: none. 0, or the exit status after a message. */
int dh_chase_open_output(const struct dh_chase_request *q, int *ret_fd);
/* What one run has cost. */
void dh_chase_print_stats(const struct dh_chase_trial *t);
/* Prints races as they come. */
struct dh_reporter *dh_chase_reporter(const struct dh_chase_request *q);

/* chase_all.c: writes --summary. 0, or the exit status after a message. */
int dh_chase_write_summary(struct dh_chase_request *q, const json_t *document);
/* Runs the program for one pair after another, and prints a summary. Returns the exit status. */
int dh_chase_many(struct dh_chase_request *q, struct dh_chase_candidates *c);

#endif
