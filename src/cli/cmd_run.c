/*
 * cmd_run.c - `deadheat run`: sets the options, runs the program, and reports for all processes it starts.
 *
 * The detector is inside the programs, so the flags are turned into DEADHEAT_OPTIONS, appended to what is in
 * the environment, since a later setting wins. Results come back to run_gather.c. The program itself may just
 * be a launcher (make, ctest, a shell) of instrumented programs.
 *
 * Inside another `deadheat run`, which gathers already, this one only sets the options and becomes the
 * program. It does the same if it cannot gather.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/options.h"
#include "cli/cmd.h"
#include "cli/run_gather.h"
#include "cli/run_tsan.h"
#include "detect/detector.h"
#include "report/suppress.h"
#include "util/output.h"
#include "util/path.h"

static const char usage_head[] =
    "usage: deadheat run [OPTIONS] [--] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Runs a program and reports on standard error the data races in it and in every process it starts, as "
    "far\n"
    "as they were compiled with 'deadheat cc' or 'deadheat c++'. The exit status is the program's own; 66 "
    "if\n"
    "there was a race; 2 if a document or an output file could not be written, or if the program succeeded, "
    "but\n"
    "nothing that ran was compiled with deadheat.\n"
    "\n"
    "  --force                 do not fail if nothing that ran was compiled with deadheat\n"
    "  --format=FORMAT[:FILE]  also write the findings to FILE at the end; without FILE, print them on\n"
    "                          standard error instead of the text. Can be given several times\n"
    "  --update-baseline       write the findings to the file given by --baseline; then none of them is new\n"
    "  --filter=STATE          skip checks that cannot find anything according to a state of 'deadheat\n"
    "                          caper', and those of memory that has not escaped so far; the program must\n"
    "                          be built with 'deadheat cc --dh-filterable', from the same sources\n"
    "  --filter-program=FILE   the program to filter, if PROGRAM is only a launcher\n"
    "  --hive=URL              run a field build as one of the users of a hive; 'deadheat agent --help' "
    "lists\n"
    "                          the related flags. Exit status and output are the program's own\n"
    "  --tsan-options[=TEXT]   apply ThreadSanitizer's settings from TEXT, or from TSAN_OPTIONS, and warn "
    "about\n"
    "                          those that are not supported\n"
    "  --help                  this text\n";

static const char usage_tail[] =
    "\n"
    "DEADHEAT_OPTIONS=name=value:name=value in the environment sets the same options; flags override it.\n"
    "\n"
    "Examples:\n"
    "  deadheat run -- ./prog --its-own-flag\n"
    "  deadheat run -- make -j8 test                  a test suite: each race once, with a count\n"
    "  deadheat run --on-race=stop -- ./prog          stop at the first race, for a debugger\n"
    "  deadheat run --suppressions=known.txt --output=races.jsonl -- ./prog\n"
    "  deadheat run --sample=1% -- ./prog             look at a hundredth of what it does, at a fraction of "
    "the cost\n"
    "  deadheat run --filter=prog.caper -- ./prog     skip what Caper says cannot race\n"
    "  deadheat run --hive=https://hive.example.org --key-file=key -- ./prog\n";

struct request {
    struct dh_arena arena;
    char *options; /* the new DEADHEAT_OPTIONS */
    bool force;
    bool instrumented; /* the program itself is */
    bool has_reporter;
    const char *filter, *filter_program; /* NULL: not given */
    const char *baseline_above;          /* in the environment; "": none */
    struct dh_cli_baseline baseline;
    struct dh_run_reports reports;
};

static void write_help(void *ctx, const char *text, size_t len)
{
    fwrite(text, 1, len, ctx);
}

static int print_help(void)
{
    fputs(usage_head, stdout);
    fputs("\n", stdout);
    dh_options_help(write_help, stdout, true);
    return dh_cli_usage(usage_tail);
}

static struct dh_options checked; /* only to find errors before the program starts */

