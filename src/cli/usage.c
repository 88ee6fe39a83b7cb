/*
 * usage.c - shared by the commands: error messages, flags, the choice of colour, reporting for other
 * processes.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/options.h"
#include "cli/cmd.h"
#include "util/output.h"
#include "util/path.h"
#include "util/text.h"

/* Messages quote names that are not ours. */
static void say(const char *command, const char *what, const char *format, va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0)
        dh_util_no_memory();
    fprintf(stderr, "deadheat%s%s: %s: ", command[0] ? " " : "", command, what);
    dh_text_put(stderr, text);
    fputc('\n', stderr);
    free(text);
}

int dh_cli_vfail(const char *command, const char *format, va_list args)
{
    say(command, "error", format, args);
    return DH_EXIT_TROUBLE;
}

int dh_cli_fail(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    dh_cli_vfail(command, format, args);
    va_end(args);
    return DH_EXIT_TROUBLE;
}

void dh_cli_warn(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(command, "warning", format, args);
    va_end(args);
}

bool dh_cli_time(const char *text, u64 *ret_us)
{
    static const struct {
        const char *unit;
        double us;
    } units[] = {{"us", 1}, {"ms", 1e3}, {"s", 1e6}};
    char *end;
    errno = 0;
    double value = text[0] >= '0' && text[0] <= '9' ? strtod(text, &end) : -1;
    for (size_t i = 0; value > 0 && errno == 0 && i < DH_ARRAY_LEN(units); i++) {
        double us = value * units[i].us;
        if (strcmp(end, units[i].unit) != 0)
            continue;
        if (us < 1 || us > 60e6)
            return false;
        *ret_us = (u64)us;
        return true;
    }
    return false;
}

bool dh_cli_budget(const char *text, u64 *ret_us)
{
    static const struct {
        const char *unit;
        double s;
    } units[] = {{"s", 1}, {"m", 60}, {"h", 3600}};
    char *end = NULL;
    double value = text[0] >= '0' && text[0] <= '9' ? strtod(text, &end) : 0;
    for (size_t i = 0; end && i < DH_ARRAY_LEN(units); i++) {
        double s = value * units[i].s;
        if (strcmp(end, units[i].unit) != 0 || s < 1 || s > 366 * 86400.0)
            continue;
        *ret_us = (u64)(s * 1e6);
        return true;
    }
    return false;
}

bool dh_cli_percent(const char *text, double *ret)
{
    char *end;
    double value = text[0] >= '0' && text[0] <= '9' ? strtod(text, &end) : -1;
    if (value < 0 || value > 100 || strcmp(end, "%") != 0)
        return false;
    *ret = value / 100;
    return true;
}

const char *dh_cli_value(const char *arg, const char *name)
{
    size_t len = strlen(name);
    if (strncmp(arg, "--", 2) != 0 || strncmp(arg + 2, name, len) != 0)
        return NULL;
    return arg[2 + len] == '=' ? arg + 3 + len : NULL;
}

const char *dh_cli_argument(char **argv, int *i, const char *name)
{
    const char *value = dh_cli_value(argv[*i], name);
    if (value || strncmp(argv[*i], "--", 2) != 0 || strcmp(argv[*i] + 2, name) != 0 || !argv[*i + 1])
        return value;
    return argv[++*i];
}

int dh_cli_flags(char **argv, int (*set)(void *request, char **argv, int *i), void *request, int *ret_program)
{
    int rc = 0, i = 1;
    for (; !rc && argv[i] && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            rc = DH_CLI_HELP;
        else
            rc = set(request, argv, &i);
    }
    *ret_program = i;
    return rc;
}

const char *dh_cli_nearest(const char *typed, size_t len, const char *const *words, size_t n)
{
    const char *nearest = NULL;
    u32 best = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        u32 d = dh_options_distance(typed, len, words[i], strlen(words[i]));
        if (d < best && dh_options_is_near(d, strlen(words[i]))) {
            best = d;
            nearest = words[i];
        }
    }
    return nearest;
}

