/*
 * caper.h - what the files of `deadheat caper` share: a program, its state, and the sets that follow from
 * both.
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
    const char *command;    /* for sentences: "caper" */
    const char *state_name; /* as given */
    const char *program;    /* the file; absolute */
    struct dh_caper_build build;
    struct dh_caper_sets sets;
    struct dh_caper_state state;
    struct dh_caper_count count; /* of the sets, once they were counted */
    bool counted;
    u64 unasked; /* sites in a pair for which the program has no question: they count as escaped */
    /* Of the run: */
    bool alias; /* the analysis that is done, or that the state is of: dynamic alias analysis */
    bool migrate;
    enum dh_caper_ask ask;
    struct dh_caper_runfile run;
    u64 deadline_us;     /* by CLOCK_MONOTONIC: the program is ended then; 0: it is not */
    u64 grace_us;        /* how long it may take to end then, before it is killed */
    bool broken_off;     /* ... and it was */
    u64 new_sites, left; /* that this run, and what others have left, added to deSites; or pairs */
};

/* caper_open.c. All: 0, or DH_EXIT_TROUBLE after a sentence. */

/* Reads the program and finds the state. */
int dh_cli_caper_open(struct dh_cli_caper *c, const char *state, const char *program);
/* Reads the state as it is now, and makes the sets; a state of another build is refused, or carried over. */
int dh_cli_caper_load(struct dh_cli_caper *c);
void dh_cli_caper_count(struct dh_cli_caper *c);
void dh_cli_caper_close(struct dh_cli_caper *c);

/* caper_run.c: a run from its begin to its end, with the program in between. */
int dh_cli_caper_begin(struct dh_cli_caper *c);
/* Runs the program; its wait status, or the negative exit status after a sentence. */
int dh_cli_caper_run(struct dh_cli_caper *c, char **argv);
int dh_cli_caper_end(struct dh_cli_caper *c, int status);

/* caper_status.c, caper_export.c: the commands. The exit status. */
int dh_cli_caper_status(int argc, char **argv);
int dh_cli_caper_export(int argc, char **argv);
/* The state that both begin with, which must be there, and its program. */
int dh_cli_caper_look(struct dh_cli_caper *c, const char *state, const char *program);
/* The chosen pairs, grouped by variable, as a document of findings: of one variable at most `limit`, and of a
 * side `most` threads and places (0: all). */
void dh_cli_caper_list(struct dh_cli_caper *c, FILE *out, enum dh_print_format format, u64 limit, u64 most,
                       bool color, const char *narrowed);
/* Who chases a pair does not ask who runs it, and a program that is called from everywhere has hundreds of
 * threads to name: enough of a side. */
enum { DH_CLI_CAPER_THREADS = 8 };

#endif
