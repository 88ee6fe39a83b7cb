/*
 * cmd_report.c - `deadheat report`: raw race records in, reports out.
 *
 * Two ways in. A person gives a file. The runtime of a running program starts `report --from-runtime` with
 * the records on standard input; then each race is printed as it comes, settings are DEADHEAT_OPTIONS, and if
 * standard input is a socket, the number of races goes back through it.
 */
#include <errno.h>
#include <fcntl.h>
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

static const char usage[] =
    "usage: deadheat report [OPTIONS] FILE\n"
    "\n"
    "Prints the data races recorded in FILE ('-': standard input): symbolised, each distinct race once, "
    "with\n"
    "a count. A program run with --output=FILE records them.\n"
    "\n"
    "  --format=FORMAT       text (default), or one of those below\n"
    "  --all                 print races with the same cause one by one\n"
    "  --suppressions=FILE   leave out the races that match, in ThreadSanitizer's "
    "syntax\n" DH_CLI_BASELINE_HELP
    "  --color=WHEN          auto (default: on a terminal), always or never\n"
    "  --source=0|1          show source lines (default: 1)\n"
    "  --full-names          show C++ names in full, with default template arguments\n"
    "  --stats               print all counters of the run\n"
    "\n"
    "Exit status: 0 no races; 66 races; 2 bad usage or input, and no races where no process is recorded, or\n"
    "one that did not come to its end.\n"
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
    /* The runtime has complained about bad options already; here what can be understood counts. */
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
    int rc = dh_reporter_read(reporter, STDIN_FILENO);
    dh_reporter_finish(reporter, &result);
    dh_baseline_free(baseline.is);
    send_verdict(result.races - result.known);
    if (result.races > result.known)
        return DH_EXIT_RACES;
    return rc || result.bad_lines ? DH_EXIT_TROUBLE : 0;
}

struct request {
    const char *file;
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
    static const char *const names[] = {"--format",          "--color", "--suppressions", "--source",
                                        "--full-names",      "--stats", "--all",          "--baseline",
                                        "--update-baseline", "--help"};
    return dh_cli_unknown_flag("report", arg, names, DH_ARRAY_LEN(names));
}

static int set_flag(struct request *q, const char *arg)
{
    const char *v;
    if (dh_cli_baseline_flag(&q->baseline, arg)) {
        return 0;
    } else if ((v = dh_cli_value(arg, "format"))) {
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

/* Files of other kinds, which people give by mistake. 0, or DH_EXIT_TROUBLE after a message. */
static int check_kind(const char *file, int fd)
{
    char head[8] = {0};
    if (pread(fd, head, sizeof(head), 0) < (ssize_t)sizeof(head))
        return 0;
    if (memcmp(head, "\177ELF", 4) == 0)
        return dh_cli_fail(
            "report",
            "'%s' is a program, and no file of race records: 'deadheat run --output=FILE' runs "
            "it and writes one",
            file);
    if (dh_dht_is(head, sizeof(head)))
        return dh_cli_fail(
            "report", "'%s' is a recording, and no file of race records: 'deadheat analyze' finds its races",
            file);
    return 0;
}

static int report_file(struct request *q)
{
    bool is_stdin = strcmp(q->file, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(q->file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return dh_cli_fail("report", "cannot open %s: %s", q->file, strerror(errno));
    int rc = check_kind(q->file, fd);
    if (rc) {
        close(fd);
        return rc;
    }
    struct dh_reporter_options options = {
        .out = stdout,
        .messages = stderr,
        .input = is_stdin ? "standard input" : q->file,
        .suppressions = q->suppressions,
        .baseline = q->baseline.is,
        .print = true,
        .format = q->format,
        .all = q->all,
        .color = dh_cli_wants_color(q->color, STDOUT_FILENO),
        .source = q->source,
        .full_names = q->full_names,
        .stats = q->stats,
    };
    struct dh_reporter *reporter = dh_reporter_new(&options);
    struct dh_reporter_result result;
    rc = dh_reporter_read(reporter, fd);
    dh_reporter_finish(reporter, &result);
    if (!is_stdin)
        close(fd);
    if (rc)
        rc = dh_cli_fail("report", "cannot read %s: %s", q->file, strerror(-rc));
    else if (result.bad_lines || result.bad_suppressions)
        rc = DH_EXIT_TROUBLE;
    else if (result.races > result.known)
        rc = DH_EXIT_RACES;
    else
        rc = result.incomplete ? DH_EXIT_TROUBLE : 0;
    return dh_cli_baseline_end("report", &q->baseline, result.incomplete, rc);
}

int dh_cmd_report(int argc, char **argv)
{
    struct request q = {.color = "auto", .suppressions = "", .source = true};
    unsetenv("DEBUGINFOD_URLS"); /* a report must not wait for the network */
    if (argc == 2 && strcmp(argv[1], "--from-runtime") == 0)
        return dh_cli_report_for_others(report_stream, NULL);
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
            return dh_cli_usage(usage);
        }
        if (arg[0] == '-' && arg[1]) {
            int rc = set_flag(&q, arg);
            if (rc)
                return rc;
        } else if (q.file) {
            return dh_cli_fail("report", "one file at a time: '%s' and '%s'", q.file, arg);
        } else {
            q.file = arg;
        }
    }
    if (!q.file)
        return dh_cli_fail("report", "which file? See 'deadheat report --help'");
    int rc = dh_cli_baseline_load("report", &q.baseline);
    return rc ? rc : report_file(&q);
}