int dh_cli_unknown_flag(const char *command, const char *arg, const char *const *flags, size_t n)
{
    size_t len = strcspn(arg, "=");
    for (size_t i = 0; i < n; i++) {
        if (strncmp(arg, flags[i], len) != 0 || flags[i][len])
            continue;
        return arg[len] ? dh_cli_fail(command, "%s cannot be '%s'; see 'deadheat %s --help'", flags[i],
                                      arg + len + 1, command)
                        : dh_cli_fail(command, "%s needs a value: %s=VALUE", arg, arg);
    }
    const char *nearest = dh_cli_nearest(arg, len, flags, n);
    if (nearest)
        return dh_cli_fail(command, "unknown option '%.*s'; did you mean '%s'?", (int)len, arg, nearest);
    return dh_cli_fail(command, "unknown option '%s'; 'deadheat %s --help' lists them", arg, command);
}

static const char formats[] = "\nFormats:\n"
#define DH_FORMAT(id, name, people, known, help) "  " #name ": " help "\n"
#include "report/formats.def"
#undef DH_FORMAT
    ;

int dh_cli_usage(const char *text)
{
    fputs(text, stdout);
    fputs(formats, stdout);
    return 0;
}

int dh_cli_format(const char *command, const char *name, enum dh_print_format *ret)
{
    for (int i = 0; i < DH_PRINT_FORMATS; i++) {
        if (strcmp(name, dh_print_formats[i]) == 0) {
            *ret = (enum dh_print_format)i;
            return 0;
        }
    }
    char names[128] = "";
    for (int i = 0; i < DH_PRINT_FORMATS; i++) {
        strcat(names, i == 0 ? "" : i + 1 < DH_PRINT_FORMATS ? ", " : " or ");
        strcat(names, dh_print_formats[i]);
    }
    return dh_cli_fail(command, "--format cannot be '%s'; it must be %s", name, names);
}

struct complaint {
    const char *command, *file;
};

static void complain(void *ctx, u64 line, const char *sentence)
{
    const struct complaint *c = ctx;
    dh_cli_warn(c->command, "%s:%" PRIu64 ": %s", c->file, line, sentence);
}

int dh_cli_suppressions(const char *command, const char *file, struct dh_suppress *ret)
{
    struct complaint about = {command, file};
    u64 bad;
    dh_output_reads(file);
    int rc = dh_suppress_load(ret, file, complain, &about, &bad);
    return rc ? dh_cli_fail(command, "cannot read the suppressions '%s': %s", file, strerror(-rc)) : 0;
}

bool dh_cli_wants_color(const char *choice, int fd)
{
    const char *term = getenv("TERM");
    if (strcmp(choice, "always") == 0)
        return true;
    if (strcmp(choice, "never") == 0)
        return false;
    return isatty(fd) && term && strcmp(term, "dumb") != 0 && !getenv("NO_COLOR");
}

struct work {
    int (*fn)(void *ctx);
    void *ctx;
    int result;
};

static void *do_work(void *arg)
{
    struct work *work = arg;
    work->result = work->fn(work->ctx);
    return NULL;
}

int dh_cli_report_for_others(int (*fn)(void *ctx), void *ctx)
{
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ, SIGTSTP, SIGTTOU};
    static char buffer[64 << 10];
    const size_t stack = 1 << 20;
    struct work work = {fn, ctx, DH_EXIT_TROUBLE};
    pthread_attr_t attr;
    pthread_t thread;
    for (size_t i = 0; i < DH_ARRAY_LEN(ignored); i++)
        signal(ignored[i], SIG_IGN);
    unsetenv("DEBUGINFOD_URLS"); /* a report must not wait for the network */
    /* One write per report, however many processes share the terminal. */
    setvbuf(stderr, buffer, _IOFBF, sizeof(buffer));
    if (pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, stack) ||
        pthread_create(&thread, &attr, do_work, &work))
        return fn(ctx);
    pthread_join(thread, NULL);
    return work.result;
}
