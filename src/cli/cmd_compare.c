/*
 * cmd_compare.c - `deadheat compare`: every detector on the same trace or the same program, in one table.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/compare.h"

static const char usage[] =
    "usage: deadheat compare [OPTIONS] TRACE\n"
    "       deadheat compare [OPTIONS] -- PROGRAM [ARGUMENTS]\n"
    "\n"
    "Runs every detector on the same trace or program and shows what each costs and finds: time, slowdown, "
    "peak\n"
    "memory, distinct variables and pairs of locations reported, and variables that no other detector "
    "reports. A\n"
    "program runs once per detector ('deadheat run --detector=NAME'); detectors that need the whole trace "
    "get a\n"
    "recording.\n"
    "\n"
    "  --detectors=A,B,...   only these; 'deadheat detectors' lists them (default: all)\n"
    "  --truth=FILE          which races are real: lines 'variable NAME' and 'race PLACE PLACE', or a "
    "source with\n"
    "                        '// RACE x' on the lines that race; adds races found, false alarms, races "
    "missed\n"
    "  --format=FORMAT       text (default), csv, json, or html: one page, with bars\n"
    "  --native=FILE         the program without deadheat's instrumentation, for slowdowns over native\n"
    "  --offline             record the program once and give all detectors that recording\n"
    "  --rounds=N            measure N times and take the fastest (default: 1)\n"
    "  --timeout=SECONDS     give up on a detector after this time (default: never)\n"
    "  --window=N            number of events that a windowed detector considers together\n"
    "  --force               run a program that was not compiled with deadheat\n"
    "\n"
    "Exit status: 0 if no detector reported a race; 66 if at least one did; 2 for bad usage or input, or "
    "if a\n"
    "detector failed.\n"
    "\n"
    "Examples:\n"
    "  deadheat compare --truth=prog.c trace.dht\n"
    "  deadheat compare --format=html --native=./prog-plain -- ./prog 4 >compare.html\n";

static struct dh_compare c;

struct request {
    const char *format;
    const char *truth;
    const char *native;
    const char *trace;
    bool offline;
    bool force;
    char **program; /* with its arguments; NULL: a trace */
    const struct dh_detector_ops *chosen[DH_COMPARE_ROWS];
    u32 n_chosen;
};

/* ---- Options ------------------------------------------------------------------------------------------ */

static int choose(struct request *q, const char *name, size_t len)
{
    const struct dh_detector_ops *ops = dh_detector_find(name, len);
    if (!ops)
        return dh_cli_unknown_detector("compare", name, len);
    for (u32 i = 0; i < q->n_chosen; i++)
        if (q->chosen[i] == ops)
            return 0;
    q->chosen[q->n_chosen++] = ops; /* fits: there are no duplicates */
    return 0;
}

static int choose_list(struct request *q, const char *list)
{
    for (;;) {
        size_t len = strcspn(list, ",");
        int rc = 0;
        if (len == 3 && memcmp(list, "all", 3) == 0)
            for (u32 i = 0; i < dh_n_detectors && !rc; i++)
                rc = choose(q, dh_detectors[i]->name, strlen(dh_detectors[i]->name));
        else
            rc = choose(q, list, len);
        if (rc || !list[len])
            return rc;
        list += len + 1;
    }
}

static int set_number(const char *name, const char *value, u64 least, u64 most, u64 *ret)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(value, &end, 10);
    if (errno || *end || value[0] < '0' || value[0] > '9' || v < least || v > most)
        return dh_cli_fail("compare", "--%s cannot be '%s'; it must be a number from %llu to %llu", name,
                           value, (unsigned long long)least, (unsigned long long)most);
    *ret = v;
    return 0;
}

static int set_format(struct request *q, const char *v)
{
    static const char *const formats[] = {"text", "csv", "json", "html"};
    for (size_t i = 0; i < DH_ARRAY_LEN(formats); i++)
        if (strcmp(v, formats[i]) == 0) {
            q->format = v;
            return 0;
        }
    return dh_cli_fail("compare", "--format cannot be '%s'; it must be text, csv, json or html", v);
}

