/*
 * cmd_chase.c - `deadheat chase`: confirms one pair of accesses as a race, or many one after another, in a
 * program that runs at full speed.
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
    "       deadheat chase --any[=A] [OPTIONS] [--] PROGRAM [ARGUMENTS]\n"
    "       deadheat chase --infer[=TIME] [OPTIONS] [--] PROGRAM [ARGUMENTS]\n"
    "       deadheat chase --all | --from FILE [OPTIONS] [--] PROGRAM [ARGUMENTS]\n"
    "       deadheat chase --replay=FINGERPRINT --from FILE | --state=FILE [OPTIONS] [--] PROGRAM "
    "[ARGUMENTS]\n"
    "\n"
    "Runs a program and tries to catch two threads at the accesses A and B at the same time, on the same "
    "bytes. It\n"
    "works on any dynamically linked program with debug information (-g), from any compiler; the program "
    "runs at\n"
    "full speed, except for short waits. A position is FILE:LINE, FILE:LINE:COLUMN or FILE:LINE:* (all "
    "columns),\n"
    "followed by :read or :write to select only such accesses. The order matters: a thread waits at A "
    "while other\n"
    "threads are checked when they reach B.\n"
    "\n"
    "  --pair A:B            what to confirm\n"
    "  --any=A               report any access that conflicts with A, wherever it is: uses hardware "
    "watchpoints\n"
    "  --any                 the same with accesses chosen at random from the whole program, and from "
    "--module\n"
    "  --from FILE           confirm the races in race records, or in findings that 'report', 'analyze' or\n"
    "                        'static' print as JSON: one in each run, in both orders\n"
    "  --pairs FILE          the same for the pairs written by 'deadheat caper export --to=pairs'\n"
    "  --all                 the same for all pairs that the program carries; it must have been built with\n"
    "                        'deadheat cc --dh-mode=field'\n"
    "  --infer[=TIME]        find out which accesses meet on the same bytes, in a run of at most this time;\n"
    "                        with --all and --from: before all other runs, to chase those pairs first\n"
    "  --style=relay|sound   with --all: which pairs, as in 'deadheat static' (default: relay)\n"
    "  --state=FILE          with --all and --from: remember what has been tried, to continue later\n"
    "  --budget=TIME         with --all and --from: stop after this time: 90s, 10m, 8h\n"
    "  --summary=FILE        with --all, --from and --infer: also write the results as JSON\n"
    "  --replay=FINGERPRINT  force the order in which this race of --from or --state was seen\n"
    "  --steer=ORDER         make A come first (primary), or B (alternate), and report the consequence: a "
    "thread\n"
    "                        that arrives too early is held, for 1 ms and for 50 ms longer after each run "
    "in\n"
    "                        which that was too short\n"
    "  --hang=TIME           steered threads that do not move for this long count as hanging (default: 10s)\n"
    "  --analysis=NAME       chaser: catch two threads at the same time (default); litehb: track "
    "synchronisation\n"
    "                        from A on, and find a B that is not ordered after it, even much later; fullhb:\n"
    "                        the same with vector clocks all the time, for comparison. The last two need a\n"
    "                        field build\n"
    "  --window=TIME         litehb, fullhb: how long one A is tracked, at most (default: 1s)\n"
    "  --trust[=LIBRARY]     litehb, fullhb: assume that this library, or the program's own code that was "
    "not\n"
    "                        compiled with deadheat, orders no threads of the program; may be given several\n"
    "                        times\n"
    "  --tracking-only       litehb, fullhb: track as usual, but ignore B: to measure the cost\n"
    "  --rmax=N%             the share of time that may be spent waiting (default: 5%)\n"
    "  --delay=TIME[..TIME]  how long a thread waits: 10ms (default), 500us; 10ms..1s: increasing up to 1s "
    "at\n"
    "                        accesses where threads have waited before\n"
    "  --trials=N            run the program N times for each pair and order (default: 1), and as often for\n"
    "                        inference; 0 with --infer: only one inference run\n"
    "  --client=COMMAND      a shell command that sends work to a server: it is started with the program, "
    "and\n"
    "                        when it ends, the program gets SIGTERM\n"
    "  --module=FILE         also look for A and B in this library; may be given several times\n"
    "  --list                print the instructions of A and B without running the program\n"
    "  --seed=N              repeat the random choices of an earlier run (default: new ones each time)\n"
    "  --output=FILE         append the race records to FILE, for 'deadheat report'\n"
    "  --suppressions=FILE   do not report races that match, in ThreadSanitizer's syntax\n"
    "  --exitcode=N          exit status if the race was confirmed (default: 66)\n"
    "  --color=WHEN          auto (default: on a terminal), always or never\n"
    "  --source=0|1          show source lines (default: 1)\n"
    "  --stats               print the cost of the chase, and the program's CPU time\n"
    "  --help                this text\n"
    "\n"
    "Exit status: 66 if the race was confirmed; otherwise that of the program, or 0 with --all and --from; "
    "2 if the\n"
    "chase was not possible.\n"
    "\n"
    "Examples:\n"
    "  deadheat chase --pair server.c:120:server.c:340 -- ./server --port 8080\n"
    "  deadheat chase --pair hits.c:24:hits.c:24 --trials=10 --rmax=20% -- ./hits\n"
    "  deadheat chase --any=hits.c:24 -- ./hits\n"
    "  deadheat chase --any -- ./server --port 8080\n"
    "  deadheat chase --from races.jsonl --trials=5 -- ./hits\n"
    "  deadheat chase --all --state=hits.state --budget=10m -- ./hits\n";

/* ---- Flags ---- */

