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
    struct dh_chase_module modules[DH_CHASE_MODULES]; /* the program, then what --module names */
    size_t n_modules;
    u64 tau_us;  /* steering: how long a thread that comes too early is held */
    u64 hang_us; /* threads that do not move for so long, after steering, hang */
    enum dh_chase_analysis analysis;
    u64 window_us;                         /* how long an access is followed */
    bool tracking_only;                    /* ... and nobody looks at the second side: to measure */
    struct dh_chase_accesses atomics;      /* that are followed */
    const char *trusted[DH_CHASE_TRUSTED]; /* files whose code orders no threads; "": the program */
    size_t n_trusted;
    struct dh_chase_loaded loaded; /* what it loads */
    double rmax;
    u64 delay_us;
    u64 longest_us;             /* waits at an access become longer, up to this; 0: they do not */
    u64 infer_us;               /* how long the runs that infer may take; 0: to their end */
    u64 infer_steady;           /* they end after so many without a new meeting; 0: there is one run */
    const struct dh_map *lines; /* what they draw from, as FILE:LINE; NULL: the lines of the pairs */
    u64 seed;                   /* 0: another one in every run */
    u64 trials;
    u64 exitcode;
    const char *output, *suppressions, *color;
    const char *from;            /* the pairs of this file; NULL: not */
    const char *style;           /* of the program's pairs: relay or sound */
    const char *state, *summary; /* files; NULL: none */
    const char *replay;          /* a fingerprint; NULL: none */
    u64 budget_us;               /* for all runs together; 0: no limit */
    u64 deadline_us;             /* by CLOCK_MONOTONIC: the program is killed then; 0: it is not */
    FILE *copy;                  /* gets the records of a run, too; NULL: not */
    char **argv;                 /* the program and its arguments */
    struct dh_chase_sites sites;
    struct dh_chase_pool pools[DH_CHASE_MODULES]; /* all accesses of the modules, to draw from */
    enum { DH_CHASE_FREE, DH_CHASE_PRIMARY, DH_CHASE_ALTERNATE } steer; /* which access goes first */
    bool any;                /* whatever conflicts with the first position; there is no second */
    bool drawn;              /* ... and no first either: accesses are drawn at random */
    bool unwatched;          /* ... but the kernel refuses watchpoints: other accesses are the second side */
    bool all;                /* the pairs that the program carries */
    bool again;              /* the program is run more than once, so it must come to an end */
    bool infer;              /* which accesses meet: before the pairs are run, or nothing else */
    struct dh_static *table; /* of the program, once it was asked for */
    bool no_table;           /* it was, and there is none */
    struct dh_map missed;    /* races that are not in it, by their lines */
    json_t *unchased; /* of many pairs: instructions that cannot be chased, by where they are; NULL: none */
    struct dh_chase_inference *inference; /* of the run that is to begin; NULL: it infers nothing */
    bool rmax_given, delay_given;
    bool source, stats, list;
    bool brief;       /* of many pairs: neither races as they come, nor a sum at the end */
    bool interrupted; /* after many pairs: somebody has ended the program in order to end all of it */
    bool once;        /* of many pairs: one that was confirmed once is not run again; else, twice */
    u64 runs;         /* after many pairs: of the program */
    struct dh_chase_live
        *live;      /* of many pairs: the table to keep up to date while the program runs; NULL: none */
    u64 infer_runs; /* ... that have inferred */
};

/* chase_pair.c: opens the modules. 0, or the exit status after a sentence. */
int dh_chase_open_modules(struct dh_chase_request *q);
/* Finds the accesses of the positions. 0, or the exit status after a sentence. */
int dh_chase_find_sites(struct dh_chase_request *q);
/* The same for positions that no person has written: columns of another compiler, and directories of another
 * machine, do not count. NULL, or why there is nothing to chase. */
const char *dh_chase_find_candidate(struct dh_chase_request *q);
/* The same of one position, whatever it is paired with. */
const char *dh_chase_find_access(struct dh_chase_request *q, const struct dh_chase_position *at);
/* Finds all accesses of the modules, to draw from. 0, or the exit status after a sentence. */
int dh_chase_find_all(struct dh_chase_request *q);
/* chase_others.c: with `any`. If the kernel refuses hardware watchpoints, a sentence says so, and other
 * accesses of the modules become the second side. 0, or the exit status after a sentence. */
int dh_chase_check_watchpoints(struct dh_chase_request *q);
/* Prints them. */
void dh_chase_list_sites(struct dh_chase_request *q);
void dh_chase_close_modules(struct dh_chase_request *q);

