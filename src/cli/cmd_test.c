/*
 * cmd_test.c - `deadheat test`: runs a program or a test suite many times, and reports how often each race
 * appeared.
 *
 * Each run is a separate `deadheat run`, which writes its records to a file in a directory that is removed in
 * the end; its output goes to a file next to it. When a run has ended, its records are read by the one
 * reporter of all runs, so that findings, baselines and formats are the same as with `deadheat report`.
 *
 * An interrupt ends the runs, and what was found so far is reported. The handler itself passes it on to them:
 * whether it comes before the command waits for them or during the wait, they end, and so does the wait.
 *
 * Each run is a process group, so that everything a test suite has started ends with it. That makes it a
 * background group, which may not read from the terminal; so its input is not the terminal.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/options.h"
#include "cli/cmd.h"
#include "report/reporter.h"
#include "util/output.h"
#include "util/path.h"
#include "util/text.h"

enum {
    RUNS = 10,
    MOST_RUNS = 1000000,
    MOST_JOBS = 256,
    PATIENCE = 3,    /* seconds */
    TIMED_OUT = 124, /* the status of a run that took too long, as with timeout(1) */
};

static const char usage[] =
    "usage: deadheat test [-n RUNS] [-j JOBS] [OPTIONS] [--] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Runs a program or a test suite many times, and reports the data races of all runs: each once, with the\n"
    "share of runs in which it appeared and a confidence interval. The program's output is shown for the "
    "first\n"
    "run that fails.\n"
    "\n"
    "  -n RUNS               number of runs (default: 10)\n"
    "  -j JOBS               number of runs at a time (default: 1)\n"
    "  --timeout=TIME        end a run that takes longer, such as 90s, 5m or 1h; it counts as failed, and\n"
    "                        its races count (default: none)\n"
    "  --format=FORMAT       text (default), or one of those below\n"
    "  --output=FILE, -o FILE\n"
    "                        write the report there instead of standard output\n"
    "  --suppressions=FILE   do not report races that match, in ThreadSanitizer's "
    "syntax\n" DH_CLI_BASELINE_HELP
    "  --all                 print races with the same cause one by one\n"
    "  --full-names          show C++ names in full, with default template arguments\n"
    "\n"
    "All other options are those in the second list of 'deadheat run --help', and apply to each run, except\n"
    "--record-fd, --exitcode, --report and --reporter.\n"
    "\n"
    "Exit status: 66 if there was a race that is not in the baseline; otherwise that of the first run that\n"
    "failed, or 0 if none did; 2 for bad usage, or if nothing that ran was compiled with deadheat.\n"
    "\n"
    "Example:\n"
    "  deadheat test -n 100 -j 4 --baseline=known.json -- ctest\n";

/* A run; the handler reads its pid. */
struct job {
    u64 number;
    u64 deadline;              /* in ms; 0: none */
    volatile sig_atomic_t pid; /* and process group; 0: none */
    bool late;                 /* it was asked to end at its deadline, and has until the next one to do so */
};

static struct job jobs[MOST_JOBS];
static volatile sig_atomic_t interrupted; /* by this signal; 0: not */
static struct dh_options checked;         /* only to find errors before anything is run */

struct request {
    struct dh_arena arena;
    u64 runs, n_jobs;
    u64 timeout; /* in ms; 0: none */
    const char *suppressions, *output, *color;
    enum dh_print_format format;
    struct dh_cli_baseline baseline;
    bool all, full_names;
    const char **options; /* for each run */
    size_t n_options;
    char **program;
    /* While they run: */
    const char *directory;
    struct dh_reporter *reporter;
    bool progress; /* a line of it is on the terminal */
    u64 done, failed, late;
    int first_failure; /* exit status */
};

/* ---- Signals ------------------------------------------------------------------------------------------- */