static int add_option(struct request *q, const char *name, size_t name_len, const char *value)
{
    const char *quote = strpbrk(value, ":'\"") ? "'" : "";
    if (*quote && strchr(value, '\''))
        quote = "\"";
    if (*quote == '"' && strchr(value, '"'))
        return dh_cli_fail("run", "the value of --%.*s holds both kinds of quotes", (int)name_len, name);
    char *plain = dh_arena_dup(&q->arena, name, name_len);
    for (char *c = plain; *c; c++)
        *c = *c == '-' ? '_' : *c;
    q->options = dh_arena_printf(&q->arena, "%s%s%s=%s%s%s", q->options, q->options[0] ? ":" : "", plain,
                                 quote, value, quote);
    q->has_reporter |= strcmp(plain, "reporter") == 0;
    return 0;
}

/* Names that the runtime would refuse are refused here, with a better message. */
static int check_detector(const char *name)
{
    size_t len = strlen(name);
    if (strcmp(name, "fasttrack-ref") == 0)
        return 0;
    const struct dh_detector_ops *ops = dh_detector_find(name, len);
    if (ops && ops->whole_trace)
        return dh_cli_fail(
            "run",
            "the detector '%s' needs the whole trace: 'deadheat record' the program, then 'deadheat "
            "analyze --detector=%s'",
            name, name);
    return ops ? 0 : dh_cli_unknown_detector("run", name, len);
}

/* `arg` begins with --; len is the length of its name, including them. */
static int set_option(const char *arg, size_t len, const char *value)
{
    static const char *const own[] = {
        "--filter", "--filter-program", "--force",
        "--format", "--tsan-options",   "--update-baseline"}; /* all that are not options of the runtime */
    struct dh_options_error err;
    int rc = dh_options_set_flag(&checked, arg, len, value, strlen(value), &err);
    const char *nearest = rc == -ENOENT ? dh_cli_nearest(arg, len, own, DH_ARRAY_LEN(own)) : NULL;
    if (nearest)
        return dh_cli_fail("run", "unknown option '%.*s'; did you mean '%s'?", (int)len, arg, nearest);
    return rc ? dh_cli_fail("run", "%s", err.text) : 0;
}

/* The same for incompatible options. */
static int check_together(void)
{
    if (checked.sample < 0 && checked.overhead < 0)
        return 0;
    const char *which = checked.sample >= 0 ? "sample" : "overhead";
    if (strcmp(checked.detector, "fasttrack") != 0)
        return dh_cli_fail("run", "--%s works only with the detector fasttrack, not with '%s'", which,
                           checked.detector);
    if (checked.on_race == DH_ON_RACE_EXCEPTION)
        return dh_cli_fail(
            "run", "--on-race=exception promises to raise every race, so it cannot be combined with --%s",
            which);
    return 0;
}

/* NAME, or NAME:FILE; one more document, unless it is text. */
static int set_format(struct request *q, const char *value)
{
    struct dh_run_reports *r = &q->reports;
    const char *colon = strchr(value, ':'), *file = colon ? colon + 1 : NULL;
    const char *name = colon ? dh_arena_dup(&q->arena, value, (size_t)(colon - value)) : value;
    enum dh_print_format format;
    if (colon && !colon[1])
        return dh_cli_fail("run", "--format=%s needs the name of a file behind the colon", value);
    if (colon && strcmp(name, "text") == 0)
        return dh_cli_fail("run", "text is printed while the program runs, and not into a file");
    int rc = dh_cli_format("run", name, &format);
    for (size_t i = 0; i < r->n_documents && !rc; i++) {
        const char *other = r->documents[i].file;
        if (file ? dh_output_same(file, other) : !other)
            rc = dh_cli_fail("run", "two documents of --format cannot both go to %s",
                             file ? file : "standard error");
    }
    if (!rc && r->n_documents == DH_RUN_DOCUMENTS)
        rc = dh_cli_fail("run", "there can be no more than %d documents of --format", DH_RUN_DOCUMENTS);
    if (rc || format == DH_PRINT_TEXT)
        return rc;
    r->documents[r->n_documents].format = format;
    r->documents[r->n_documents++].file = file;
    return 0;
}

