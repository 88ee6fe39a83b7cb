/*
 * caper_status.c - `deadheat caper status`: Caper's progress, run by run, and the pairs.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/caper.h"
#include "cli/caper_page.h"
#include "cli/cmd.h"
#include "cli/static.h"
#include "report/json.h"
#include "report/table.h"
#include "util/output.h"
#include "util/path.h"
#include "util/text.h"

static const char usage[] =
    "usage: deadheat caper status --state=FILE [OPTIONS] [PROGRAM]\n"
    "\n"
    "Prints what 'deadheat caper' knows after all runs so far: how many pairs of accesses may have raced "
    "(dpPairs),\n"
    "how many others are possible (spPairs), how many sites have touched memory that other threads could "
    "reach\n"
    "(deSites), and how these numbers grew from run to run. PROGRAM is the build that the state belongs "
    "to; by\n"
    "default it is looked for where it was last run. For a state of --analysis=alias: the pairs that were "
    "seen.\n"
    "\n"
    "  --state=FILE     the state\n"
    "  --list           the pairs of dpPairs, with source lines and variables, like 'deadheat static'\n"
    "  --set=dp|sp|sound  with --list: dpPairs (default), spPairs, or both\n"
    "  --pair=FILE:LINE,FILE:LINE  only print which set the pair at these lines is in: dpPairs, spPairs, "
    "or none;\n"
    "                   may be given several times\n"
    "  --limit=N        with --list: at most N pairs per variable (default: 0, all; with html: 50)\n"
    "  --format=FORMAT  text (default), json or html: one page with the curves; with --list also sarif\n"
    "  --output=FILE    write there instead of standard output\n"
    "  --color=WHEN     auto (default: on a terminal), always or never\n"
    "\n"
    "Exit status: 0, or 2 for bad usage or input.\n"
    "\n"
    "Examples:\n"
    "  deadheat caper status --state=prog.caper\n"
    "  deadheat caper status --state=prog.caper --list\n"
    "  deadheat caper status --state=prog.caper --format=html --output=prog.html\n";

enum { PAIRS = 1000 };

struct request {
    const char *pairs[PAIRS]; /* to look up; if there are none: */
    size_t n_pairs;
    const char *state, *program, *output, *color;
    enum dh_print_format format;
    bool list, limited, chosen;
    enum dh_caper_set set;
    u64 limit;
};

/* ---- The document ---- */