/* chase_track.c: --analysis. 0, or the exit status after a sentence. */
int dh_chase_track_set(struct dh_chase_request *q, const char *text);
/* "litehb" or "fullhb"; NULL: two are caught at once. */
const char *dh_chase_track_name(const struct dh_chase_request *q);
/* Can the program be followed? Finds its atomic accesses; and adds them to the sites. */
int dh_chase_track_prepare(struct dh_chase_request *q);
/* --trust. 0, or the exit status after a sentence. */
int dh_chase_track_trust(struct dh_chase_request *q, const char *name);
/* In a run, when the program has loaded its libraries and waits. False after a sentence: what they do cannot
 * be followed. */
bool dh_chase_track_check(struct dh_chase_request *q, const struct dh_chase_target *t);
int dh_chase_track_add(struct dh_chase_request *q);

/* chase_run.c: one run of the program. */
struct dh_chase_trial {
    int status;      /* of the program, as wait gives it */
    bool ran;        /* false: it could not be started or met, and that was said */
    bool confirmed;  /* and not suppressed */
    bool timeout;    /* steering: a thread was held, and nobody came to the other access */
    bool blind;      /* nothing could be seen for a reason that was said */
    bool broken_off; /* it was killed because the time for all runs was over */
    u64 reached;     /* times that a thread waited */
    u64 drawn;       /* different accesses that were drawn */
    u64 waited_us, total_us;
    u64 late_us;         /* threads whose wait was over had no processor for so long */
    u64 cpu_us;          /* processor time of the program */
    u64 traps, harmless; /* as in struct dh_control */
    u64 ordered;         /* the same */
};
struct dh_chase_trial dh_chase_try(struct dh_chase_request *q, struct dh_reporter *reporter, int output);
/* Who interrupts the program means the command: there is no further run. */
bool dh_chase_was_interrupted(const struct dh_chase_trial *t);

/* ---- Many pairs ---- */

/* A pair that somebody proposes, and what has come of it so far. */
struct dh_chase_candidate {
    struct dh_chase_position at[2]; /* A, the earlier access where there is one, and B */
    const char *name;               /* both, as --pair takes them; it names the candidate in a state */
    const char *fingerprint;        /* NULL: not known */
    bool reversed;                  /* it was seen with B made first */
    bool inferred;                  /* `confirmed` counts what dynamic context inference has seen */
    u32 rank;                       /* the smaller, the more promising */
    u32 runs[2];                    /* with A waiting, and with B */
    u32 confirmed, reached, met,
        timeouts;        /* runs; met: two threads at the same bytes, both reading or atomic */
    u32 ordered;         /* runs in which something ordered the two accesses */
    const char *refused; /* why it cannot be chased; NULL: it can */
};

struct dh_chase_candidates {
    struct dh_chase_candidate *at; /* a heap array */
    size_t n, cap;
    u64 left_out; /* of the input: frees, and accesses of which no line is known */
    struct dh_map by_name;
    struct dh_map turns; /* while a file is read: how many of a variable there have been */
};

/* chase_from.c: what a file of race records or findings, or the table in a program, proposes. 0, or the exit
 * status after a sentence. */
int dh_chase_from_file(struct dh_chase_request *q, struct dh_chase_candidates *ret);
int dh_chase_from_program(struct dh_chase_request *q, struct dh_chase_candidates *ret);
/* NULL if the pair is there already. */
struct dh_chase_candidate *dh_chase_add_candidate(struct dh_chase_request *q, struct dh_chase_candidates *c,
                                                  const struct dh_chase_position at[2]);
/* The table that the program carries, with the pairs of a style. 0, or the exit status after a sentence. */
int dh_chase_load_table(struct dh_chase_request *q, const char *style, struct dh_static *ret);
void dh_chase_forget_table(struct dh_static *s);
/* Race records as `deadheat report --all --format=json` prints them; NULL: a line is no record. */
json_t *dh_chase_findings(const char *text, size_t len);
/* The fingerprint of the first race in these records; NULL: there is none. */
const char *dh_chase_fingerprint(struct dh_arena *arena, const char *records, size_t len);

/* chase_state.c: what has been tried, in a file that survives the end of this process at any moment. */
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
/* Opens or makes it, and hands over each line. 0, or the exit status after a sentence. */
int dh_chase_state_open(struct dh_chase_request *q, struct dh_chase_state *s,
                        void (*take)(void *ctx, const struct dh_chase_outcome *o), void *ctx);
void dh_chase_state_add(struct dh_chase_state *s, const struct dh_chase_outcome *o);
void dh_chase_state_close(struct dh_chase_state *s);