static int unknown_flag(const char *arg)
{
    static const char *const names[] = {"--detectors", "--truth",   "--format", "--native", "--offline",
                                        "--rounds",    "--timeout", "--window", "--force",  "--help"};
    return dh_cli_unknown_flag("compare", arg, names, DH_ARRAY_LEN(names));
}

static int set_flag(struct request *q, const char *arg)
{
    const char *v;
    if ((v = dh_cli_value(arg, "detectors")) || (v = dh_cli_value(arg, "detector")))
        return choose_list(q, v);
    if ((v = dh_cli_value(arg, "format")))
        return set_format(q, v);
    if ((v = dh_cli_value(arg, "rounds")))
        return set_number("rounds", v, 1, 1000, &c.rounds);
    if ((v = dh_cli_value(arg, "timeout")))
        return set_number("timeout", v, 0, 1000000, &c.timeout);
    if ((v = dh_cli_value(arg, "window")))
        return set_number("window", v, 0, UINT32_MAX, &c.window);
    if ((v = dh_cli_value(arg, "truth"))) {
        q->truth = v;
        return 0;
    }
    if ((v = dh_cli_value(arg, "native"))) {
        q->native = v;
        return 0;
    }
    if (strcmp(arg, "--offline") == 0)
        q->offline = true;
    else if (strcmp(arg, "--force") == 0)
        q->force = true;
    else
        return unknown_flag(arg);
    return 0;
}

/* ---- The rows ----------------------------------------------------------------------------------------- */

static struct dh_compare_row *add_row(const char *name, const struct dh_detector_ops *ops, const char *how)
{
    struct dh_compare_row *r = &c.rows[c.n++];
    r->name = name;
    r->ops = ops;
    r->how = how;
    return r;
}

static int compare_trace(const struct request *q)
{
    c.subject = q->trace;
    for (u32 i = 0; i < q->n_chosen; i++) {
        int rc = dh_compare_trace(&c, add_row(q->chosen[i]->name, q->chosen[i], "trace"), q->trace, i > 0);
        if (rc)
            return rc;
    }
    return 0;
}

/* The recording, and every detector that works on it, with the sum of both times. */
static int compare_recorded(const struct request *q, const char *file)
{
    struct dh_compare_row *recording = NULL;
    for (u32 i = 0; i < q->n_chosen; i++) {
        const struct dh_detector_ops *ops = q->chosen[i];
        if (!ops->whole_trace && !q->offline)
            continue;
        if (!recording) {
            recording = add_row("record", NULL, "recording");
            dh_compare_record(&c, recording, q->program, file);
        }
        struct dh_compare_row *row = add_row(ops->name, ops, "offline");
        if (recording->error)
            row->error = dh_arena_printf(&c.arena, "no recording: %s", recording->error);
        else if (dh_compare_trace(&c, row, file, i > 0) != 0)
            return DH_EXIT_TROUBLE;
        else {
            row->seconds += recording->seconds;
            row->cpu += recording->cpu;
        }
    }
    return 0;
}

