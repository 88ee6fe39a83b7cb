/*
 * run_gather.h - the part of `deadheat run` that reports for all processes below it.
 */
#ifndef DH_CLI_RUN_GATHER_H
#define DH_CLI_RUN_GATHER_H

#include <sys/types.h>

#include "base/options.h"
#include "report/print.h"

/* The variable by which processes learn of it; its value is the address. */
#define DH_RUN_ADDRESS "DEADHEAT_RUN"

enum { DH_RUN_ADDRESS_DIGITS = 32 };

struct dh_run_gather {
    char address[DH_RUN_ADDRESS_DIGITS + 1];
    pid_t pid;
    int control; /* shut down when the command has ended, after a byte if it did not end well; then the result
                    comes back */
};

struct dh_run_result {
    bool complete;     /* false: it did not come to its end, and the rest is not known */
    bool instrumented; /* some process was */
    int status;        /* that some process which raced asks for, or of trouble; 0: none does */
};

struct dh_cli_baseline; /* cli/cmd.h */

enum { DH_RUN_DOCUMENTS = 16 };

/* What is told, and where. */
struct dh_run_reports {
    const struct dh_options *settings;
    struct dh_cli_baseline *baseline;
    struct {
        enum dh_print_format format;
        const char *file;          /* NULL: it takes the place of the text, on standard error */
    } documents[DH_RUN_DOCUMENTS]; /* at the end */
    size_t n_documents;
};

/* Is this command run by another one, which gathers already? */
bool dh_run_gather_is_above(void);
/* Start it, in a process of its own. 0 or a negative errno. `program` is the file that the command runs. */
int dh_run_gather_start(struct dh_run_gather *g, const struct dh_run_reports *reports, const char *program);
/* Leave only standard error and these two descriptors open, of those that a program gets. */
void dh_run_gather_let_go(int first, int second);
/* The command has ended: print the summary. partial: it did not end well, and may not have done all that it
 * was to. */
struct dh_run_result dh_run_gather_finish(struct dh_run_gather *g, bool partial);

#endif