static const char *when(struct dh_arena *arena, int64_t seconds)
{
    time_t t = (time_t)seconds;
    struct tm tm;
    char text[32];
    if (!gmtime_r(&t, &tm) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
        return "";
    return dh_arena_strdup(arena, text);
}

static json_t *history(struct dh_cli_caper *c, bool changes_only)
{
    const struct dh_caper_state *s = &c->state;
    json_t *rows = json_array();
    u64 number = 0;
    for (size_t i = 0; i < s->n_merged; i++) {
        const struct dh_caper_merged *m = &s->merged[i];
        number += m->runs;
        if (changes_only && !m->new_sites && i + 1 < s->n_merged)
            continue;
        json_array_append_new(rows, json_pack("{s:I, s:I, s:s, s:I, s:I, s:I, s:I, s:s, s:s, s:b}", "run",
                                              (json_int_t)number, "runs", (json_int_t)m->runs, "time",
                                              when(&c->arena, m->time), "new_sites", (json_int_t)m->new_sites,
                                              "escaped_sites", (json_int_t)m->escaped, "dp_pairs",
                                              (json_int_t)m->dp, "sp_pairs", (json_int_t)m->sp, "end", m->end,
                                              "build_id", m->build_id, "silent", m->silent));
    }
    return rows;
}

/* For the alias analysis. */
static json_t *alias_document(struct dh_cli_caper *c, bool changes_only)
{
    const struct dh_caper_state *s = &c->state;
    json_t *rows = json_array();
    u64 number = 0;
    for (size_t i = 0; i < s->n_merged; i++) {
        const struct dh_caper_merged *m = &s->merged[i];
        number += m->runs;
        if (changes_only && !m->new_sites && i + 1 < s->n_merged)
            continue;
        json_array_append_new(rows,
                              json_pack("{s:I, s:I, s:s, s:I, s:I, s:s, s:s}", "run", (json_int_t)number,
                                        "runs", (json_int_t)m->runs, "time", when(&c->arena, m->time),
                                        "new_pairs", (json_int_t)m->new_sites, "alias_pairs",
                                        (json_int_t)m->dp, "end", m->end, "build_id", m->build_id));
    }
    return json_pack("{s:s, s:i, s:s, s:o, s:o, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "type",
                     "caper-status", "version", 1, "analysis", "alias", "state", dh_json_text(c->state_name),
                     "program", dh_json_text(c->program), "build_id", c->build.id_text, "runs",
                     (json_int_t)dh_caper_state_runs(s), "steady_runs", (json_int_t)dh_caper_state_steady(s),
                     "alias_pairs", (json_int_t)c->count.dp, "sound_pairs",
                     (json_int_t)c->count.dp + (json_int_t)c->count.sp, "sites", (json_int_t)c->sets.n_sites,
                     "alias_sites", (json_int_t)c->sets.n_escaped, "history", rows);
}

static json_t *document(struct dh_cli_caper *c, bool changes_only)
{
    return json_pack("{s:s, s:i, s:o, s:o, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "type",
                     "caper-status", "version", 1, "state", dh_json_text(c->state_name), "program",
                     dh_json_text(c->program), "build_id", c->build.id_text, "runs",
                     (json_int_t)dh_caper_state_runs(&c->state), "steady_runs",
                     (json_int_t)dh_caper_state_steady(&c->state), "dp_pairs", (json_int_t)c->count.dp,
                     "sp_pairs", (json_int_t)c->count.sp, "sites", (json_int_t)c->sets.n_sites,
                     "escaped_sites", (json_int_t)c->sets.n_escaped, "sites_without_question",
                     (json_int_t)c->unasked, "history", history(c, changes_only));
}

static const struct dh_print_column columns[] = {
    {.member = "run", .title = "run"},
    {.member = "time", .title = "merged"},
    {.member = "new_sites", .title = "new sites"},
    {.member = "escaped_sites", .title = "deSites"},
    {.member = "dp_pairs", .title = "dpPairs"},
    {.member = "sp_pairs", .title = "spPairs"},
    {.member = "end", .title = "ended"},
};
static const struct dh_print_table runs_table = {
    .title = "Runs", .member = "history", .columns = columns, .n_columns = DH_ARRAY_LEN(columns)};

static const struct dh_print_column alias_columns[] = {
    {.member = "run", .title = "run"},
    {.member = "time", .title = "merged"},
    {.member = "new_pairs", .title = "new pairs"},
    {.member = "alias_pairs", .title = "aliasPairs"},
    {.member = "end", .title = "ended"},
};
static const struct dh_print_table alias_table = {
    .title = "Runs", .member = "history", .columns = alias_columns, .n_columns = DH_ARRAY_LEN(alias_columns)};

/* The program's path, relative to the current directory. */
static const char *from_here(struct dh_cli_caper *c)
{
    char *cwd = getcwd(NULL, 0);
    const char *path = cwd ? dh_path_beneath(cwd, c->program) : c->program;
    free(cwd);
    return path;
}

static void print_sets(struct dh_cli_caper *c, FILE *out)
{
    if (c->alias) {
        fprintf(
            out,
            "\n  aliasPairs  %llu of %llu pairs in the set sound: in some run two threads accessed the same "
            "bytes\n              there, and one of them wrote\n",
            (unsigned long long)c->count.dp, (unsigned long long)c->count.dp + c->count.sp);
        return;
    }
    fprintf(out,
            "\n  dpPairs  %llu: both accesses have touched memory that other threads could reach\n"
            "  spPairs  %llu: possible according to the static analysis, but not seen so far\n"
            "  deSites  %zu of %zu sites\n",
            (unsigned long long)c->count.dp, (unsigned long long)c->count.sp, c->sets.n_escaped,
            c->sets.n_sites);
    if (c->unasked)
        fprintf(out, "           %llu of them count as escaped because the program does not check there\n",
                (unsigned long long)c->unasked);
}

static void print_text(struct dh_cli_caper *c, FILE *out, const json_t *d)
{
    const char *new = c->alias ? "was seen" : "escaped";
    u64 steady = dh_caper_state_steady(&c->state), runs = dh_caper_state_runs(&c->state);
    const char *program =
        dh_arena_printf(&c->arena, "%s: %llu run%s of %s, build %.12s", c->state_name,
                        (unsigned long long)runs, runs == 1 ? "" : "s", from_here(c), c->build.id_text);
    dh_text_put(out, program);
    print_sets(c, out);
    if (steady > 1)
        fprintf(out, "Nothing new %s in the last %llu runs.\n", new, (unsigned long long)steady);
    else if (steady)
        fprintf(out, "Nothing new %s in the last run.\n", new);
    struct dh_print_table t = c->alias ? alias_table : runs_table;
    t.title = dh_arena_printf(&c->arena, "Runs in which something new %s, and the last one", new);
    dh_print_table_text(out, &t, d);
}

static void print_status(struct dh_cli_caper *c, const struct request *q, FILE *out)
{
    bool text = q->format == DH_PRINT_TEXT;
    json_t *d = c->alias ? alias_document(c, text) : document(c, text);
    if (!d)
        dh_util_no_memory();
    if (q->format == DH_PRINT_TEXT) {
        print_text(c, out, d);
    } else if (q->format == DH_PRINT_JSON) {
        const struct dh_print_tables plain = {.tables = c->alias ? &alias_table : &runs_table, .n_tables = 1};
        dh_print_tables(out, "json", &plain, d);
    } else {
        dh_cli_caper_page(out, d, &runs_table);
    }
    json_decref(d);
}

/* ---- The pairs ---- */

void dh_cli_caper_list(struct dh_cli_caper *c, FILE *out, enum dh_print_format format, u64 limit, u64 most,
                       bool color, const char *narrowed)
{
    struct dh_static s = {.style = "sound",
                          .set = DH_PAIRS_SOUND,
                          .of = DH_STATIC_BINARY,
                          .pairs = c->build.table,
                          .command = "caper",
                          .narrowed = narrowed,
                          .input = from_here(c),
                          .limit = limit,
                          .most = most};
    struct dh_source source;
    char *cwd = getcwd(NULL, 0);
    dh_source_init(&source, &s.arena);
    dh_map_init(&s.from.names, &s.arena);
    dh_suppress_init(&s.rules, &s.arena);
    s.from.table = s.pairs;
    s.from.arena = &s.arena;
    s.from.set = s.set;
    struct dh_print p = {.out = out, .format = format, .source = &source, .cwd = cwd, .color = color};
    dh_static_select(&s);
    dh_static_print(&s, &p, false, false);
    dh_print_done(&p);
    dh_source_done(&source);
    dh_map_done(&s.from.names);
    dh_static_forget(&s);
    dh_arena_done(&s.arena);
    free(cwd);
}

static void print_list(struct dh_cli_caper *c, const struct request *q, FILE *out, bool color)
{
    enum { HTML_LIMIT = 50 };
    u64 limit = q->format == DH_PRINT_HTML && !q->limited ? HTML_LIMIT : q->limit;
    static const char *const words[] = {
        [DH_CAPER_DP] = "dpPairs: both accesses have touched memory that other threads could reach",
        [DH_CAPER_SP] = "spPairs: possible according to the static analysis, but not seen so far",
        [DH_CAPER_SOUND] = "spPairs and dpPairs: all that the static analysis has found"};
    if (c->alias)
        dh_caper_alias_choose(c->build.table, &c->sets);
    else
        dh_caper_choose(c->build.table, &c->sets, q->set, &c->count);
    dh_cli_caper_list(c, out, q->format, limit, limit, color,
                      c->alias ? "aliasPairs: two threads accessed the same bytes" : words[q->set]);
}

static void look_up(struct dh_cli_caper *c, const struct request *q, FILE *out)
{
    struct dh_static s = {.set = DH_PAIRS_SOUND, .pairs = c->build.table};
    bool possible[PAIRS];
    for (size_t i = 0; i < q->n_pairs; i++)
        possible[i] = dh_static_has(&s, q->pairs[i]);
    dh_caper_choose(c->build.table, &c->sets, DH_CAPER_DP, &c->count);
    for (size_t i = 0; i < q->n_pairs; i++) {
        dh_text_put(out, q->pairs[i]);
        fprintf(out, "\t%s\n",
                !possible[i]                     ? "none"
                : dh_static_has(&s, q->pairs[i]) ? "dpPairs"
                                                 : "spPairs");
    }
    dh_static_forget(&s);
    dh_arena_done(&s.arena);
}

/* ---- The command ---- */

static int add_pair(struct request *q, const char *pair)
{
    if (!strchr(pair, ','))
        return dh_cli_fail("caper status", "--pair cannot be '%s'; it must be FILE:LINE,FILE:LINE", pair);
    if (q->n_pairs == PAIRS)
        return dh_cli_fail("caper status", "no more than %d pairs can be looked up at once", PAIRS);
    q->pairs[q->n_pairs++] = pair;
    return 0;
}

static int set_flag(struct request *q, const char *arg)
{
    static const char *const names[] = {"--state",  "--list",   "--set",   "--pair", "--limit",
                                        "--format", "--output", "--color", "--help"};
    const char *v;
    char *end;
    if ((v = dh_cli_value(arg, "state"))) {
        q->state = v;
    } else if ((v = dh_cli_value(arg, "output"))) {
        q->output = v;
    } else if ((v = dh_cli_value(arg, "pair"))) {
        return add_pair(q, v);
    } else if ((v = dh_cli_value(arg, "format"))) {
        return dh_cli_format("caper status", v, &q->format);
    } else if ((v = dh_cli_value(arg, "color"))) {
        if (strcmp(v, "auto") != 0 && strcmp(v, "always") != 0 && strcmp(v, "never") != 0)
            return dh_cli_fail("caper status", "--color cannot be '%s'; it must be auto, always or never", v);
        q->color = v;
    } else if ((v = dh_cli_value(arg, "limit"))) {
        errno = 0;
        q->limit = strtoull(v, &end, 10);
        q->limited = true;
        if (errno || *end || v[0] < '0' || v[0] > '9')
            return dh_cli_fail("caper status", "--limit cannot be '%s'; it must be a number, 0 for all", v);
    } else if ((v = dh_cli_value(arg, "set"))) {
        static const char *const words[] = {"dp", "sp", "sound"};
        size_t i = 0;
        while (i < DH_ARRAY_LEN(words) && strcmp(v, words[i]) != 0)
            i++;
        if (i == DH_ARRAY_LEN(words))
            return dh_cli_fail("caper status", "--set cannot be '%s'; it must be dp, sp or sound", v);
        q->set = (enum dh_caper_set)i;
        q->chosen = true;
    } else if (strcmp(arg, "--list") == 0) {
        q->list = true;
    } else {
        return dh_cli_unknown_flag("caper status", arg, names, DH_ARRAY_LEN(names));
    }
    return 0;
}

/* The alias analysis supports less: there are no sets to choose from, and no page. */
static int check_alias(const struct dh_cli_caper *c, const struct request *q)
{
    if (!c->alias)
        return 0;
    if (q->chosen || q->n_pairs)
        return dh_cli_fail("caper status",
                           "--%s is for states of escape analysis; '%s' is of --analysis=alias",
                           q->chosen ? "set" : "pair", c->state_name);
    if (q->format == DH_PRINT_HTML && !q->list)
        return dh_cli_fail(
            "caper status",
            "--format=html shows the curves of escape analysis; '%s' is of --analysis=alias: take "
            "text, json, or --list",
            c->state_name);
    return 0;
}

static int print(struct dh_cli_caper *c, const struct request *q)
{
    dh_output_reads(c->state.path);
    dh_output_reads(c->program);
    struct dh_output to = {.stream = stdout, .fd = STDOUT_FILENO};
    if (q->output && dh_output_open(&to, &c->arena, q->output) != 0)
        return dh_cli_fail("caper status", "cannot write '%s': %s", q->output, to.why);
    if (q->n_pairs)
        look_up(c, q, to.stream);
    else if (q->list)
        print_list(c, q, to.stream, dh_cli_wants_color(q->color, to.fd));
    else
        print_status(c, q, to.stream);
    if (q->output && dh_output_commit(&to) != 0)
        return dh_cli_fail("caper status", "cannot write '%s': %s", q->output, to.why);
    return 0;
}

int dh_cli_caper_status(int argc, char **argv)
{
    struct request q = {.color = "auto"};
    struct dh_cli_caper c = {.command = "caper status", .run.fd = -1};
    int rc = 0;
    for (int i = 1; !rc && i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            return 0;
        }
        if (strcmp(argv[i], "--state") == 0 && i + 1 < argc)
            q.state = argv[++i];
        else if (argv[i][0] == '-' && strcmp(argv[i], "--") != 0)
            rc = set_flag(&q, argv[i]);
        else if (strcmp(argv[i], "--") != 0)
            q.program = argv[i];
    }
    if (!rc && !q.state)
        rc =
            dh_cli_fail("caper status", "which state? For example: deadheat caper status --state=prog.caper");
    bool of_numbers = q.format == DH_PRINT_TEXT || q.format == DH_PRINT_JSON || q.format == DH_PRINT_HTML;
    if (!rc && !of_numbers && !q.list)
        rc = dh_cli_fail("caper status", "--format=%s is for findings: it needs --list",
                         dh_print_formats[q.format]);
    if (!rc)
        rc = dh_cli_caper_look(&c, q.state, q.program);
    if (!rc)
        rc = check_alias(&c, &q);
    if (!rc)
        rc = print(&c, &q);
    dh_cli_caper_close(&c);
    return rc;
}
