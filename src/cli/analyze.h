/*
 * analyze.h - shared by the parts of `deadheat analyze`: running the detectors, proving what they found, and
 * reporting it.
 */
#ifndef DH_CLI_ANALYZE_H
#define DH_CLI_ANALYZE_H

#include "cli/trace_in.h"
#include "cli/trace_view.h"
#include "detect/habit.h"
#include "report/print.h"

enum { DH_ANALYZE_MAX = 32, DH_ANALYZE_HOLD = 10000000, DH_ANALYZE_MEMORY = 4096 };

enum dh_analyze_list {
    DH_LIST_VARIABLES, /* the first race of each variable */
    DH_LIST_EVENTS,    /* one race of each racy event */
    DH_LIST_NONE,
};

/* Whether there is a proof for a race of a predictive detector. */
enum dh_analyze_proof {
    DH_PROOF_NONE, /* no reordering shows it */
    DH_PROOF_OPEN, /* none was found within the search limit */
    DH_PROOF_PART, /* none was found in the part of the trace, from its beginning, that is held */
    DH_PROOF_CHECKED,
    DH_PROOF_BEYOND, /* the race is outside the part of the trace that is held */
    DH_PROOF_SPENT,  /* witnesses already have as many events as detect/witness.h allows */
    DH_PROOF_NO_MEMORY,
    DH_PROOF_THREADS, /* more than DH_PREDICT_THREADS at the same time */
    DH_PROOF_ONCE,    /* the trace cannot be read again, or has changed */
};

struct dh_analyze_race {
    struct dh_race race;
    size_t others, n_others; /* other earlier accesses reported with this one */
    enum dh_analyze_proof proof;
    u64 count;                         /* racy events that it stands for; 0: they were not counted */
    size_t variant;                    /* the next race with the same cause; 0: none */
    struct dh_model_race *model;       /* in a recording: with stacks and locks; NULL: they are not known */
    const struct dh_habit *habit;      /* NULL: not requested */
    struct dh_finding_moment *moments; /* around it, in the order of the trace */
    size_t n_moments;
};

enum { DH_ANALYZE_MOMENTS = 32 };

/* The races to list for one detector. */
struct dh_analyze_found {
    struct dh_analyze_race *races;
    size_t n, cap;
    size_t n_causes; /* this many, the first ones, are reported; the others are variants of these */
    struct dh_race_access *others;
    size_t n_others, cap_others;
    struct dh_table seen; /* one byte per variable */
    size_t n_known;       /* this many, the last of those, are in the baseline */
    u64 suppressed;       /* pairs of places */
    bool raced;           /* there is a race that is neither suppressed nor in the baseline */
};

enum dh_analyze_wanted { DH_WANTED_UNKNOWN, DH_WANTED_YES, DH_WANTED_NO };

struct dh_analyze {
    enum dh_print_format format;
    enum dh_analyze_list list;
    u64 limit; /* races listed per detector, in text and HTML; 0: all */
    u64 window;
    u64 memory; /* megabytes a detector may use */
    u64 hold;   /* events held to find witnesses for detectors that hold none */
    struct dh_dht_view view;
    char *variables[DH_ANALYZE_MAX]; /* only these; none: all */
    u32 n_variables;
    struct dh_table wanted; /* for each variable: one of enum dh_analyze_wanted */
    struct dh_suppress rules;
    struct dh_baseline *baseline; /* NULL: none */
    bool bare;                    /* do not look for stacks and locks */
    bool full_names;              /* of C++ */
    struct dh_arena arena;        /* holds what follows: */
    struct dh_model model;        /* races of a recording, if there are some */
    struct dh_symbol *symbols;    /* NULL: there are none */
    struct dh_source source;
    bool all;     /* list races with the same cause individually */
    bool witness; /* show the events of witnesses, not only their number */
    const struct dh_detector_ops *ops[DH_ANALYZE_MAX];
    u32 n;
    struct dh_trace_in in;
    struct dh_host *host;
    struct dh_analyze_found found[DH_ANALYZE_MAX];
    struct dh_habit *habits; /* of the races that are reported */
};

/* A complete witness of n events: those before `start` are not in the sequence. */
u32 *dh_analyze_witness(u64 start, const u32 *sequence, u64 n);
/* The number of events to hold for this one and what its witness may need. */
u64 dh_analyze_reach(u64 event);
/* Reads the trace and runs the detectors. 0, or DH_EXIT_TROUBLE after a message. */
int dh_analyze_run(struct dh_analyze *a);
void dh_analyze_confirm(struct dh_analyze *a);
/* analyze_model.c: finds the stacks and locks of the races of a recording. */
void dh_analyze_model(struct dh_analyze *a);
void dh_analyze_model_done(struct dh_analyze *a);
/* How many races of a detector are reported, of those that dh_analyze_group leaves. */
size_t dh_analyze_listed(const struct dh_analyze *a, u32 i);
/* Those, plus their variants in formats that include them. */
size_t dh_analyze_told(const struct dh_analyze *a, u32 i);
/* Opens the same file again, from its beginning and in the same view, whatever has happened to its name;
 * false: it is a pipe. */
bool dh_analyze_open_again(struct dh_trace_in *again, const struct dh_analyze *a);
/* analyze_hint.c: additional advice on what is reported. For a race with names it is added later. */
void dh_analyze_hint(struct dh_analyze *a);
void dh_analyze_hint_names(struct dh_analyze *a, struct dh_arena *arena, const struct dh_analyze_race *r,
                           struct dh_finding *f);
void dh_analyze_group(struct dh_analyze *a);
struct dh_finding *dh_analyze_finding(struct dh_analyze *a, struct dh_arena *arena, u32 detector,
                                      const struct dh_analyze_race *r);
/* analyze_timeline.c: for the HTML page, what the threads of each race did around it. */
void dh_analyze_timeline(struct dh_analyze *a);
/* A race with its variants, compared with the baseline. */
struct dh_finding *dh_analyze_finding_of_cause(struct dh_analyze *a, struct dh_arena *arena, u32 detector,
                                               const struct dh_analyze_race *r);
void dh_analyze_print(struct dh_analyze *a);

#endif
