/*
 * cmd_report.c - `deadheat report`: turns raw race records into reports.
 *
 * It is used in two ways. A person gives it a file. Or the runtime of a running program starts `report
 * --from-runtime` with the records on standard input; then each race is printed as it comes, settings are
 * from DEADHEAT_OPTIONS, and if standard input is a socket, the number of races is sent back through it.
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/options.h"
#include "cli/cmd.h"
#include "event/dht_read.h"
#include "report/reporter.h"
#include "util/output.h"
#include "util/path.h"

static const char usage[] =
    "usage: deadheat report [OPTIONS] FILE...\n"
    "\n"
    "Prints the data races recorded in the files ('-': standard input), or in all files in a directory "
    "that end\n"
    "in .jsonl: symbolized, each distinct race once, with a count. Programs run with --output=FILE write "
    "such\n"
    "records.\n"
    "\n"
    "  --format=FORMAT       text (default), or one of those below\n"
    "  --output=FILE, -o FILE\n"
    "                        write there instead of standard output\n"
    "  --resolve             write self-contained records, with source lines, which 'deadheat report' can "
    "print\n"
    "                        without the programs and sources\n"
    "  --path-map=FROM=TO    sources that were built in FROM are in TO; may be given several times\n"
    "  --all                 print races with the same cause one by one\n"
    "  --suppressions=FILE   do not report races that match, in ThreadSanitizer's "
    "syntax\n" DH_CLI_BASELINE_HELP
    "  --color=WHEN          auto (default: on a terminal), always or never\n"
    "  --source=0|1          show source lines (default: 1)\n"
    "  --full-names          show C++ names in full, with default template arguments\n"
    "  --stats               print all counters of the run\n"
    "\n"
    "Exit status: 0 if there are no races; 66 if there are; 2 for bad usage or input, or if there are no "
    "races\n"
    "but the record is incomplete: no process is recorded, or one did not run to its end.\n"
    "\n"
    "Example:\n"
    "  deadheat run --output=races.jsonl --report=0 -- ./prog\n"
    "  deadheat report --suppressions=known.txt races.jsonl\n";

static struct dh_options settings; /* large; also the defaults of the flags */

/* The runtime cannot match suppressions, so it waits for this line before the program may exit. */
static void send_verdict(u64 races)
{
    struct stat st;
    char line[32];
    int n = snprintf(line, sizeof(line), "races %" PRIu64 "\n", races);
    if (fstat(STDIN_FILENO, &st) == 0 && S_ISSOCK(st.st_mode))
        send(STDIN_FILENO, line, (size_t)n, MSG_NOSIGNAL); /* if nobody listens any more, so be it */
}

static int report_stream(void *unused)
{
    (void)unused;
    struct dh_options_error err;
    dh_options_default(&settings);
    /* The runtime has complained about bad options already; valid ones are used here. */
    dh_options_parse(&settings, getenv("DEADHEAT_OPTIONS"), &err);
    struct dh_cli_baseline baseline = {.file = settings.baseline[0] ? settings.baseline : NULL};
    dh_cli_baseline_load("report", &baseline); /* without it, all are new */
    struct dh_reporter_options options = {
        .out = stderr,
        .messages = stderr,
        .input = "records",
        .suppressions = settings.suppressions,
        .baseline = baseline.is,
        .own_suppressions = getenv("DEADHEAT_PROGRAM_SUPPRESSIONS"),
        .streaming = true,
        .print = settings.report,
        .all = settings.all,
        .color = dh_cli_wants_color(settings.color, STDERR_FILENO),
        .source = settings.source,
        .full_names = settings.full_names,
        .stats = settings.stats,
    };
    struct dh_reporter *reporter = dh_reporter_new(&options);
    struct dh_reporter_result result;
    int rc = dh_reporter_read(reporter, STDIN_FILENO, options.input);
    dh_reporter_finish(reporter, &result);
    dh_baseline_free(baseline.is);
    send_verdict(result.races - result.known);
    if (result.races > result.known)
        return DH_EXIT_RACES;
    return rc || result.bad_lines ? DH_EXIT_TROUBLE : 0;
}

struct request {
    struct dh_arena arena;
    const char **files; /* to read; directories are searched */
    size_t n_files;
    const char *input; /* all of them, for messages */
    const char *output;
    struct dh_path_map *paths, **paths_end;
    bool resolve;
    bool formatted; /* --format is given */
    enum dh_print_format format;
    const char *color;
    const char *suppressions;
    struct dh_cli_baseline baseline;
    bool all;
    bool source;
    bool full_names;
    bool stats;
};

static int unknown_flag(const char *arg)
{
    static const char *const names[] = {
        "--format",   "--color",           "--suppressions", "--source",  "--full-names", "--stats", "--all",
        "--baseline", "--update-baseline", "--output",       "--resolve", "--path-map",   "--help"};
    return dh_cli_unknown_flag("report", arg, names, DH_ARRAY_LEN(names));
}

