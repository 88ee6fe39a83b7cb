/*
 * cmd_analyze.c - `deadheat analyze`: any detectors over a recorded trace, in one pass, and a second pass if
 * there are races to prove (analyze_confirm.c).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze.h"
#include "cli/cmd.h"
#include "util/arena.h"

static const char usage[] =
    "usage: deadheat analyze [OPTIONS] TRACE\n"
    "\n"
    "Finds the data races in a recorded trace, with one detector or several at once. A trace is a "
    "recording of\n"
    "'deadheat record', or text in the STD format ('-': from standard input): one event per line,\n"
    "thread|op(operand)|location.\n"
    "\n"
    "  --detector=A,B,...    which detectors (default: fasttrack); 'all' for all that read the trace once;\n"
    "                        'deadheat detectors' lists them\n"
    "  --format=FORMAT       text (default), or one of those below\n"
    "  --list=WHAT           variables (default): the first race on each variable; events: each racy event;\n"
    "                        none: only the counts\n"
    "  --all                 list races with the same cause one by one\n"
    "  --suppressions=FILE   do not report races that match, in ThreadSanitizer's "
    "syntax\n" DH_CLI_BASELINE_HELP
    "  --stacks=0|1          for a recording: report races in full (default: 1), or one per line\n"
    "  --full-names          show C++ names in full, with default template arguments\n"
    "  --limit=N             in text and html, list at most N races per detector (default: 20; 0: all)\n"
    "  --variable=A,B,...    only races on these variables: searches and witnesses are restricted to them\n"
    "  --window=N            number of events that a windowed detector considers together (cp: 65536)\n"
    "  --view=WHAT           for a program whose runtime system uses <deadheat/lard.h>: lard (default), or "
    "with\n"
    "                        one of its rules disabled: allmem, allsync, noclear, nocopy, noidentity; "
    "naive:\n"
    "                        with none of them\n"
    "  --memory=MB           memory limit per detector; one that needs more is stopped (default: 4096; 0: "
    "none)\n"
    "  --witness             show the reordering that proves a predicted race, as event numbers\n"
    "  --hold=N              number of events kept, in a second pass, to prove races of detectors that "
    "read once\n"
    "                        (default: 10000000, about 500 MB; 0: no second pass)\n"
    "\n"
    "Exit status: 0 if no detector reported a race; 66 if at least one did; 2 for bad usage or input, or "
    "if no\n"
    "race was found but the trace is empty or incomplete.\n"
    "\n"
    "Example:\n"
    "  deadheat analyze --detector=fasttrack,eraser,multilock trace.std\n";

static struct dh_analyze a; /* large */
static struct dh_arena rules;
static struct dh_cli_baseline known;

static int add_detector(const char *name, size_t len)
{
    const struct dh_detector_ops *ops = dh_detector_find(name, len);
    if (!ops)
        return dh_cli_unknown_detector("analyze", name, len);
    for (u32 i = 0; i < a.n; i++) {
        if (a.ops[i] == ops)
            return 0;
    }
    if (a.n == DH_ANALYZE_MAX)
        return dh_cli_fail("analyze", "more than %d detectors", DH_ANALYZE_MAX);
    a.ops[a.n++] = ops;
    return 0;
}

static int set_detectors(const char *list)
{
    for (;;) {
        size_t len = strcspn(list, ",");
        int rc = 0;
        if (len == 3 && memcmp(list, "all", 3) == 0) {
            for (u32 i = 0; i < dh_n_detectors && !rc; i++) {
                if (!dh_detectors[i]->whole_trace)
                    rc = add_detector(dh_detectors[i]->name, strlen(dh_detectors[i]->name));
            }
        } else {
            rc = add_detector(list, len);
        }
        if (rc || !list[len])
            return rc;
        list += len + 1;
    }
}

static int set_number(const char *name, const char *value, u64 *ret_number)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(value, &end, 10);
    if (errno || *end || value[0] < '0' || value[0] > '9')
        return dh_cli_fail("analyze", "--%s cannot be '%s'; it must be a number", name, value);
    *ret_number = v;
    return 0;
}

static int set_list(const char *value)
{
    if (strcmp(value, "variables") == 0)
        a.list = DH_LIST_VARIABLES;
    else if (strcmp(value, "events") == 0)
        a.list = DH_LIST_EVENTS;
    else if (strcmp(value, "none") == 0)
        a.list = DH_LIST_NONE;
    else
        return dh_cli_fail("analyze", "--list cannot be '%s'; it must be variables, events or none", value);
    return 0;
}