static int compare_program(const struct request *q)
{
    char dir[] = "/tmp/deadheat-compare-XXXXXX";
    char **plain = NULL;
    size_t n = 0;
    int rc = dh_cli_check_program(&c.arena, "compare", q->program[0], q->force);
    if (rc)
        return rc;
    const char *where = getenv("TMPDIR");
    char *work = where && *where ? dh_arena_printf(&c.arena, "%s/deadheat-compare-XXXXXX", where) : dir;
    if (!mkdtemp(work))
        return dh_cli_fail("compare", "cannot make a directory %s: %s", work, strerror(errno));
    char *records = dh_arena_printf(&c.arena, "%s/races.jsonl", work);
    char *recording = dh_arena_printf(&c.arena, "%s/run.dht", work);
    const char *const files[] = {records, recording, dh_arena_printf(&c.arena, "%s.part", recording), NULL};
    dh_compare_child_litter(files, work);
    c.is_program = true;
    c.subject = "";
    for (char **a = q->program; *a; a++, n++)
        c.subject = dh_arena_printf(&c.arena, "%s%s%s", c.subject, n ? " " : "", *a);
    if (q->native) {
        plain = dh_arena_array(&c.arena, n + 1, sizeof(*plain));
        memcpy(plain, q->program, n * sizeof(*plain));
        plain[0] = (char *)q->native;
        dh_compare_native(&c, add_row("native", NULL, "native"), plain);
    }
    for (u32 i = 0; i < q->n_chosen && !q->offline; i++) {
        const struct dh_detector_ops *ops = q->chosen[i];
        if (ops->whole_trace)
            continue;
        dh_compare_online(&c, add_row(ops->name, ops, "online"), q->program, records);
        /* `run` has an engine of its own for this one; the others are compared with the laboratory's. */
        if (strcmp(ops->name, "fasttrack") == 0)
            dh_compare_online(&c, add_row("fasttrack-ref", ops, "online"), q->program, records);
    }
    rc = compare_recorded(q, recording);
    dh_compare_child_clean();
    dh_compare_child_litter(NULL, NULL);
    return rc;
}

/* ---- The command -------------------------------------------------------------------------------------- */

static int show(const struct request *q)
{
    int status = 0;
    dh_compare_count(&c);
    if (c.truth)
        dh_truth_judge(&c);
    dh_compare_print(&c, q->format);
    for (u32 i = 0; i < c.n; i++) {
        if (c.rows[i].error)
            status = DH_EXIT_TROUBLE;
        else if (c.rows[i].n_warnings && !status)
            status = DH_EXIT_RACES;
    }
    return status || !c.partial ? status : DH_EXIT_TROUBLE;
}

static int check(struct request *q)
{
    if (!q->trace && !q->program)
        return dh_cli_fail("compare", "which trace, or which program? See 'deadheat compare --help'");
    if (q->trace && q->program)
        return dh_cli_fail("compare", "a trace or a program, not both: '%s' and '%s'", q->trace,
                           q->program[0]);
    if (q->trace && strcmp(q->trace, "-") == 0)
        return dh_cli_fail("compare", "the trace must be a file: it is read once a detector");
    if (q->trace && (q->native || q->offline))
        return dh_cli_fail("compare", "%s is for programs, not for traces",
                           q->native ? "--native" : "--offline");
    if (q->native && access(q->native, X_OK) != 0)
        return dh_cli_fail("compare", "cannot run '%s': %s", q->native, strerror(errno));
    if (q->truth && !(c.truth = dh_truth_read(&c.arena, q->truth)))
        return DH_EXIT_TROUBLE;
    return q->n_chosen ? 0 : choose_list(q, "all");
}

int dh_cmd_compare(int argc, char **argv)
{
    struct request q = {.format = "text"};
    int rc = 0;
    c.rounds = 1;
    for (int i = 1; i < argc && !q.program && !rc; i++) {
        const char *arg = argv[i];
        if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
            fputs(usage, stdout);
            return 0;
        }
        if (strcmp(arg, "--") == 0) {
            if (i + 1 == argc)
                return dh_cli_fail("compare", "which program? For example: deadheat compare -- ./prog");
            q.program = argv + i + 1;
        } else if (arg[0] == '-' && arg[1]) {
            rc = set_flag(&q, arg);
        } else if (q.trace) {
            return dh_cli_fail("compare", "one trace at a time: '%s' and '%s'", q.trace, arg);
        } else {
            q.trace = arg;
        }
    }
    if (!rc)
        rc = check(&q);
    if (!rc)
        rc = q.program ? compare_program(&q) : compare_trace(&q);
    if (!rc)
        rc = show(&q);
    dh_arena_done(&c.arena);
    return rc;
}