static int set_flag(struct request *q, const char *arg);

static int set_tsan_flag(void *ctx, const char *flag)
{
    return set_flag(ctx, flag);
}

/* value: NULL, or what to use instead of the environment. */
static int set_tsan_options(struct request *q, const char *value)
{
    const char *text = value ? value : getenv("TSAN_OPTIONS");
    if (!text)
        dh_cli_warn("run", "--tsan-options: TSAN_OPTIONS is not set");
    return text ? dh_run_tsan(&q->arena, text, set_tsan_flag, q) : 0;
}

static int set_flag(struct request *q, const char *arg)
{
    const char *detector = dh_cli_value(arg, "detector"), *filter = dh_cli_value(arg, "filter");
    const char *filter_program = dh_cli_value(arg, "filter-program"), *format = dh_cli_value(arg, "format");
    if (format)
        return set_format(q, format);
    if (detector && check_detector(detector) != 0)
        return DH_EXIT_TROUBLE;
    if (filter || filter_program) {
        q->filter = filter ? filter : q->filter;
        q->filter_program = filter_program ? filter_program : q->filter_program;
        return 0;
    }
    if (strcmp(arg, "--tsan-options") == 0 || dh_cli_value(arg, "tsan-options"))
        return set_tsan_options(q, dh_cli_value(arg, "tsan-options"));
    if (strcmp(arg, "--force") == 0) {
        q->force = true;
        return 0;
    }
    if (strcmp(arg, "--update-baseline") == 0)
        return dh_cli_baseline_flag(&q->baseline, arg) ? 0 : DH_EXIT_TROUBLE;
    if (strncmp(arg, "--", 2) != 0)
        return dh_cli_fail("run", "unknown option '%s'; 'deadheat run --help' lists them", arg);
    size_t len = strcspn(arg, "=");
    const char *value = arg[len] ? arg + len + 1 : "1"; /* the meaning of a switch without a value */
    if (!arg[len] && dh_options_is_known(arg + 2, len - 2) && !dh_options_is_switch(arg + 2, len - 2))
        return dh_cli_fail("run", "%s needs a value: %s=VALUE", arg, arg);
    int rc = set_option(arg, len, value);
    return rc ? rc : add_option(q, arg + 2, len - 2, value);
}

static void complain_later(void *ctx, u64 line, const char *sentence)
{
    (void)ctx, (void)line, (void)sentence; /* the reporter reads the file again, and reports bad lines */
}

/* 0 or a negative errno. A pipe can be read only once, and that is left to the reporter. */
static int try_suppressions(struct request *q, const char *path)
{
    struct stat st;
    struct dh_suppress rules;
    u64 bad;
    if (stat(path, &st) != 0)
        return -errno;
    if (S_ISFIFO(st.st_mode))
        return access(path, R_OK) == 0 ? 0 : -errno;
    dh_suppress_init(&rules, &q->arena);
    return dh_suppress_load(&rules, path, complain_later, NULL, &bad);
}

static int check_documents(struct request *q)
{
    for (size_t i = 0; i < q->reports.n_documents; i++) {
        const char *file = q->reports.documents[i].file;
        struct dh_output to = {0};
        if (dh_output_same(file, checked.output))
            return dh_cli_fail("run", "--output and a document of --format cannot both go to %s", file);
        if (file && dh_output_open(&to, &q->arena, file) != 0)
            return dh_cli_fail("run", "cannot write '%s': %s", file, to.why);
        if (file)
            dh_output_abandon(&to, false);
    }
    return 0;
}

/* The files that the program's runtime will open. Errors are reported before the program has run for an
 * hour. */
