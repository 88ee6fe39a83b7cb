/*
 * cmd.h - the commands. Each gets its own name as argv[0] and returns the exit status of the program.
 */
#ifndef DH_CLI_CMD_H
#define DH_CLI_CMD_H

#include <stdarg.h>
#include <stdio.h>
#include <sys/types.h>

#include "report/print.h"

struct dh_arena; /* util/arena.h */

enum {
    DH_EXIT_TROUBLE = 2, /* bad usage or bad input: deadheat could not do what was asked */
    DH_EXIT_RACES = 66,
};

int dh_cmd_agent(int argc, char **argv);
int dh_cmd_caper(int argc, char **argv);
int dh_cmd_cc(int argc, char **argv);
int dh_cmd_crowd(int argc, char **argv);
int dh_cmd_cxx(int argc, char **argv);
int dh_cmd_chase(int argc, char **argv);
int dh_cmd_hive(int argc, char **argv);
int dh_cmd_pipeline(int argc, char **argv);
int dh_cmd_run(int argc, char **argv);
int dh_cmd_record(int argc, char **argv);
int dh_cmd_report(int argc, char **argv);
int dh_cmd_analyze(int argc, char **argv);
int dh_cmd_compare(int argc, char **argv);
int dh_cmd_detectors(int argc, char **argv);
int dh_cmd_static(int argc, char **argv);
int dh_cmd_test(int argc, char **argv);
int dh_cmd_trace(int argc, char **argv);

/* part.c: becomes a separate program installed next to the libraries, with these arguments. Returns only if
 * it cannot, with the exit status after a message. */
int dh_cli_become_part(const char *command, const char *program, char **argv);

/* usage.c: "deadheat CMD: error: ..." to standard error; returns DH_EXIT_TROUBLE. */
__attribute__((format(printf, 2, 3))) int dh_cli_fail(const char *command, const char *format, ...);
int dh_cli_vfail(const char *command, const char *format, va_list args);
/* The same as a warning. */
__attribute__((format(printf, 2, 3))) void dh_cli_warn(const char *command, const char *format, ...);
/* elfcheck.c: may this program be run? 0, or the exit status after a message. */
int dh_cli_check_program(struct dh_arena *arena, const char *command, const char *name, bool force);
/* filter.c: sets the environment that tells the program which of its checks to switch off, according to a
 * state of `deadheat caper`. 0, or DH_EXIT_TROUBLE after a message. */
int dh_cli_filter(const char *command, const char *state, const char *program);
/* 10ms, 500us, 1s, 2.5ms. False if it is not a time, or 0, or more than a minute. */
bool dh_cli_time(const char *text, u64 *ret_us);
/* 90s, 10m, 8h. False if it is not a time, or less than a second, or more than a year. */
bool dh_cli_budget(const char *text, u64 *ret_us);
/* 0% to 100%, as a fraction. */
bool dh_cli_percent(const char *text, double *ret);
/* If arg is --NAME=VALUE returns VALUE, else NULL. */
const char *dh_cli_value(const char *arg, const char *name);
/* The same for the argument at i; `--NAME VALUE` is accepted, too, and then i moves on to VALUE. */
const char *dh_cli_argument(char **argv, int *i, const char *name);
/* Reads the flags of a command that runs a program: the arguments after its name that begin with '-', up to
 * "--". set() is called for each; if it uses the following argument as well, it moves i on. *ret_program is
 * the index of the program; argv ends there if none was named. 0, DH_CLI_HELP, or what set() returned. */
enum { DH_CLI_HELP = -1 }; /* --help or -h was among them */
int dh_cli_flags(char **argv, int (*set)(void *request, char **argv, int *i), void *request,
                 int *ret_program);
/* The word closest to what was typed, or NULL if none is close. */
const char *dh_cli_nearest(const char *typed, size_t len, const char *const *words, size_t n);
/* Report that an argument is not a flag of the command, or needs a value, or (cmd_detectors.c) that a
 * detector does not exist, and which is closest; both return DH_EXIT_TROUBLE. */
