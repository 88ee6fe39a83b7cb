/*
 * cmd_chase.c - `deadheat chase`: confirm one pair of accesses as a race, in a program that runs at full
 * speed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/options.h"
#include "cli/chase.h"
#include "cli/cmd.h"
#include "util/output.h"
#include "util/path.h"

static const char usage[] =
    "usage: deadheat chase --pair A:B [OPTIONS] [--] PROGRAM [ARGUMENTS]\n"
    "       deadheat chase --any=A [OPTIONS] [--] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Runs a program and tries to catch two threads at the two accesses A and B at once, on the same bytes. "
    "The\n"
    "program is any that is linked dynamically and has debug information (-g), from any compiler; it runs "
    "at\n"
    "full speed but for short waits. A position is FILE:LINE, FILE:LINE:COLUMN or FILE:LINE:* (all "
    "columns),\n"
    "with :read or :write behind it if only such accesses are meant. The order matters: a thread waits at A "
    "while others are looked at when they come to B.\n"
    "\n"
    "  --pair A:B            what to confirm\n"
    "  --any=A               whatever conflicts with A, wherever it is: by hardware watchpoints\n"
    "  --steer=ORDER         make A first (primary), or B (alternate): hold who comes too early, up to 1 ms "
    "and\n"
    "                        50 ms longer in each run that this does not do, and tell what comes of it\n"
    "  --hang=TIME           steered threads that do not move for so long hang (default: 10s)\n"
    "  --rmax=N%             the part of the time that may be spent waiting (default: 5%)\n"
    "  --delay=TIME          how long a thread waits: 10ms (default), 500us, 1s\n"
    "  --trials=N            run the program N times (default: 1)\n"
    "  --module=FILE         look for A and B in this library too; may be given several times\n"
    "  --list                print the instructions of A and B, and run nothing\n"
    "  --seed=N              the random choices of an earlier run (default: others each time)\n"
    "  --output=FILE         append the race records to FILE, for 'deadheat report'\n"
    "  --suppressions=FILE   leave out the races that match, in ThreadSanitizer's syntax\n"
    "  --exitcode=N          exit status if the race was confirmed (default: 66)\n"
    "  --color=WHEN          auto (default: on a terminal), always or never\n"
    "  --source=0|1          show source lines (default: 1)\n"
    "  --stats               print what the chase cost\n"
    "  --help                this text\n"
    "\n"
    "Exit status: 66 if the race was confirmed; else that of the program, or 2 if the chase could not be "
    "done.\n"
    "\n"
    "Examples:\n"
    "  deadheat chase --pair server.c:120:server.c:340 -- ./server --port 8080\n"
    "  deadheat chase --pair hits.c:24:hits.c:24 --trials=10 --rmax=20% -- ./hits\n"
    "  deadheat chase --any=hits.c:24 -- ./hits\n";

/* ---- Flags ---- */

/* 10ms, 500us, 1s, 2.5ms. False if it is none, or 0, or more than a minute. */
static bool read_time(const char *text, u64 *ret_us)
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

static bool read_percent(const char *text, double *ret)
{
    char *end;
    double value = text[0] >= '0' && text[0] <= '9' ? strtod(text, &end) : -1;
    if (value < 0 || value > 100 || strcmp(end, "%") != 0)
        return false;
    *ret = value / 100;
    return true;
}

static bool read_number(const char *text, u64 least, u64 most, u64 *ret)
{
    char *end;
    errno = 0;
    u64 value = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    if (text[0] < '0' || text[0] > '9' || *end || errno || value < least || value > most)
        return false;
    *ret = value;
    return true;
}

static int unknown_flag(const char *arg)
{
    static const char *const names[] = {"--pair",     "--any",    "--steer",  "--hang",  "--rmax",
                                        "--delay",    "--trials", "--module", "--list",  "--seed",
                                        "--output",   "--color",  "--source", "--stats", "--suppressions",
                                        "--exitcode", "--help"};
    return dh_cli_unknown_flag("chase", arg, names, DH_ARRAY_LEN(names));
}