static int add_path_map(struct request *q, const char *value)
{
    const char *equals = strchr(value, '=');
    if (!equals || equals == value)
        return dh_cli_fail("report", "--path-map cannot be '%s'; it must be FROM=TO, two directories", value);
    struct dh_path_map *map = dh_arena_alloc(&q->arena, sizeof(*map));
    *map = (struct dh_path_map){.from = dh_arena_dup(&q->arena, value, (size_t)(equals - value)),
                                .to = equals + 1};
    *q->paths_end = map;
    q->paths_end = (struct dh_path_map **)&map->next;
    return 0;
}

static int set_flag(struct request *q, const char *arg)
{
    const char *v;
    if (dh_cli_baseline_flag(&q->baseline, arg)) {
        return 0;
    } else if ((v = dh_cli_value(arg, "format"))) {
        q->formatted = true;
        return dh_cli_format("report", v, &q->format);
    } else if ((v = dh_cli_value(arg, "color"))) {
        if (strcmp(v, "auto") != 0 && strcmp(v, "always") != 0 && strcmp(v, "never") != 0)
            return dh_cli_fail("report", "--color cannot be '%s'; it must be auto, always or never", v);
        q->color = v;
    } else if ((v = dh_cli_value(arg, "suppressions"))) {
        q->suppressions = v;
    } else if ((v = dh_cli_value(arg, "source"))) {
        if (strcmp(v, "0") != 0 && strcmp(v, "1") != 0)
            return dh_cli_fail("report", "--source cannot be '%s'; it must be 0 or 1", v);
        q->source = v[0] == '1';
    } else if ((v = dh_cli_value(arg, "output"))) {
        q->output = v;
    } else if ((v = dh_cli_value(arg, "path-map"))) {
        return add_path_map(q, v);
    } else if (strcmp(arg, "--resolve") == 0) {
        q->resolve = true;
    } else if (strcmp(arg, "--full-names") == 0) {
        q->full_names = true;
    } else if (strcmp(arg, "--all") == 0) {
        q->all = true;
    } else if (strcmp(arg, "--stats") == 0) {
        q->stats = true;
    } else {
        return unknown_flag(arg);
    }
    return 0;
}

/* Detects files of other kinds, given by mistake. 0, or DH_EXIT_TROUBLE after a message. */
static int check_kind(const char *file, int fd)
{
    char head[8 + 1] = {0};
    if (pread(fd, head, 8, 0) < 8)
        return 0;
    if (memcmp(head, "\177ELF", 4) == 0)
        return dh_cli_fail(
            "report",
            "'%s' is a program, and no file of race records: 'deadheat run --output=FILE' runs "
            "it and writes one",
            file);
    if (dh_dht_is(head, 8))
        return dh_cli_fail(
            "report", "'%s' is a recording, and no file of race records: 'deadheat analyze' finds its races",
            file);
    size_t digits = strspn(head + 1, "0123456789");
    if (head[0] == 'T' && digits > 0 && head[1 + digits] == '|')
        return dh_cli_fail("report",
                           "'%s' is a trace, and no file of race records: 'deadheat analyze' finds its races",
                           file);
    if (strcmp(head, "{\"versio") == 0 || strcmp(head, "{\"$schem") == 0)
        return dh_cli_fail("report",
                           "'%s' is a document of findings, and no file of race records, which 'deadheat "
                           "run --output=FILE' writes; documents are for --baseline=FILE",
                           file);
    return 0;
}

/* ---- Inputs -------------------------------------------------------------------------------------------- */

static void add_file(struct request *q, const char *name)
{
    q->files = dh_util_realloc(q->files, (q->n_files + 1) * sizeof(*q->files));
    q->files[q->n_files++] = dh_arena_strdup(&q->arena, name);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Sorted by name, so that the output is repeatable. What cannot be read may hold races. */
static int add_directory(struct request *q, const char *name)
{
    char *roots[] = {dh_arena_strdup(&q->arena, name), NULL};
    size_t before = q->n_files;
    FTS *tree = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, by_name);
    const FTSENT *at;
    int rc = 0;
    if (!tree)
        return dh_cli_fail("report", "cannot read the directory %s: %s", name, strerror(errno));
    while (!rc && (at = fts_read(tree))) {
        const char *end = strrchr(at->fts_name, '.');
        bool named = end && strcmp(end, ".jsonl") == 0;
        if (at->fts_info == FTS_DNR || at->fts_info == FTS_ERR || (named && at->fts_info == FTS_NS))
            rc = dh_cli_fail("report", "cannot read %s: %s", at->fts_path, strerror(at->fts_errno));
        else if (named && (at->fts_info == FTS_F || at->fts_info == FTS_SLNONE))
            add_file(q, at->fts_path);
    }
    fts_close(tree);
    if (!rc && q->n_files == before)
        rc = dh_cli_fail("report", "there is no file in %s whose name ends in .jsonl", name);
    return rc;
}