static int check_files(struct request *q)
{
    const char *suppressions = checked.suppressions, *output = checked.output;
    dh_output_reads(suppressions);
    int rc = suppressions[0] ? try_suppressions(q, suppressions) : 0;
    if (rc)
        return dh_cli_fail("run", "cannot read the suppressions '%s': %s", suppressions, strerror(-rc));
    q->baseline.file = checked.baseline[0] ? dh_arena_strdup(&q->arena, checked.baseline) : NULL;
    if (dh_cli_baseline_load("run", &q->baseline) != 0)
        return DH_EXIT_TROUBLE;
    if (check_documents(q) != 0)
        return DH_EXIT_TROUBLE;
    if (!output[0])
        return 0;
    if (dh_output_is_input(output))
        return dh_cli_fail("run", "cannot write '%s': this command reads it", output);
    if (strchr(output, '%')) /* each process has its own file, and finds out by itself */
        return 0;
    const char *why = dh_output_appendable(output);
    return why ? dh_cli_fail("run", "cannot write '%s': %s", output, why) : 0;
}

/* The program's own runtime looks for the reporter; naming this very program saves the search. */
static void name_reporter(struct request *q)
{
    const char *self = dh_path_self(&q->arena);
    if (!q->has_reporter && !checked.reporter[0] && self && strpbrk(self, "'\"") == NULL)
        add_option(q, "reporter", strlen("reporter"), self);
}

/* Programs may be started in other directories than this one. */
static int make_absolute(struct request *q, const char *name, char *value)
{
    if (!value[0] || value[0] == '/')
        return 0;
    char *cwd = getcwd(NULL, 0);
    const char *path = cwd ? dh_path_join(&q->arena, cwd, value) : value;
    free(cwd);
    if (strlen(path) >= DH_OPTIONS_STR_MAX)
        return dh_cli_fail("run", "the name of the file '%s' is too long", path);
    strcpy(value, path);
    return add_option(q, name, strlen(name), path);
}

static int set_filter(const struct request *q, const char *name)
{
    if (q->filter_program && !q->filter)
        return dh_cli_fail("run", "--filter-program says what a filter is for: give --filter=STATE, too");
    return q->filter ? dh_cli_filter("run", q->filter, q->filter_program ? q->filter_program : name) : 0;
}

/* ---- Running it ---- */

/* The exit status after exec failed. */
static int become(char **argv)
{
    execvp(argv[0], argv);
    int status = errno == ENOENT ? 127 : 126;
    dh_cli_fail("run", "cannot run '%s': %s", argv[0], strerror(errno));
    return status;
}

struct start {
    char **argv;
    pid_t parent;
    int failed; /* written to if it cannot be run; closed when it is */
};

static void become_child(void *ctx)
{
    const struct start *with = ctx;
    /* Killing this command by SIGKILL must kill the program. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != with->parent)
        raise(SIGKILL);
    int status = become(with->argv);
    ssize_t rc = write(with->failed, "", 1);
    (void)rc; /* then the parent takes the program for a short one */
    _exit(status);
}

/* The program's wait status, or a negative errno; *ret_ran: it could be run. */
static int run_child(char **argv, int control, bool *ret_ran)
{
    int ends[2];
    char failed;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    struct start with = {argv, getpid(), ends[1]};
    pid_t pid = dh_cli_child_start(become_child, &with);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return pid;
    }
    dh_run_gather_let_go((const int[]){control, ends[0]}, 2);
    *ret_ran = read(ends[0], &failed, 1) == 0;
    close(ends[0]);
    return dh_cli_child_wait(pid);
}

/* The exit status, from how the program ended and what was seen. */
static int judge(const struct request *q, int status, bool ran, const struct dh_run_result *seen)
{
    if (WIFSIGNALED(status))
        return dh_cli_child_end_like(status);
    int own = WEXITSTATUS(status);
    if (seen->status)
        return seen->status;
    if (!seen->complete)
        dh_cli_fail("run", "the process that gathers the reports has crashed, so races may be missing");
    else if (ran && !seen->instrumented && !q->instrumented && !q->force)
        dh_cli_fail("run",
                    "nothing that ran was compiled by deadheat, so no race could be seen; build it with "
                    "'deadheat cc', or give --force to ignore this");
    else
        return own;
    return own ? own : DH_EXIT_TROUBLE;
}