static int set_pair(struct dh_chase_request *q, const char *text)
{
    const char *why = NULL;
    if (q->pair)
        return dh_cli_fail("chase", "one pair at a time: '%s' and '%s'", q->pair, text);
    q->pair = text;
    if (dh_chase_position_pair(&q->arena, text, q->positions, &why) != 0)
        return dh_cli_fail("chase", "--pair cannot be '%s': %s; for example, server.c:120:server.c:340", text,
                           why);
    return 0;
}

static int set_any(struct dh_chase_request *q, const char *text)
{
    const char *why = NULL;
    if (q->any)
        return dh_cli_fail("chase", "--any can be given once");
    q->any = true;
    if (dh_chase_position_one(&q->arena, text, q->positions, &why) != 0)
        return dh_cli_fail("chase", "--any cannot be '%s': %s; for example, server.c:120", text, why);
    return 0;
}

static int set_steer(struct dh_chase_request *q, const char *text)
{
    if (strcmp(text, "primary") == 0)
        q->steer = DH_CHASE_PRIMARY;
    else if (strcmp(text, "alternate") == 0)
        q->steer = DH_CHASE_ALTERNATE;
    else
        return dh_cli_fail("chase", "--steer cannot be '%s'; it must be primary or alternate", text);
    return 0;
}

static int add_module(struct dh_chase_request *q, const char *path)
{
    if (q->n_modules == DH_CHASE_MODULES)
        return dh_cli_fail("chase", "no more than %d modules can be given", DH_CHASE_MODULES - 1);
    q->modules[q->n_modules++].path = path;
    return 0;
}

static int set_number(struct dh_chase_request *q, const char *arg, bool *ret_known)
{
    const char *v;
    *ret_known = true;
    if ((v = dh_cli_value(arg, "rmax"))) {
        if (!read_percent(v, &q->rmax))
            return dh_cli_fail("chase", "--rmax cannot be '%s'; it must be a percentage from 0%% to 100%%",
                               v);
    } else if ((v = dh_cli_value(arg, "delay"))) {
        if (!read_time(v, &q->delay_us))
            return dh_cli_fail("chase",
                               "--delay cannot be '%s'; it must be a time up to a minute, such as 10ms", v);
    } else if ((v = dh_cli_value(arg, "hang"))) {
        if (!read_time(v, &q->hang_us))
            return dh_cli_fail("chase",
                               "--hang cannot be '%s'; it must be a time up to a minute, such as 10s", v);
    } else if ((v = dh_cli_value(arg, "trials"))) {
        if (!read_number(v, 1, 1000000, &q->trials))
            return dh_cli_fail("chase", "--trials cannot be '%s'; it must be a number from 1 on", v);
    } else if ((v = dh_cli_value(arg, "seed"))) {
        if (!read_number(v, 1, UINT64_MAX, &q->seed))
            return dh_cli_fail("chase", "--seed cannot be '%s'; it must be a number from 1 on", v);
    } else if ((v = dh_cli_value(arg, "exitcode"))) {
        if (!read_number(v, 0, 255, &q->exitcode))
            return dh_cli_fail("chase", "--exitcode cannot be '%s'; it must be a number from 0 to 255", v);
    } else {
        *ret_known = false;
    }
    return 0;
}