static int add_input(struct request *q, const char *name)
{
    struct stat st;
    if (strcmp(name, "-") != 0 && stat(name, &st) == 0 && S_ISDIR(st.st_mode))
        return add_directory(q, name);
    add_file(q, name);
    return 0;
}

static int read_file(struct dh_reporter *reporter, const char *name)
{
    bool is_stdin = strcmp(name, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return dh_cli_fail("report", "cannot open %s: %s", name, strerror(errno));
    int rc = dh_reporter_read(reporter, fd, is_stdin ? "standard input" : name);
    if (rc)
        rc = dh_cli_fail("report", "cannot read %s: %s", name, strerror(-rc));
    if (!is_stdin)
        close(fd);
    return rc;
}

/* Files that do not hold records are refused before anything is printed. */
static int check_inputs(const struct request *q)
{
    int rc = 0;
    for (size_t i = 0; i < q->n_files && !rc; i++) {
        struct stat st;
        const char *name = q->files[i];
        if (stat(name, &st) == 0 && !S_ISREG(st.st_mode))
            continue; /* a pipe must not be opened twice */
        int fd = strcmp(name, "-") == 0 ? dup(STDIN_FILENO) : open(name, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return dh_cli_fail("report", "cannot open %s: %s", name, strerror(errno));
        rc = check_kind(name, fd);
        close(fd);
    }
    return rc;
}

/* ---- The report ---------------------------------------------------------------------------------------- */

static int report_files(struct request *q, struct dh_output *to)
{
    struct dh_reporter_options options = {
        .out = to->stream ? to->stream : stdout,
        .messages = stderr,
        .input = q->input,
        .suppressions = q->suppressions,
        .baseline = q->baseline.is,
        .print = true,
        .resolve = q->resolve,
        .format = q->format,
        .all = q->all,
        .color = dh_cli_wants_color(q->color, to->stream ? to->fd : STDOUT_FILENO),
        .source = q->source,
        .full_names = q->full_names,
        .paths = q->paths,
        .stats = q->stats,
    };
    struct dh_reporter *reporter = dh_reporter_new(&options);
    struct dh_reporter_result result;
    int rc = 0;
    for (size_t i = 0; i < q->n_files; i++) {
        int failed = read_file(reporter, q->files[i]);
        rc = failed ? failed : rc;
    }
    dh_reporter_finish(reporter, &result);
    if (rc || result.bad_lines || result.bad_suppressions)
        rc = DH_EXIT_TROUBLE;
    else if (result.races > result.known)
        rc = DH_EXIT_RACES;
    else
        rc = result.incomplete ? DH_EXIT_TROUBLE : 0;
    return dh_cli_baseline_end("report", &q->baseline, result.incomplete, rc);
}

static int report(struct request *q)
{
    struct dh_output to = {0};
    for (size_t i = 0; i < q->n_files; i++)
        dh_output_reads(q->files[i]);
    dh_output_reads(q->suppressions);
    int rc = dh_cli_baseline_load("report", &q->baseline);
    q->input = q->n_files > 1 ? dh_arena_printf(&q->arena, "%s and %zu more", q->files[0], q->n_files - 1)
               : strcmp(q->files[0], "-") == 0 ? "standard input"
                                               : q->files[0];
    if (!rc)
        rc = check_inputs(q);
    if (!rc && q->output && dh_output_open(&to, &q->arena, q->output) != 0)
        rc = dh_cli_fail("report", "cannot write '%s': %s", q->output, to.why);
    if (rc)
        return rc;
    rc = report_files(q, &to);
    if (to.stream && dh_output_commit(&to) != 0)
        rc = dh_cli_fail("report", "cannot write '%s': %s", q->output, to.why);
    return rc;
}

int dh_cmd_report(int argc, char **argv)
{
    struct request q = {.color = "auto", .suppressions = "", .source = true};
    int rc = 0;
    q.paths_end = &q.paths;
    unsetenv("DEBUGINFOD_URLS"); /* a report must not wait for the network */
    if (argc == 2 && strcmp(argv[1], "--from-runtime") == 0)
        return dh_cli_report_for_others(report_stream, NULL);
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
            return dh_cli_usage(usage);
        }
        if (strcmp(arg, "-o") == 0 && i + 1 < argc)
            q.output = argv[++i];
        else
            rc = arg[0] == '-' && arg[1] ? set_flag(&q, arg) : add_input(&q, arg);
        if (rc)
            goto out;
    }
    if (q.resolve && q.formatted)
        rc = dh_cli_fail("report",
                         "--resolve writes race records, and --format prints them: these are two commands");
    else if (q.n_files)
        rc = report(&q);
    else
        rc = dh_cli_fail("report", "which file? See 'deadheat report --help'");
out:
    dh_baseline_free(q.baseline.is);
    free(q.files);
    dh_arena_done(&q.arena);
    return rc;
}