static int set_view(const char *value)
{
    int rc = dh_trace_view_parse(value, &a.view);
    return rc ? dh_cli_fail("analyze", "--view cannot be '%s'; it must be one of %s", value,
                            dh_trace_view_names)
              : 0;
}

u32 *dh_analyze_witness(u64 start, const u32 *sequence, u64 n)
{
    u32 *events = dh_util_alloc(n * sizeof(*events));
    for (u64 i = 0; i < start; i++)
        events[i] = (u32)i;
    memcpy(events + start, sequence, (n - start) * sizeof(*events));
    return events;
}

static int set_variables(const char *list)
{
    while (*list) {
        size_t len = strcspn(list, ",");
        if (a.n_variables == DH_ANALYZE_MAX)
            return dh_cli_fail("analyze", "more than %d variables", DH_ANALYZE_MAX);
        char *name = dh_util_alloc(len + 1);
        memcpy(name, list, len);
        name[len] = '\0';
        a.variables[a.n_variables++] = name;
        list += len + (list[len] == ',');
    }
    return a.n_variables ? 0 : dh_cli_fail("analyze", "--variable needs a name");
}

static int set_flag(const char *arg)
{
    static const char *const names[] = {
        "--detector",   "--format",  "--list",     "--limit",           "--view", "--window",
        "--variable",   "--witness", "--hold",     "--memory",          "--all",  "--suppressions",
        "--full-names", "--stacks",  "--baseline", "--update-baseline", "--help"};
    const char *v;
    if (dh_cli_baseline_flag(&known, arg))
        return 0;
    if (strcmp(arg, "--full-names") == 0) {
        a.full_names = true;
        return 0;
    }
    if ((v = dh_cli_value(arg, "stacks"))) {
        if (strcmp(v, "0") != 0 && strcmp(v, "1") != 0)
            return dh_cli_fail("analyze", "--stacks cannot be '%s'; it must be 0 or 1", v);
        a.bare = v[0] == '0';
        return 0;
    }
    if (strcmp(arg, "--witness") == 0) {
        a.witness = true;
        return 0;
    }
    if (strcmp(arg, "--all") == 0) {
        a.all = true;
        return 0;
    }
    if ((v = dh_cli_value(arg, "detector")))
        return set_detectors(v);
    if ((v = dh_cli_value(arg, "list")))
        return set_list(v);
    if ((v = dh_cli_value(arg, "variable")))
        return set_variables(v);
    if ((v = dh_cli_value(arg, "view")))
        return set_view(v);
    if ((v = dh_cli_value(arg, "limit")))
        return set_number("limit", v, &a.limit);
    if ((v = dh_cli_value(arg, "window")))
        return set_number("window", v, &a.window);
    if ((v = dh_cli_value(arg, "memory")))
        return set_number("memory", v, &a.memory);
    if ((v = dh_cli_value(arg, "hold")))
        return set_number("hold", v, &a.hold);
    if ((v = dh_cli_value(arg, "suppressions")))
        return dh_cli_suppressions("analyze", v, &a.rules);
    if ((v = dh_cli_value(arg, "format")))
        return dh_cli_format("analyze", v, &a.format);
    return dh_cli_unknown_flag("analyze", arg, names, DH_ARRAY_LEN(names));
}

static bool is_named(const char *name)
{
    for (u32 i = 0; name && i < a.n_variables; i++) {
        if (strcmp(name, a.variables[i]) == 0)
            return true;
    }
    return false;
}

/* Is this variable, or the global that contains it, one of those requested? */
static bool wants(void *ctx, u32 cell)
{
    (void)ctx;
    u8 *known = dh_table_at(&a.wanted, cell);
    if (!known)
        dh_util_no_memory();
    if (*known == DH_WANTED_UNKNOWN)
        *known = is_named(dh_trace_in_variable(&a.in, cell)) || is_named(dh_trace_in_global(&a.in, cell))
                     ? DH_WANTED_YES
                     : DH_WANTED_NO;
    return *known == DH_WANTED_YES;
}

/* Keeps another earlier access of the race that was kept last; any of them may prove it. */
static void keep_other(struct dh_analyze_found *f, const struct dh_race *race)
{
    struct dh_analyze_race *r = &f->races[f->n - 1];
    if (a.ops[f - a.found]->guarantee != DH_PREDICTIVE_SOUND || race->witness || r->race.witness_len ||
        r->race.cell != race->cell)
        return;
    if (r->n_others == 0)
        r->others = f->n_others;
    f->others = dh_util_grow(f->others, f->n_others, &f->cap_others, sizeof(*f->others));
    f->others[f->n_others++] = race->earlier;
    r->n_others++;
}