static int set_flag(struct dh_chase_request *q, const char *arg)
{
    const char *v;
    bool known;
    int rc = set_number(q, arg, &known);
    if (rc || known)
        return rc;
    if ((v = dh_cli_value(arg, "pair")))
        return set_pair(q, v);
    if ((v = dh_cli_value(arg, "any")))
        return set_any(q, v);
    if ((v = dh_cli_value(arg, "steer")))
        return set_steer(q, v);
    if ((v = dh_cli_value(arg, "module")))
        return add_module(q, v);
    if ((v = dh_cli_value(arg, "output")))
        q->output = v;
    else if ((v = dh_cli_value(arg, "suppressions")))
        q->suppressions = v;
    else if ((v = dh_cli_value(arg, "color")) &&
             (strcmp(v, "auto") == 0 || strcmp(v, "always") == 0 || strcmp(v, "never") == 0))
        q->color = v;
    else if ((v = dh_cli_value(arg, "source")) && (strcmp(v, "0") == 0 || strcmp(v, "1") == 0))
        q->source = v[0] == '1';
    else if (strcmp(arg, "--stats") == 0)
        q->stats = true;
    else if (strcmp(arg, "--list") == 0)
        q->list = true;
    else
        return unknown_flag(arg);
    return 0;
}

/* ---- The run ---- */

/* How long steering holds a thread (RaceMob, SOSP 2013, section 3.2.3): at first, more after each run in
 * which that was too short, and at most. */
enum { TAU_US = 1000, TAU_STEP_US = 50000, TAU_MAX_US = 200000 };

static int open_output(const struct dh_chase_request *q, int *ret_fd)
{
    *ret_fd = -1;
    if (!q->output[0])
        return 0;
    const char *inputs[DH_CHASE_MODULES];
    for (size_t i = 0; i < q->n_modules; i++)
        inputs[i] = q->modules[i].path;
    if (dh_output_is_input(q->output, inputs, q->n_modules))
        return dh_cli_fail("chase", "cannot write '%s': this command reads it", q->output);
    const char *why = dh_output_appendable(q->output);
    if (!why) {
        *ret_fd = open(q->output, O_WRONLY | O_APPEND | O_CLOEXEC);
        why = *ret_fd < 0 ? strerror(errno) : NULL;
    }
    return why ? dh_cli_fail("chase", "cannot write '%s': %s", q->output, why) : 0;
}

static void print_stats(const struct dh_chase_trial *t)
{
    fprintf(stderr,
            "deadheat chase: waited %.1f ms of %.1f ms (%.2f%%) in %" PRIu64 " samples; %" PRIu64
            " traps; %" PRIu64 " harmless meetings\n",
            (double)t->waited_us / 1e3, (double)t->total_us / 1e3,
            t->total_us ? 100.0 * (double)t->waited_us / (double)t->total_us : 0, t->reached, t->traps,
            t->harmless);
}

struct tally {
    u64 runs, confirmed, reached, timeouts;
    u64 tau_us; /* of the last run */
    bool blind;
    int status; /* of the last run */
};

static void print_verdict(const struct dh_chase_request *q, const struct tally *t)
{
    if (t->confirmed && q->trials > 1)
        fprintf(stderr, "deadheat chase: confirmed in %" PRIu64 " of %" PRIu64 " runs\n", t->confirmed,
                t->runs);
    else if (!t->confirmed && t->timeouts)
        fprintf(stderr,
                "deadheat chase: timeout: a thread was held %" PRIu64 " time%s, up to %" PRIu64
                " ms, and nobody came to the other access on the same bytes\n",
                t->timeouts, t->timeouts == 1 ? "" : "s", t->tau_us / 1000);
    else if (!t->confirmed && !t->blind && t->reached)
        fprintf(stderr, "deadheat chase: not seen: threads waited %" PRIu64 " time%s at %s\n", t->reached,
                t->reached == 1 ? "" : "s",
                q->any ? "the access, and nobody else was seen at the same bytes"
                       : "the first access, and no other came to the second on the same bytes");
    else if (!t->confirmed && !t->blind)
        fprintf(stderr, "deadheat chase: not seen: no thread was caught at %s access\n",
                q->any ? "the" : "the first");
}