/* The command above this one reports, and knows nothing of these. */
static void warn_of_ignored(const struct request *q)
{
    if (q->reports.n_documents || q->baseline.update || strcmp(q->baseline_above, checked.baseline) != 0)
        dh_cli_warn("run",
                    "--format, --baseline and --update-baseline have no effect here: another 'deadheat run' "
                    "started this one, and reports for both; give them to that command");
}

static int run(struct request *q, char **argv)
{
    struct dh_run_gather gather;
    const char *file = dh_path_find_program(&q->arena, argv[0]);
    char *real = file ? realpath(file, NULL) : NULL;
    const char *program = real ? dh_arena_strdup(&q->arena, real) : NULL;
    free(real);
    q->instrumented = program && dh_elfcheck_file(program) == DH_ELFCHECK_INSTRUMENTED;
    if (q->instrumented)
        dh_cli_prepare_openmp(&q->arena, "run", argv[0]);
    else
        dh_cli_prepare_openmp_below(&q->arena);
    if (dh_run_gather_is_above()) {
        warn_of_ignored(q);
        return become(argv);
    }
    q->reports.settings = &checked;
    q->reports.baseline = &q->baseline;
    int rc = dh_run_gather_start(&gather, &q->reports, program);
    if (rc != 0) {
        dh_cli_warn("run", "reports cannot be gathered (%s): every process prints its own", strerror(-rc));
        return become(argv);
    }
    if (setenv(DH_RUN_ADDRESS, gather.address, 1) != 0)
        dh_util_no_memory();
    bool ran = false;
    int status = run_child(argv, gather.control, &ran);
    bool well = status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    struct dh_run_result seen = dh_run_gather_finish(&gather, !well);
    if (status < 0) {
        dh_cli_fail("run", "cannot run '%s': %s", argv[0], strerror(-status));
        return 126;
    }
    return judge(q, status, ran, &seen);
}

/* With --hive the program is not checked here, but tried as its users would: that is the agent's job. */
static bool is_for_hive(int argc, char **argv)
{
    for (int i = 1; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--hive") == 0 || dh_cli_value(argv[i], "hive"))
            return true;
    return false;
}

int dh_cmd_run(int argc, char **argv)
{
    struct request q = {0};
    struct dh_options_error err;
    const char *given = getenv("DEADHEAT_OPTIONS");
    int rc = 0, i = 1;
    if (is_for_hive(argc, argv))
        return dh_cli_become_part("run", "deadheat-agent", argv);
    dh_options_default(&checked);
    q.options = dh_arena_strdup(&q.arena, given ? given : "");
    if (dh_options_parse(&checked, given, &err) != 0)
        rc = dh_cli_fail("run", "DEADHEAT_OPTIONS: %s", err.text);
    q.baseline_above = dh_arena_strdup(&q.arena, checked.baseline);
    for (; !rc && i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            rc = print_help();
            goto out;
        }
        rc = set_flag(&q, argv[i]);
    }
    if (!rc)
        rc = check_together();
    if (!rc && i >= argc)
        rc = dh_cli_fail("run", "which program? For example: deadheat run -- ./prog");
    if (!rc)
        rc = dh_cli_check_program(&q.arena, "run", argv[i], true);
    if (!rc)
        rc = set_filter(&q, argv[i]);
    if (!rc)
        rc = check_files(&q);
    if (!rc)
        rc = make_absolute(&q, "output", checked.output);
    if (!rc)
        rc = make_absolute(&q, "suppressions", checked.suppressions);
    if (!rc)
        rc = make_absolute(&q, "baseline", checked.baseline);
    if (rc)
        goto out;
    name_reporter(&q);
    if (setenv("DEADHEAT_OPTIONS", q.options, 1) != 0)
        dh_util_no_memory();
    rc = run(&q, argv + i);
out:
    dh_baseline_free(q.baseline.is);
    dh_arena_done(&q.arena);
    return rc;
}