/* Is a race of this event, or else of this variable, on the list? */
static bool is_listed(struct dh_analyze_found *f, const struct dh_race *race)
{
    if (f->n && f->races[f->n - 1].race.now.event == race->now.event) {
        keep_other(f, race);
        return true;
    }
    if (a.list == DH_LIST_EVENTS || a.rules.rules)
        return false;
    u8 *seen = dh_table_at(&f->seen, race->cell);
    if (!seen)
        dh_util_no_memory();
    bool listed = *seen;
    *seen = 1;
    return listed;
}

/* Keeps what will be listed; the host does the counting. */
static void on_race(void *ctx, u32 index, const struct dh_race *race)
{
    (void)ctx;
    struct dh_analyze_found *f = &a.found[index];
    if (is_listed(f, race))
        return;
    f->races = dh_util_grow(f->races, f->n, &f->cap, sizeof(*f->races));
    struct dh_analyze_race *kept = &f->races[f->n++];
    *kept = (struct dh_analyze_race){.race = *race};
    kept->proof = race->witness ? DH_PROOF_CHECKED : DH_PROOF_SPENT;
    kept->race.witness = NULL;
    if (!a.witness || !race->witness)
        return;
    kept->race.witness = dh_analyze_witness(race->witness_start, race->witness, race->witness_len);
}

static int run(void)
{
    if (dh_analyze_run(&a) != 0)
        return DH_EXIT_TROUBLE;
    dh_trace_in_warn(&a.in);
    dh_analyze_model(&a);
    dh_analyze_group(&a);
    dh_analyze_confirm(&a);
    dh_analyze_hint(&a);
    dh_analyze_timeline(&a);
    dh_analyze_print(&a);
    int status = 0;
    for (u32 i = 0; i < a.n; i++) {
        struct dh_host_result r;
        dh_host_result(a.host, i, &r);
        if (r.error)
            status = DH_EXIT_TROUBLE;
        else if ((a.rules.rules || a.baseline ? a.found[i].raced : r.reports) && !status)
            status = DH_EXIT_RACES;
    }
    return status || dh_trace_in_whole(&a.in) ? status : DH_EXIT_TROUBLE;
}

static int analyze(const char *file)
{
    int rc = dh_trace_in_open(&a.in, "analyze", file);
    if (rc)
        return rc;
    if (a.in.dht)
        dh_dht_set_view(a.in.dht, &a.view);
    a.host = dh_host_new(a.list == DH_LIST_NONE && !a.rules.rules && !a.baseline ? NULL : on_race, NULL);
    if (!a.host)
        dh_util_no_memory();
    dh_host_window(a.host, a.window);
    dh_host_limit(a.host, a.memory < SIZE_MAX >> 20 ? a.memory << 20 : 0);
    a.wanted.size = 1;
    dh_host_only(a.host, a.n_variables ? wants : NULL);
    for (u32 i = 0; i < a.n; i++) {
        a.found[i].seen.size = 1;
        if (dh_host_add(a.host, a.ops[i]) != 0)
            dh_util_no_memory();
    }
    rc = run();
    rc = dh_cli_baseline_end("analyze", &known, a.n_variables > 0, rc);
    dh_analyze_model_done(&a);
    free(a.habits);
    dh_arena_done(&rules);
    dh_host_free(a.host);
    dh_trace_in_close(&a.in);
    dh_table_done(&a.wanted);
    for (u32 i = 0; i < a.n_variables; i++)
        free(a.variables[i]);
    for (u32 i = 0; i < a.n; i++) {
        dh_table_done(&a.found[i].seen);
        for (size_t k = 0; k < a.found[i].n; k++)
            free((void *)a.found[i].races[k].race.witness);
        free(a.found[i].races);
        free(a.found[i].others);
    }
    return rc;
}

int dh_cmd_analyze(int argc, char **argv)
{
    const char *file = NULL;
    a.limit = 20;
    a.hold = DH_ANALYZE_HOLD;
    a.memory = DH_ANALYZE_MEMORY;
    dh_suppress_init(&a.rules, &rules);
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
            return dh_cli_usage(usage);
        }
        if (arg[0] == '-' && arg[1]) {
            int rc = set_flag(arg);
            if (rc)
                return rc;
        } else if (file) {
            return dh_cli_fail("analyze", "one trace at a time: '%s' and '%s'", file, arg);
        } else {
            file = arg;
        }
    }
    if (!file)
        return dh_cli_fail("analyze", "which trace? See 'deadheat analyze --help'");
    if (a.n == 0)
        add_detector("fasttrack", strlen("fasttrack"));
    int rc = dh_cli_baseline_load("analyze", &known);
    a.baseline = known.is;
    return rc ? rc : analyze(file);
}