static int judge(const struct dh_chase_request *q, const struct tally *t, u64 races)
{
    if (races && q->exitcode)
        return (int)q->exitcode;
    if (WIFSIGNALED(t->status))
        return dh_cli_child_end_like(t->status);
    int own = WEXITSTATUS(t->status);
    return t->blind && own == 0 ? DH_EXIT_TROUBLE : own;
}

static int run(struct dh_chase_request *q)
{
    struct dh_reporter_options options = {
        .out = stderr,
        .messages = stderr,
        .input = "records",
        .suppressions = q->suppressions,
        .streaming = true,
        .print = true,
        .color = dh_cli_wants_color(q->color, STDERR_FILENO),
        .source = q->source,
    };
    struct dh_reporter_result result;
    struct tally tally = {0};
    int output;
    q->tau_us = TAU_US;
    q->again = q->trials > 1;
    if (open_output(q, &output) != 0)
        return DH_EXIT_TROUBLE;
    struct dh_reporter *reporter = dh_reporter_new(&options);
    bool ran = true;
    for (u64 i = 0; i < q->trials && ran; i++) {
        struct dh_chase_trial trial = dh_chase_try(q, reporter, output);
        ran = trial.ran;
        tally.runs += ran;
        tally.confirmed += trial.confirmed;
        tally.reached += trial.reached;
        tally.blind |= trial.blind;
        tally.timeouts += trial.timeout;
        tally.tau_us = q->tau_us;
        if (trial.timeout)
            q->tau_us = q->tau_us + TAU_STEP_US < TAU_MAX_US ? q->tau_us + TAU_STEP_US : TAU_MAX_US;
        tally.status = trial.status;
        if (q->stats && ran)
            print_stats(&trial);
    }
    dh_reporter_finish(reporter, &result);
    if (output >= 0)
        close(output);
    if (!ran)
        return DH_EXIT_TROUBLE;
    print_verdict(q, &tally);
    return result.bad_suppressions ? DH_EXIT_TROUBLE : judge(q, &tally, result.races);
}

static int chase(struct dh_chase_request *q)
{
    if (q->pair && q->any)
        return dh_cli_fail("chase", "either --pair or --any, not both");
    if (q->steer && q->any)
        return dh_cli_fail("chase",
                           "--steer needs a --pair: with --any, the other access is made when it is seen");
    if (!q->pair && !q->any)
        return dh_cli_fail(
            "chase", "which pair? For example: deadheat chase --pair server.c:120:server.c:340 -- ./server");
    if (!q->argv[0])
        return dh_cli_fail("chase", "which program? For example: deadheat chase --pair %s -- ./prog",
                           q->pair);
    int rc = dh_cli_check_program(&q->arena, "chase", q->argv[0], true);
    if (rc)
        return rc;
    q->modules[0].path = dh_path_find_program(&q->arena, q->argv[0]);
    rc = dh_chase_find_sites(q);
    if (!rc && q->list)
        dh_chase_list_sites(q);
    else if (!rc)
        rc = run(q);
    dh_chase_close_modules(q);
    return rc;
}

int dh_cmd_chase(int argc, char **argv)
{
    struct dh_chase_request q = {.n_modules = 1,
                                 .rmax = 0.05,
                                 .delay_us = 10000,
                                 .hang_us = 10000000,
                                 .trials = 1,
                                 .exitcode = DH_EXIT_RACES,
                                 .output = "",
                                 .suppressions = "",
                                 .color = "auto",
                                 .source = true};
    int rc = 0, i = 1;
    unsetenv("DEBUGINFOD_URLS"); /* nothing must wait for the network */
    for (; !rc && i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            dh_arena_done(&q.arena);
            return 0;
        }
        bool apart = strcmp(argv[i], "--pair") == 0 && i + 1 < argc;
        rc = apart ? set_pair(&q, argv[i + 1]) : set_flag(&q, argv[i]);
        i += apart;
    }
    q.argv = argv + i;
    rc = rc ? rc : chase(&q);
    dh_arena_done(&q.arena);
    return rc;
}
