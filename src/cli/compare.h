/*
 * compare.h - shared by the parts of `deadheat compare`: what each detector cost and found, and the ground
 * truth to compare with.
 *
 * A warning is a variable and a pair of places. A variable has a name: the one in a text trace, or that of
 * the global in the recorded program, where an array counts once. Other memory has no name that would be the
 * same in two runs, so it is counted by the place in the source that accesses it, as FastTrack's paper counts
 * arrays.
 */
#ifndef DH_CLI_COMPARE_H
#define DH_CLI_COMPARE_H

#include "detect/host.h"
#include "util/arena.h"
#include "util/map.h"

enum { DH_COMPARE_ROWS = 40 };

struct dh_compare_warning {
    const char *variable;
    const char *site[2]; /* "?": the detector does not remember it; the smaller text first */
    bool write[2];       /* meaningless for a site that is not remembered */
};

struct dh_compare_row {
    const char *name;
    const struct dh_detector_ops *ops; /* NULL: the program itself, or its recording */
    const char *how;                   /* "trace", "online", "offline", "native" */
    double seconds;
    double cpu;                          /* processor time in seconds */
    u64 peak;                            /* maximum resident bytes */
    const char *error;                   /* NULL: it saw everything */
    const char *note;                    /* NULL, or anything else unusual */
    struct dh_compare_warning *warnings; /* distinct */
    size_t n_warnings, cap_warnings;
    /* Filled by dh_compare_count. */
    const char **variables, **pairs; /* distinct, sorted; a pair is "a - b" */
    size_t n_variables, n_pairs;
    const char **only; /* variables in no other row */
    size_t n_only, n_only_pairs;
    /* Filled by dh_truth_judge. */
    const char **found, **missed; /* real races */
    const char **wrong;           /* variables */
    size_t n_found, n_missed, n_wrong;
};

struct dh_truth;

struct dh_compare {
    struct dh_arena arena;
    const char *subject; /* the trace, or the program with its arguments */
    bool is_program;
    bool partial; /* the trace is empty or incomplete: no race in it means nothing */
    u64 events;   /* of the trace or recording; 0: there is none */
    u32 threads, locks, cells;
    u64 window;
    u64 timeout; /* seconds a detector may take; 0: no limit */
    u64 rounds;
    struct dh_compare_row rows[DH_COMPARE_ROWS];
    u32 n;
    struct dh_truth *truth; /* NULL: not known */
};

/* compare_trace.c: one detector over a trace, in its own process. 0, or DH_EXIT_TROUBLE if the trace itself
 * is bad (after a message); what happens to the detector is in the row. */
int dh_compare_trace(struct dh_compare *c, struct dh_compare_row *row, const char *file, bool quiet);

/* compare_program.c: one row each; errors are in the row. */
void dh_compare_native(struct dh_compare *c, struct dh_compare_row *row, char **argv);
void dh_compare_record(struct dh_compare *c, struct dh_compare_row *row, char **argv, const char *file);
void dh_compare_online(struct dh_compare *c, struct dh_compare_row *row, char **argv, const char *file);

/* compare_child.c: processes with their cost. */
struct dh_compare_child {
    int status; /* as wait(2) gives it */
    double seconds, cpu;
    u64 peak;
    bool timed_out;
};
/* Runs in a new process, which ends when it returns; 0 or a negative errno. */
int dh_compare_child_run(void (*run)(void *ctx), void *ctx, u64 timeout, struct dh_compare_child *ret);
/* The same, returning what it writes to the descriptor it is given; NULL if that is not JSON. */
struct json_t *dh_compare_child_read(void (*run)(void *ctx, int fd), void *ctx, u64 timeout,
                                     struct dh_compare_child *ret);
/* What to remove at the end, or if a signal ends this process: files, terminated by NULL, and their
 * directory. */
void dh_compare_child_litter(const char *const *files, const char *dir);
void dh_compare_child_clean(void);
/* What is wrong with how it ended, or NULL. */
const char *dh_compare_child_error(struct dh_compare *c, const struct dh_compare_child *child);

/* compare_count.c */
void dh_compare_add(struct dh_compare *c, struct dh_compare_row *row, const char *variable, const char *a,
                    bool a_write, const char *b, bool b_write);
/* A name for memory without one: one of the places that access it. */
const char *dh_compare_unnamed(struct dh_arena *arena, const char *a, const char *b);
void dh_compare_count(struct dh_compare *c);
/* The row's time as a multiple of that of the row of this name; 0: unknown. */
double dh_compare_over(const struct dh_compare *c, const struct dh_compare_row *row, const char *name);
bool dh_compare_has(const char *const *list, size_t n, const char *text); /* in a sorted list */
/* All variables of all rows, sorted. */
const char **dh_compare_variables(struct dh_compare *c, size_t *ret_n);

/* compare_truth.c. NULL after a message. */
struct dh_truth *dh_truth_read(struct dh_arena *arena, const char *file);
void dh_truth_judge(struct dh_compare *c);

/* compare_out.c. In "text", "csv", "json" or "html". */
void dh_compare_print(struct dh_compare *c, const char *format);

#endif