enum { MOST_TRIALS = 1000000 };

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
    static const char *const names[] = {
        "--analysis", "--window", "--tracking-only", "--infer",  "--pair",   "--any",          "--from",
        "--pairs",    "--all",    "--style",         "--state",  "--budget", "--summary",      "--replay",
        "--steer",    "--hang",   "--rmax",          "--delay",  "--trials", "--module",       "--list",
        "--seed",     "--output", "--color",         "--source", "--stats",  "--suppressions", "--exitcode",
        "--help",     "--trust",  "--client"};
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
    q->drawn = !text;
    if (text && dh_chase_position_one(&q->arena, text, q->positions, &why) != 0)
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

static int set_replay(struct dh_chase_request *q, const char *text)
{
    if (!dh_fingerprint_is_valid(text, strlen(text)))
        return dh_cli_fail(
            "chase", "--replay cannot be '%s'; it must be a fingerprint, such as dh2-0123456789ab", text);
    q->replay = text;
    return 0;
}

static int add_module(struct dh_chase_request *q, const char *path)
{
    if (q->n_modules == DH_CHASE_MODULES)
        return dh_cli_fail("chase", "no more than %d modules can be given", DH_CHASE_MODULES - 1);
    q->modules[q->n_modules++].path = path;
    return 0;
}

/* "10ms", or "10ms..1s": for the first waits at an access, and for later ones. */
static bool read_delay(struct dh_chase_request *q, const char *text)
{
    const char *dots = strstr(text, "..");
    const char *least = dots ? dh_arena_printf(&q->arena, "%.*s", (int)(dots - text), text) : text;
    if (!dh_cli_time(least, &q->delay_us))
        return false;
    q->longest_us = 0;
    return !dots || (dh_cli_time(dots + 2, &q->longest_us) && q->longest_us >= q->delay_us);
}

