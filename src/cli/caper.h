/*
 * caper.h - what the files of `deadheat caper` share: a program, its state, and the sets derived from both.
 */
#ifndef DH_CLI_CAPER_H
#define DH_CLI_CAPER_H

#include "caper/alias.h"
#include "caper/build.h"
#include "caper/runfile.h"
#include "caper/sets.h"
#include "caper/state.h"
#include "report/print.h"

struct dh_cli_caper {
    struct dh_arena arena;
    const char *command;    /* for messages: "caper" */
    const char *state_name; /* as given */
    const char *program;    /* the file; absolute */
    struct dh_caper_build build;
    struct dh_caper_sets sets;
    struct dh_caper_state state;
    struct dh_caper_count count; /* of the sets, once counted */
    bool counted;
    u64 unasked; /* sites in a pair for which the program has no query: they count as escaped */
    /* For the run: */
    bool alias; /* the analysis being run, or of the state: dynamic alias analysis */
    bool migrate;
    enum dh_caper_ask ask;
    struct dh_caper_runfile run;
    u64 deadline_us;     /* by CLOCK_MONOTONIC: when to end the program; 0: never */
    u64 grace_us;        /* how long it may then take to end, before it is killed */
    bool broken_off;     /* ... and it was ended */
    u64 new_sites, left; /* that this run, and earlier unmerged ones, added to deSites; or pairs */
};

/* caper_open.c. All return 0, or DH_EXIT_TROUBLE after a message. */

/* Reads the program and finds the state. */
int dh_cli_caper_open(struct dh_cli_caper *c, const char *state, const char *program);
/* Reads the present state, and builds the sets; a state of another build is refused, or carried over. */
int dh_cli_caper_load(struct dh_cli_caper *c);
void dh_cli_caper_count(struct dh_cli_caper *c);
void dh_cli_caper_close(struct dh_cli_caper *c);

/* caper_run.c: the beginning and end of a run, with the program in between. */
int dh_cli_caper_begin(struct dh_cli_caper *c);
/* Runs the program; its wait status, or the negated exit status after a message. */
int dh_cli_caper_run(struct dh_cli_caper *c, char **argv);
int dh_cli_caper_end(struct dh_cli_caper *c, int status);

/* caper_status.c, caper_export.c: the commands. They return the exit status. */
int dh_cli_caper_status(int argc, char **argv);
int dh_cli_caper_export(int argc, char **argv);
/* Both start with this: loads the state, which must exist, and its program. */
int dh_cli_caper_look(struct dh_cli_caper *c, const char *state, const char *program);
/* The chosen pairs, grouped by variable, as a document of findings: at most `limit` for one variable, and
 * `most` threads and places for a side (0: all). */
void dh_cli_caper_list(struct dh_cli_caper *c, FILE *out, enum dh_print_format format, u64 limit, u64 most,
                       bool color, const char *narrowed);
/* Chasing a pair does not depend on which threads run it, and code that is called from everywhere has
 * hundreds of threads to name: this many per side are enough. */
enum { DH_CLI_CAPER_THREADS = 8 };

#endif