/* chase_sound.c: the table that the program carries, with the pairs of `sound`; NULL: none. It is read when
 * it is first asked for. */
struct dh_static *dh_chase_table(struct dh_chase_request *q);
void dh_chase_close_table(struct dh_chase_request *q);
/* Two accesses have raced. Are they no pair of the table? Then that was said. */
bool dh_chase_is_missed(struct dh_chase_request *q, const struct dh_chase_place places[2]);

/* ---- Inference ---- */

/* Two accesses that different threads have made to the same bytes. One of them writes. */
struct dh_chase_meeting {
    struct dh_chase_position at[2]; /* in the order of their texts */
    const char *name;               /* both, as a candidate has it */
    bool at_once;                   /* the one was made while a thread waited at the other: that is a race */
    bool missed;                    /* ... and the static analysis has no such pair */
    bool known, known_at_once;      /* whoever asked was told of it, and of that */
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
    struct dh_chase_seen *seen; /* a heap array: what has been looked at in this run */
    size_t n_seen, cap_seen;
    u64 windows;
    struct dh_chase_turns turns;
};

/* chase_infer.c: what `--infer` does without --all and --from. The exit status. */
int dh_chase_infer(struct dh_chase_request *q);
/* The steps of it. 0, or the exit status after a sentence; ended in any case. Accesses are drawn from the
 * lines of the request, else from those of these pairs; NULL: from those of the program's table. */
int dh_chase_infer_begin(struct dh_chase_request *q, struct dh_chase_inference *inf,
                         const struct dh_chase_candidates *proposed);
/* Adds the line of a site to those that a request draws from. */
void dh_chase_add_line(struct dh_arena *arena, struct dh_map *lines, const struct dh_pairs_place *at);
struct dh_chase_trial dh_chase_infer_run(struct dh_chase_inference *inf, struct dh_reporter *reporter,
                                         int output);
/* Accesses at the lines of pairs that have met in earlier runs come first. */
void dh_chase_infer_promise(struct dh_chase_inference *inf, const struct dh_chase_candidates *c);
void dh_chase_infer_print(struct dh_chase_inference *inf);
json_t *dh_chase_infer_json(const struct dh_chase_inference *inf);
void dh_chase_infer_end(struct dh_chase_inference *inf);
/* In a run: which meetings with this site were looked at (struct dh_chase_run)? And: look at one. */
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
    bool on;           /* there is a terminal that has room for it */
    int rows, columns; /* of the terminal, when it was last drawn; 0: it was not */
    int lines;         /* of the table */
    u64 start_us, budget_us, drawn_us;
    u64 pairs, runs; /* set by the caller, with the sum, before it shows them */
    struct dh_chase_sum sum;
    char now[256];                              /* what is being done */
    char outcomes[DH_CHASE_LIVE_OUTCOMES][256]; /* the last, in turns */
    int n_outcomes;
};
void dh_chase_live_begin(struct dh_chase_live *l, u64 start_us, u64 budget_us);
/* outcome: NULL if there is no new one. */
void dh_chase_live_show(struct dh_chase_live *l, const char *now, const char *outcome);
/* While something is done: the time goes on. NULL: there is no table. */
void dh_chase_live_tick(struct dh_chase_live *l);
/* Takes it away. */
void dh_chase_live_end(struct dh_chase_live *l);

/* cmd_chase.c: what a request is if nothing else is said. */
struct dh_chase_request dh_chase_defaults(void);
/* Opens the program and finds out whether it can be chased; closed by dh_chase_close_modules in any case. 0,
 * or the exit status after a sentence. */
int dh_chase_prepare(struct dh_chase_request *q);
/* How long steering holds a thread after so many runs in which that was too short (RaceMob, SOSP
 * 2013, section 3.2.3). */
u64 dh_chase_tau(u64 timeouts);
/* The file that records are appended to; -1: none. 0, or the exit status after a sentence. */
int dh_chase_open_output(const struct dh_chase_request *q, int *ret_fd);
/* What one run has cost. */
void dh_chase_print_stats(const struct dh_chase_trial *t);
/* Prints races as they come. */
struct dh_reporter *dh_chase_reporter(const struct dh_chase_request *q);

/* chase_all.c: writes --summary. 0, or the exit status after a sentence. */
int dh_chase_write_summary(struct dh_chase_request *q, const json_t *document);
/* Runs the program for one after the other, and sums up. The exit status. */
int dh_chase_many(struct dh_chase_request *q, struct dh_chase_candidates *c);

#endif