int dh_cli_unknown_flag(const char *command, const char *arg, const char *const *flags, size_t n);
int dh_cli_unknown_detector(const char *command, const char *name, size_t len);
/* Prints the help of a command that has --format; returns 0. */
int dh_cli_usage(const char *text);
/* The format of a document, by its name. 0, or DH_EXIT_TROUBLE after a message. */
int dh_cli_format(const char *command, const char *name, enum dh_print_format *ret);
/* Reads a file of suppressions; bad lines are reported. 0, or DH_EXIT_TROUBLE after a message. */
int dh_cli_suppressions(const char *command, const char *file, struct dh_suppress *ret);

/* baseline.c: --baseline=FILE and --update-baseline. */
struct dh_cli_baseline {
    const char *file; /* NULL: none */
    bool update;
    struct dh_baseline *is; /* NULL: none */
};
#define DH_CLI_BASELINE_HELP                                                                   \
    "  --baseline=FILE       treat the findings in this file as known and only count them: a " \
    "--format=json\n"                                                                          \
    "                        document, race records, or fingerprints\n"                        \
    "  --update-baseline     write the findings to that file; then none of them is new\n"
/* Is the argument one of these flags? If so, it is parsed. */
bool dh_cli_baseline_flag(struct dh_cli_baseline *b, const char *arg);
/* Reads the file. 0, or DH_EXIT_TROUBLE after a message. */
int dh_cli_baseline_load(const char *command, struct dh_cli_baseline *b);
/* Called after all findings were compared: writes the file if requested, unless the status means trouble, and
 * frees. partial: not everything was analysed, so nothing is removed from it. Returns the exit status, given
 * what it would be otherwise: races that were just recorded are no reason to fail. */
int dh_cli_baseline_end(const char *command, struct dh_cli_baseline *b, bool partial, int status);

/* color=auto|always|never for output to this descriptor. */
bool dh_cli_wants_color(const char *choice, int fd);

/* child.c: the program that a command runs. One at a time. */
/* Calls become(ctx), which does not return, in a new process; signals are passed on to it. Its pid, or a
 * negative errno. */
pid_t dh_cli_child_start(void (*become)(void *ctx), void *ctx);
/* In a new process: signals are ignored and blocked as when this command was started. */
void dh_cli_child_signals(void);
/* Has it ended, and with which wait status? */
bool dh_cli_child_ended(pid_t pid, int *ret_status);
/* The last of SIGINT, SIGTERM, SIGHUP and SIGQUIT that came to this process, and was passed on, since the
 * program was started; 0: none. It may have handled it. */
int dh_cli_child_end_signal(void);
/* Waits for its end. Its wait status. */
int dh_cli_child_wait(pid_t pid);
/* The exit status that a shell would derive from this wait status. */
int dh_cli_child_status(int status);
/* Ends this process by the same signal if the child was ended by one; otherwise returns the exit status. */
int dh_cli_child_end_like(int status);

/* client.c: a command to run alongside the program that child.c starts, and whose end ends the program; NULL:
 * none. A program that ends by that signal counts as successful. */
void dh_cli_client_set(const char *command);
/* For child.c: the program has started; it has ended with this wait status. Returns the wait status to
 * use. */
void dh_cli_client_start(pid_t pid);
int dh_cli_client_stop(int status);

/* usage.c: for reporting on behalf of other processes. Ignores the signals that end them, and calls work(ctx)
 * with a large enough stack whatever their limits are. Returns its result. */
int dh_cli_report_for_others(int (*work)(void *ctx), void *ctx);

/* openmp.c: if the program uses LLVM's OpenMP, makes its runtime report its synchronisation, through
 * environment variables for the program; or warns that it cannot. */
void dh_cli_prepare_openmp(struct dh_arena *arena, const char *command, const char *name);
/* The same for programs that a launcher may start, without a warning. */
void dh_cli_prepare_openmp_below(struct dh_arena *arena);

/* elfcheck.c */
enum dh_elfcheck {
    DH_ELFCHECK_INSTRUMENTED,
    DH_ELFCHECK_PLAIN,     /* an ELF program that deadheat did not compile */
    DH_ELFCHECK_OTHER,     /* not ELF: a script, say */
    DH_ELFCHECK_UNREADABLE /* errno says why */
};
enum dh_elfcheck dh_elfcheck_file(const char *path);

#endif