static void pass_on(int number)
{
    int error = errno;
    bool again = interrupted != 0;
    if (number == SIGALRM && !again)
        return; /* time to look for runs that take too long */
    if (!again)
        interrupted = number;
    for (size_t i = 0; i < DH_ARRAY_LEN(jobs); i++)
        if (jobs[i].pid)
            kill(-jobs[i].pid, again ? SIGKILL : SIGTERM);
    alarm(PATIENCE); /* for those that do not end when asked */
    errno = error;
}

static void take_signals(void)
{
    signal(SIGCHLD, SIG_DFL); /* if it were ignored, there would be no waiting */
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};
    for (size_t i = 0; i < DH_ARRAY_LEN(numbers); i++) {
        struct sigaction sa = {.sa_handler = pass_on};
        sigaction(numbers[i], &sa, NULL);
    }
}

/* ---- One run ------------------------------------------------------------------------------------------- */

static const char *file_of(struct request *q, u64 number, const char *kind)
{
    return dh_arena_printf(&q->arena, "%s/%" PRIu64 ".%s", q->directory, number, kind);
}

static void become_run(struct request *q, const char *self, u64 number, const sigset_t *before)
{
    size_t n = 0, n_program = 0;
    while (q->program[n_program])
        n_program++;
    const char **argv = dh_arena_array(&q->arena, q->n_options + n_program + 8, sizeof(*argv));
    const char *fixed[] = {
        "deadheat",   "run",          "--force",
        "--report=0", "--exitcode=0", dh_arena_printf(&q->arena, "--output=%s", file_of(q, number, "jsonl"))};
    for (size_t i = 0; i < DH_ARRAY_LEN(fixed); i++)
        argv[n++] = fixed[i];
    for (size_t i = 0; i < q->n_options; i++)
        argv[n++] = q->options[i];
    argv[n++] = "--";
    for (size_t i = 0; i < n_program; i++)
        argv[n++] = q->program[i];
    int out = open(file_of(q, number, "out"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int in = isatty(STDIN_FILENO) ? open("/dev/null", O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (out < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0 || dup2(in, STDIN_FILENO) < 0)
        _exit(DH_EXIT_TROUBLE);
    sigprocmask(SIG_SETMASK, before, NULL);
    execv(self, (char **)argv);
    _exit(DH_EXIT_TROUBLE);
}

static u64 now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (u64)now.tv_sec * 1000 + (u64)now.tv_nsec / 1000000;
}

/* 0 or a negative errno. Signals are held until the handler knows of it. */
static int start(struct request *q, const char *self, struct job *job, u64 number)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    fflush(NULL);
    pid_t pid = fork();
    int error = errno;
    if (pid >= 0)
        setpgid(pid, 0); /* in both processes: neither may continue before it is done */
    if (pid == 0)
        become_run(q, self, number, &before);
    *job = (struct job){.number = number, .deadline = q->timeout ? now_ms() + q->timeout : 0};
    job->pid = pid > 0 ? pid : 0;
    if (pid > 0 && interrupted)
        kill(-pid, SIGTERM);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return pid < 0 ? -error : 0;
}

/* The end of the output of the first run that failed. */
static void show_failure(struct request *q, u64 number, int status, bool late)
{
    enum { SHOWN = 4096 };
    char text[SHOWN + 1];
    int fd = open(file_of(q, number, "out"), O_RDONLY | O_CLOEXEC);
    off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    ssize_t n = fd < 0 ? 0 : pread(fd, text, SHOWN, size > SHOWN ? size - SHOWN : 0);
    text[n > 0 ? n : 0] = '\0';
    if (fd >= 0)
        close(fd);
    const char *how =
        dh_arena_printf(&q->arena, "%s %d", WIFSIGNALED(status) ? "was ended by signal" : "ended with status",
                        WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    fprintf(stderr, "deadheat test: run %" PRIu64 " %s%s\n", number,
            late ? "took too long and was ended" : how, n > 0 ? "; the end of what it printed:" : "");
    for (char *at = text, *end; *at; at = end) {
        end = at + strcspn(at, "\n");
        fputs("    ", stderr);
        dh_text_put_line(stderr, at, (size_t)(end - at));
        fputc('\n', stderr);
        end += *end == '\n';
    }
}

static void clear_progress(const struct request *q)
{
    if (q->progress)
        fputs("\r\033[K", stderr);
}

/* Reads its records, and removes its files. */
static void finish(struct request *q, u64 number, int status, bool late)
{
    const char *records = file_of(q, number, "jsonl");
    int fd = open(records, O_RDONLY | O_CLOEXEC);
    clear_progress(q);
    /* A run that was interrupted does not count. */
    if (!interrupted) {
        dh_reporter_begin_run(q->reporter);
        q->done++;
    }
    if (fd >= 0) {
        dh_reporter_read(q->reporter, fd, records);
        close(fd);
    }
    if ((status != 0 || late) && !interrupted) {
        q->late += late;
        if (!q->failed++) {
            q->first_failure = late ? TIMED_OUT : dh_cli_child_status(status);
            show_failure(q, number, status, late);
        }
    }
    unlink(records);
    unlink(file_of(q, number, "out"));
    if (q->progress)
        fprintf(stderr, "%" PRIu64 " of %" PRIu64 " runs, %" PRIu64 " races, %" PRIu64 " failed", q->done,
                q->runs, dh_reporter_races(q->reporter), q->failed);
    fflush(stderr);
}

/* ---- All of them --------------------------------------------------------------------------------------- */

/* A run that is asked to end writes what it has found. One that does not end is killed. */
static void end_late_runs(struct request *q)
{
    u64 now = now_ms();
    for (size_t i = 0; i < q->n_jobs; i++) {
        struct job *job = &jobs[i];
        if (!job->pid || !job->deadline || now < job->deadline)
            continue;
        kill(-job->pid, job->late ? SIGKILL : SIGTERM);
        job->late = true;
        job->deadline = now + PATIENCE * 1000;
    }
}

/* The next run that has ended, or NULL if a signal came. */
static struct job *wait_for_one(struct request *q, int *ret_status)
{
    siginfo_t info = {0};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) != 0)
        return NULL;
    struct job *job = NULL;
    for (size_t i = 0; i < q->n_jobs && !job; i++)
        job = jobs[i].pid == info.si_pid ? &jobs[i] : NULL;
    if (job && job->late)
        kill(-job->pid, SIGKILL); /* what it left behind; its number cannot have been reused yet */
    waitpid(info.si_pid, ret_status, 0);
    return job;
}

