/*
 * run_gather.h - the part of `deadheat run` that reports for all processes it starts, directly or indirectly.
 */
#ifndef DH_CLI_RUN_GATHER_H
#define DH_CLI_RUN_GATHER_H

#include <sys/types.h>

#include "base/options.h"
#include "report/print.h"

/* The variable through which processes find it; its value is the address. */
#define DH_RUN_ADDRESS "DEADHEAT_RUN"

enum { DH_RUN_ADDRESS_DIGITS = 32 };

struct dh_run_gather {
    char address[DH_RUN_ADDRESS_DIGITS + 1];
    pid_t pid;
    int control; /* shut down when the command has ended, after a byte if it ended abnormally; then the
                  * result is sent back */
};

struct dh_run_result {
    bool complete;     /* false: it did not finish, and the rest is unknown */
    bool instrumented; /* at least one process was */
    int status;        /* requested by a process that raced, or of an error; 0: neither */
};

struct dh_cli_baseline; /* cli/cmd.h */

enum { DH_RUN_DOCUMENTS = 16 };

/* What is reported, and where. */
struct dh_run_reports {
    const struct dh_options *settings;
    struct dh_cli_baseline *baseline;
    struct {
        enum dh_print_format format;
        const char *file;          /* NULL: it replaces the text, on standard error */
    } documents[DH_RUN_DOCUMENTS]; /* at the end */
    size_t n_documents;
};

/* Was this command started by another one, which gathers already? */
bool dh_run_gather_is_above(void);
/* Starts it, in its own process. 0 or a negative errno. `program` is the file that the command runs. */
int dh_run_gather_start(struct dh_run_gather *g, const struct dh_run_reports *reports, const char *program);
/* Closes the descriptors a program gets, except standard error and these. */
void dh_run_gather_let_go(const int *kept, size_t n);
/* The command has ended: prints the summary. partial: it ended abnormally, and may not have done all it was
 * meant to. */
struct dh_run_result dh_run_gather_finish(struct dh_run_gather *g, bool partial);

#endif