static int set_number(struct dh_chase_request *q, const char *arg, bool *ret_known)
{
    const char *v;
    *ret_known = true;
    if ((v = dh_cli_value(arg, "rmax"))) {
        if (!dh_cli_percent(v, &q->rmax))
            return dh_cli_fail("chase", "--rmax cannot be '%s'; it must be a percentage from 0%% to 100%%",
                               v);
        q->rmax_given = true;
    } else if ((v = dh_cli_value(arg, "delay"))) {
        if (!read_delay(q, v))
            return dh_cli_fail(
                "chase",
                "--delay cannot be '%s'; it must be a time up to a minute, such as 10ms, or two "
                "of them, such as 10ms..1s",
                v);
        q->delay_given = true;
    } else if ((v = dh_cli_value(arg, "infer"))) {
        if (!dh_cli_budget(v, &q->infer_us))
            return dh_cli_fail(
                "chase", "--infer cannot be '%s'; it must be a time from a second on, such as 90s or 10m", v);
        q->infer = true;
    } else if ((v = dh_cli_value(arg, "window"))) {
        if (!dh_cli_time(v, &q->window_us))
            return dh_cli_fail("chase",
                               "--window cannot be '%s'; it must be a time up to a minute, such as 1s", v);
    } else if ((v = dh_cli_value(arg, "hang"))) {
        if (!dh_cli_time(v, &q->hang_us))
            return dh_cli_fail("chase",
                               "--hang cannot be '%s'; it must be a time up to a minute, such as 10s", v);
    } else if ((v = dh_cli_value(arg, "budget"))) {
        if (!dh_cli_budget(v, &q->budget_us))
            return dh_cli_fail(
                "chase",
                "--budget cannot be '%s'; it must be a time from a second on, such as 90s, 10m or 8h", v);
    } else if ((v = dh_cli_value(arg, "trials"))) {
        if (!read_number(v, 0, MOST_TRIALS, &q->trials))
            return dh_cli_fail("chase", "--trials cannot be '%s'; it must be a number from 1 to %d", v,
                               MOST_TRIALS);
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

static int set_flag(void *request, char **argv, int *i)
{
    struct dh_chase_request *q = request;
    const char *arg = argv[*i], *v;
    bool known;
    int rc = set_number(q, arg, &known);
    if (rc || known)
        return rc;
    if ((v = dh_cli_argument(argv, i, "pair")))
        return set_pair(q, v);
    if ((v = dh_cli_value(arg, "any")) || strcmp(arg, "--any") == 0)
        return set_any(q, v);
    if ((v = dh_cli_value(arg, "steer")))
        return set_steer(q, v);
    if ((v = dh_cli_value(arg, "analysis")))
        return dh_chase_track_set(q, v);
    if ((v = dh_cli_value(arg, "trust")) || strcmp(arg, "--trust") == 0)
        return dh_chase_track_trust(q, v ? v : "");
    if ((v = dh_cli_value(arg, "module")))
        return add_module(q, v);
    if ((v = dh_cli_value(arg, "replay")))
        return set_replay(q, v);
    if ((v = dh_cli_value(arg, "output")))
        q->output = v;
    else if ((v = dh_cli_argument(argv, i, "from")) || (v = dh_cli_argument(argv, i, "pairs")))
        q->from = v;
    else if ((v = dh_cli_value(arg, "state")))
        q->state = v;
    else if ((v = dh_cli_value(arg, "client")))
        dh_cli_client_set(v);
    else if ((v = dh_cli_value(arg, "summary")))
        q->summary = v;
    else if ((v = dh_cli_value(arg, "style")) && (strcmp(v, "relay") == 0 || strcmp(v, "sound") == 0))
        q->style = v;
    else if (strcmp(arg, "--all") == 0)
        q->all = true;
    else if (strcmp(arg, "--infer") == 0)
        q->infer = true;
    else if (strcmp(arg, "--tracking-only") == 0)
        q->tracking_only = true;
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

u64 dh_chase_tau(u64 timeouts)
{
    enum { FIRST_US = 1000, STEP_US = 50000, STEPS = 4, MOST_US = 200000 };
    return timeouts < STEPS ? FIRST_US + STEP_US * timeouts : MOST_US;
}

int dh_chase_open_output(const struct dh_chase_request *q, int *ret_fd)
{
    *ret_fd = -1;
    if (!q->output[0])
        return 0;
    const char *why = dh_output_appendable(q->output);
    if (!why) {
        *ret_fd = open(q->output, O_WRONLY | O_APPEND | O_CLOEXEC);
        why = *ret_fd < 0 ? strerror(errno) : NULL;
    }
    return why ? dh_cli_fail("chase", "cannot write '%s': %s", q->output, why) : 0;
}

void dh_chase_print_stats(const struct dh_chase_trial *t)
{
    fprintf(stderr,
            "deadheat chase: waited %.1f ms of %.1f ms (%.2f%%) in %" PRIu64 " samples; %" PRIu64
            " traps; %" PRIu64 " harmless meetings; late by %.1f ms; %.1f ms of CPU time\n",
            (double)t->waited_us / 1e3, (double)t->total_us / 1e3,
            t->total_us ? 100.0 * (double)t->waited_us / (double)t->total_us : 0, t->reached, t->traps,
            t->harmless, (double)t->late_us / 1e3, (double)t->cpu_us / 1e3);
    if (t->drawn)
        fprintf(stderr, "deadheat chase: %" PRIu64 " different accesses were chosen\n", t->drawn);
}

struct tally {
    u64 runs, confirmed, reached, timeouts, ordered;
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
                " ms, and no other thread reached the other access on the same bytes\n",
                t->timeouts, t->timeouts == 1 ? "" : "s", t->tau_us / 1000);
    else if (!t->confirmed && !t->blind && t->ordered)
        fprintf(stderr,
                "deadheat chase: no race: other threads reached the second access %" PRIu64
                " time%s on the same bytes, always ordered after the first\n",
                t->ordered, t->ordered == 1 ? "" : "s");
    else if (!t->confirmed && !t->blind && t->reached)
        fprintf(
            stderr, "deadheat chase: not seen: threads %s %" PRIu64 " time%s at %s\n",
            q->analysis ? "were sampled" : "waited", t->reached, t->reached == 1 ? "" : "s",
            q->drawn ? "randomly chosen accesses, and no other thread was seen accessing the same bytes"
            : q->any ? "the access, and no other thread was seen accessing the same bytes"
            : q->analysis
                ? "the first access, and no other thread reached the second one unordered on the same bytes"
                : "the first access, and no other thread reached the second one on the same bytes");
    else if (!t->confirmed && !t->blind)
        fprintf(stderr, "deadheat chase: not seen: no thread was caught at %s\n",
                q->drawn ? "any of the chosen accesses"
                : q->any ? "the access"
                         : "the first access");
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

struct dh_reporter *dh_chase_reporter(const struct dh_chase_request *q)
{
    struct dh_reporter_options options = {
        .out = stderr,
        .messages = stderr,
        .input = "records",
        .suppressions = q->suppressions,
        .streaming = true,
        .print = !q->brief,
        .color = dh_cli_wants_color(q->color, STDERR_FILENO),
        .source = q->source,
    };
    return dh_reporter_new(&options);
}

static int run(struct dh_chase_request *q)
{
    struct dh_reporter_result result;
    struct tally tally = {0};
    int output;
    q->tau_us = dh_chase_tau(q->replay ? UINT64_MAX : 0);
    q->again = q->trials > 1;
    if (dh_chase_open_output(q, &output) != 0)
        return DH_EXIT_TROUBLE;
    struct dh_reporter *reporter = dh_chase_reporter(q);
    bool ran = true, over = false;
    for (u64 i = 0; i < q->trials && ran && !over; i++) {
        struct dh_chase_trial trial = dh_chase_try(q, reporter, output);
        ran = trial.ran;
        over = dh_chase_was_interrupted(&trial) || trial.deaf;
        tally.runs += ran;
        tally.confirmed += trial.confirmed;
        tally.reached += trial.reached;
        tally.blind |= trial.blind;
        tally.timeouts += trial.timeout;
        tally.ordered += trial.ordered;
        tally.tau_us = q->tau_us;
        if (!q->replay)
            q->tau_us = dh_chase_tau(tally.timeouts);
        tally.status = trial.status;
        if (q->stats && ran)
            dh_chase_print_stats(&trial);
    }
    dh_reporter_finish(reporter, &result);
    if (output >= 0)
        close(output);
    if (!ran)
        return DH_EXIT_TROUBLE;
    print_verdict(q, &tally);
    return result.bad_suppressions ? DH_EXIT_TROUBLE : judge(q, &tally, result.races);
}

/* ---- One pair or many ---- */

/* From a state: the run in which it was confirmed last. */
static void take_confirmed(void *ctx, const struct dh_chase_outcome *o)
{
    struct dh_chase_request *q = ctx;
    const char *why = NULL;
    struct dh_chase_position at[2];
    if (!o->fingerprint || strcmp(o->fingerprint, q->replay) != 0 ||
        dh_chase_position_pair(&q->arena, o->pair, at, &why) != 0)
        return;
    q->positions[0] = at[o->swapped];
    q->positions[1] = at[!o->swapped];
    q->steer = o->steer && strcmp(o->steer, "alternate") == 0 ? DH_CHASE_ALTERNATE : DH_CHASE_PRIMARY;
}

static int find_replay(struct dh_chase_request *q)
{
    struct dh_chase_state state;
    struct dh_chase_candidates c = {0};
    int rc = 0;
    q->steer = DH_CHASE_FREE;
    dh_map_init(&c.by_name, &q->arena);
    if (q->state) {
        rc = dh_chase_state_open(q, &state, take_confirmed, q);
        dh_chase_state_close(&state);
    } else {
        rc = dh_chase_from_file(q, &c);
    }
    for (size_t i = 0; !rc && i < c.n; i++) {
        if (!c.at[i].fingerprint || strcmp(c.at[i].fingerprint, q->replay) != 0)
            continue;
        memcpy(q->positions, c.at[i].at, sizeof(q->positions));
        q->steer = c.at[i].reversed ? DH_CHASE_ALTERNATE : DH_CHASE_PRIMARY;
    }
    free(c.at);
    dh_map_done(&c.by_name);
    if (!rc && !q->steer)
        rc = dh_cli_fail("chase", "'%s' has no race %s", q->state ? q->state : q->from, q->replay);
    return rc;
}

static int replay(struct dh_chase_request *q)
{
    int rc = find_replay(q);
    if (rc)
        return rc;
    const char *why = dh_chase_find_candidate(q);
    if (why)
        return dh_cli_fail("chase", "race %s cannot be chased in '%s': %s", q->replay, q->modules[0].path,
                           why);
    q->rmax = q->rmax_given ? q->rmax : 1;
    return run(q);
}

static int chase_many(struct dh_chase_request *q)
{
    struct dh_chase_candidates c = {0};
    dh_map_init(&c.by_name, &q->arena);
    int rc = q->from ? dh_chase_from_file(q, &c) : dh_chase_from_program(q, &c);
    if (!rc)
        rc = dh_chase_many(q, &c);
    free(c.at);
    dh_map_done(&c.by_name);
    return rc;
}

static int chase_one(struct dh_chase_request *q)
{
    int rc = q->drawn ? dh_chase_find_all(q) : dh_chase_find_sites(q);
    if (!rc && q->list)
        dh_chase_list_sites(q);
    else if (!rc && q->any)
        rc = dh_chase_check_watchpoints(q);
    return rc || q->list ? rc : run(q);
}

/* Are the flags compatible? 0, or the exit status after a message. */
static int check_flags(const struct dh_chase_request *q)
{
    bool many = q->all || q->from || q->replay;
    if (q->pair && q->any)
        return dh_cli_fail("chase", "either --pair or --any, not both");
    if (many && (q->pair || q->any))
        return dh_cli_fail("chase", "--%s brings its own pairs; it cannot be combined with --pair or --any",
                           q->replay ? "replay"
                           : q->all  ? "all"
                                     : "from");
    if (q->all && q->from)
        return dh_cli_fail("chase", "either --all or --from, not both");
    if (q->replay && !q->from == !q->state)
        return dh_cli_fail("chase",
                           "--replay needs the file that the race is in: --from FILE or --state=FILE");
    if (q->steer && (q->any || q->replay))
        return dh_cli_fail("chase", q->any
                                        ? "--steer needs a --pair: with --any, the other access is made when "
                                          "it is seen"
                                        : "--replay determines the order; omit --steer");
    if (q->infer && (q->pair || q->any || q->replay))
        return dh_cli_fail("chase", "--infer is not for a particular pair: omit --%s",
                           q->pair  ? "pair"
                           : q->any ? "any"
                                    : "replay");
    if (!many && !q->pair && !q->any && !q->infer)
        return dh_cli_fail(
            "chase", "which pair? For example: deadheat chase --pair server.c:120:server.c:340 -- ./server");
    if (q->list && many)
        return dh_cli_fail("chase", "--list needs a --pair or --any");
    if (!many && (q->state || (q->summary && !q->infer) || q->budget_us))
        return dh_cli_fail("chase", "--%s is for many pairs: it needs --all or --from",
                           q->state     ? "state"
                           : q->summary ? "summary"
                                        : "budget");
    if (!q->trials && !(q->infer && many))
        return dh_cli_fail("chase",
                           "--trials cannot be '0'; only with --infer and pairs is there a run without");
    if (!q->argv[0])
        return dh_cli_fail("chase", "which program? For example: deadheat chase --pair %s -- ./prog",
                           q->pair ? q->pair : "server.c:120:server.c:340");
    return 0;
}

int dh_chase_prepare(struct dh_chase_request *q)
{
    int rc = dh_cli_check_program(&q->arena, "chase", q->argv[0], true);
    if (rc)
        return rc;
    q->modules[0].path = dh_path_find_program(&q->arena, q->argv[0]);
    rc = dh_chase_open_modules(q);
    return rc ? rc : dh_chase_track_prepare(q);
}

/* Outputs are opened when there is something to write, but what is wrong with them is said at once. */
static int check_files(const struct dh_chase_request *q)
{
    dh_output_reads(q->from);
    dh_output_reads(q->state);
    dh_output_reads(q->suppressions);
    if (dh_output_same(q->output, q->summary))
        return dh_cli_fail("chase", "--output and --summary cannot both go to %s", q->output);
    const char *outputs[] = {q->output, q->summary};
    for (size_t i = 0; i < DH_ARRAY_LEN(outputs); i++)
        if (outputs[i] && (dh_output_is_input(outputs[i]) || dh_output_same(outputs[i], q->state)))
            return dh_cli_fail("chase", "cannot write '%s': this command reads it", outputs[i]);
    return 0;
}

static int chase(struct dh_chase_request *q)
{
    int rc = check_flags(q);
    if (rc)
        return rc;
    rc = dh_chase_prepare(q);
    if (!rc)
        rc = check_files(q);
    if (!rc)
        rc = q->replay           ? replay(q)
             : q->all || q->from ? chase_many(q)
             : q->infer          ? dh_chase_infer(q)
                                 : chase_one(q);
    dh_chase_close_modules(q);
    return rc;
}

struct dh_chase_request dh_chase_defaults(void)
{
    return (struct dh_chase_request){.n_modules = 1,
                                     .rmax = 0.05,
                                     .delay_us = 10000,
                                     .window_us = 1000000,
                                     .hang_us = 10000000,
                                     .trials = 1,
                                     .exitcode = DH_EXIT_RACES,
                                     .output = "",
                                     .suppressions = "",
                                     .color = "auto",
                                     .style = "relay",
                                     .source = true};
}

int dh_cmd_chase(int argc, char **argv)
{
    (void)argc;
    struct dh_chase_request q = dh_chase_defaults();
    unsetenv("DEBUGINFOD_URLS"); /* nothing must wait for the network */
    int program, rc = dh_cli_flags(argv, set_flag, &q, &program);
    q.argv = argv + program;
    if (!rc) {
        rc = chase(&q);
    } else if (rc == DH_CLI_HELP) {
        fputs(usage, stdout);
        rc = 0;
    }
    dh_arena_done(&q.arena);
    return q.unwritten ? DH_EXIT_TROUBLE : rc;
}