static int run_all(struct request *q, const char *self)
{
    u64 next = 1, running = 0;
    int rc = 0;
    /* If one comes before the wait, the next one makes up for it. */
    const struct itimerval tick = {.it_interval = {.tv_usec = 200000}, .it_value = {.tv_usec = 200000}};
    if (q->timeout)
        setitimer(ITIMER_REAL, &tick, NULL);
    while (running || (next <= q->runs && !interrupted && !rc)) {
        for (size_t i = 0; i < q->n_jobs && next <= q->runs && !interrupted && !rc; i++) {
            if (jobs[i].pid)
                continue;
            rc = start(q, self, &jobs[i], next);
            running += !rc;
            next += !rc;
        }
        int status;
        struct job *ended = running ? wait_for_one(q, &status) : NULL;
        if (!interrupted)
            end_late_runs(q);
        if (!ended)
            continue;
        ended->pid = 0;
        running--;
        finish(q, ended->number, status, ended->late);
    }
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    clear_progress(q);
    return rc;
}

static int judge(struct request *q, const struct dh_reporter_result *result)
{
    int rc = 0;
    if (result->bad_suppressions)
        rc = DH_EXIT_TROUBLE;
    else if (result->races > result->known)
        rc = DH_EXIT_RACES;
    else if (q->failed)
        rc = q->first_failure;
    else if (!result->processes && !interrupted)
        rc = dh_cli_fail("test",
                         "nothing that ran was compiled by deadheat, so no race could be seen; build it with "
                         "'deadheat cc'");
    return dh_cli_baseline_end("test", &q->baseline, q->failed || interrupted, rc);
}

static int test(struct request *q, const char *self, struct dh_output *to)
{
    struct dh_reporter_result result;
    const struct dh_reporter_options options = {
        .out = to->stream ? to->stream : stdout,
        .messages = stderr,
        .input = q->program[0],
        .command = "test",
        .suppressions = q->suppressions,
        .baseline = q->baseline.is,
        .print = true,
        .format = q->format,
        .all = q->all,
        .color = dh_cli_wants_color(q->color, to->stream ? to->fd : STDOUT_FILENO),
        .source = true,
        .full_names = q->full_names,
    };
    q->reporter = dh_reporter_new(&options);
    take_signals();
    int rc = run_all(q, self);
    if (rc)
        dh_cli_fail("test", "cannot start a run: %s", strerror(-rc));
    if (interrupted)
        fprintf(stderr, "deadheat test: interrupted after %" PRIu64 " of %" PRIu64 " runs\n", q->done,
                q->runs);
    else if (q->failed)
        fprintf(stderr, "deadheat test: %" PRIu64 " of %" PRIu64 " runs failed%s\n", q->failed, q->done,
                q->late ? dh_arena_printf(&q->arena, ", %" PRIu64 " of them by taking too long", q->late)
                        : "");
    dh_reporter_finish(q->reporter, &result);
    int status = judge(q, &result);
    return rc ? DH_EXIT_TROUBLE : status;
}

/* ---- The command --------------------------------------------------------------------------------------- */

static int set_count(const char *flag, const char *value, u64 most, u64 *ret)
{
    char *end;
    unsigned long long n = value && value[0] >= '1' && value[0] <= '9' ? strtoull(value, &end, 10) : 0;
    if (n == 0 || *end || n > most)
        return dh_cli_fail("test", "%s needs a number from 1 to %" PRIu64, flag, most);
    *ret = n;
    return 0;
}

/* Seconds may have no unit, as in 'deadheat compare'. */
static int set_timeout(struct request *q, const char *value)
{
    u64 us, seconds;
    char *end;
    if (!dh_cli_budget(value, &us)) {
        errno = 0;
        seconds = value[0] >= '1' && value[0] <= '9' ? strtoull(value, &end, 10) : 0;
        if (!seconds || *end || errno || seconds > 366 * 86400)
            return dh_cli_fail("test", "--timeout cannot be '%s'; it must be a time such as 90s, 5m or 1h",
                               value);
        us = seconds * 1000000;
    }
    q->timeout = us / 1000;
    return 0;
}

/* An option of `deadheat run`, for each run. */
static int add_option(struct request *q, const char *arg)
{
    static const char *const own[] = {"--format",          "--output", "--suppressions", "--baseline",
                                      "--update-baseline", "--all",    "--timeout",      "--full-names",
                                      "--color",           "--help"};
    static const char *const others[] = {"report", "exitcode", "reporter", "record-fd"};
    struct dh_options_error err;
    size_t len = strcspn(arg, "=");
    const char *value = arg[len] ? arg + len + 1 : "1";
    if (strncmp(arg, "--", 2) != 0 || !dh_options_is_known(arg + 2, len - 2))
        return dh_cli_unknown_flag("test", arg, own, DH_ARRAY_LEN(own));
    for (size_t i = 0; i < DH_ARRAY_LEN(others); i++)
        if (strlen(others[i]) == len - 2 && memcmp(others[i], arg + 2, len - 2) == 0)
            return dh_cli_fail("test", "%.*s is no option for runs that are counted", (int)len, arg);
    if (!arg[len] && !dh_options_is_switch(arg + 2, len - 2))
        return dh_cli_fail("test", "%s needs a value: %s=VALUE", arg, arg);
    if (dh_options_set_flag(&checked, arg, len, value, strlen(value), &err) != 0)
        return dh_cli_fail("test", "%s", err.text);
    q->options[q->n_options++] = arg;
    return 0;
}

static int set_flag(struct request *q, char **argv, int *i)
{
    const char *arg = argv[*i], *v;
    if (strcmp(arg, "-n") == 0)
        return set_count("-n", argv[++*i], MOST_RUNS, &q->runs);
    if (strcmp(arg, "-j") == 0)
        return set_count("-j", argv[++*i], MOST_JOBS, &q->n_jobs);
    if (dh_cli_baseline_flag(&q->baseline, arg))
        return 0;
    if ((v = dh_cli_value(arg, "format")))
        return dh_cli_format("test", v, &q->format);
    if ((v = dh_cli_value(arg, "timeout")))
        return set_timeout(q, v);
    if (strcmp(arg, "-o") == 0 && argv[*i + 1])
        q->output = argv[++*i];
    else if ((v = dh_cli_value(arg, "output")))
        q->output = v;
    else if ((v = dh_cli_value(arg, "suppressions")))
        q->suppressions = v;
    else if ((v = dh_cli_value(arg, "color")))
        q->color = v;
    else if (strcmp(arg, "--all") == 0)
        q->all = true;
    else if (strcmp(arg, "--full-names") == 0)
        q->full_names = true;
    else
        return add_option(q, arg);
    return 0;
}

static int prepare(struct request *q, struct dh_output *to, char *directory)
{
    dh_output_reads(q->suppressions);
    int rc = dh_cli_check_program(&q->arena, "test", q->program[0], true);
    if (!rc)
        rc = dh_cli_baseline_load("test", &q->baseline);
    if (!rc && q->suppressions[0] && access(q->suppressions, R_OK) != 0)
        rc = dh_cli_fail("test", "cannot read the suppressions '%s': %s", q->suppressions, strerror(errno));
    if (!rc && q->output && dh_output_open(to, &q->arena, q->output) != 0)
        rc = dh_cli_fail("test", "cannot write '%s': %s", q->output, to->why);
    if (!rc && !mkdtemp(directory))
        rc = dh_cli_fail("test", "cannot make the directory '%s': %s", directory, strerror(errno));
    q->directory = directory;
    return rc;
}

int dh_cmd_test(int argc, char **argv)
{
    struct request q = {.runs = RUNS, .n_jobs = 1, .suppressions = "", .color = "auto"};
    struct dh_output to = {0};
    int rc = 0, i = 1;
    q.options = dh_arena_array(&q.arena, (size_t)argc, sizeof(*q.options));
    dh_options_default(&checked);
    unsetenv("DEBUGINFOD_URLS"); /* a report must not wait for the network */
    for (; !rc && i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return dh_cli_usage(usage);
        rc = set_flag(&q, argv, &i);
    }
    i += i < argc && strcmp(argv[i], "--") == 0;
    if (!rc && i >= argc)
        rc = dh_cli_fail("test", "which program? For example: deadheat test -n 100 -- ./prog");
    q.program = argv + i;
    q.progress = isatty(STDERR_FILENO);
    const char *self = dh_path_self(&q.arena), *tmp = getenv("TMPDIR");
    char *directory =
        dh_arena_printf(&q.arena, "%s/deadheat-test-XXXXXX", tmp && tmp[0] == '/' ? tmp : "/tmp");
    if (!rc && !self)
        rc = dh_cli_fail("test", "cannot find this program: %s", strerror(errno));
    if (!rc)
        rc = prepare(&q, &to, directory);
    if (!rc) {
        rc = test(&q, self, &to);
        rmdir(directory);
        if (to.stream && dh_output_commit(&to) != 0)
            rc = dh_cli_fail("test", "cannot write '%s': %s", q.output, to.why);
    }
    dh_output_abandon(&to, false);
    dh_baseline_free(q.baseline.is);
    dh_arena_done(&q.arena);
    if (!interrupted)
        return rc;
    dh_output_end_standard();
    return dh_cli_child_end_like(interrupted);
}
