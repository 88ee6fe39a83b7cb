/*
 * caper_export.c - `deadheat caper export`: the sets, for other tools.
 *
 * Pairs are findings in JSON, as input for `chase --pairs`; a filter has a line for each access that can race
 * at all, for `hive add --filter` and for tools that need only that (Caper, CC 2017, section 2.2); JSON has
 * everything, and keeps bundles.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/caper.h"
#include "cli/cmd.h"
#include "report/json.h"
#include "util/output.h"
#include "util/path.h"
#include "util/text.h"

enum { LIMIT = 10000 };

static const char usage[] =
    "usage: deadheat caper export --state=FILE --to=pairs|filter|json [OPTIONS] [PROGRAM]\n"
    "\n"
    "Exports the results of 'deadheat caper' for other tools.\n"
    "\n"
    "  --state=FILE   the state\n"
    "  --to=pairs     the pairs of dpPairs as findings in JSON, for 'deadheat chase --pairs'\n"
    "  --to=filter    for 'deadheat hive add --filter' and other tools: one line for each access that can\n"
    "                 race at all, with tab-separated columns: id, FILE:LINE:COLUMN, function, kind,\n"
    "                 whether it has touched memory that other threads could reach (yes, no), and whether\n"
    "                 it is in a pair of dpPairs (yes, no)\n"
    "  --to=json      sites and bundles of both sets\n"
    "  --limit=N      with --to=pairs: at most N pairs (default: 10000; 0: all)\n"
    "  -o FILE, --output=FILE  write there instead of standard output\n"
    "\n"
    "Exit status: 0, or 2 for bad usage or input.\n"
    "\n"
    "Examples:\n"
    "  deadheat caper export --state=prog.caper --to=pairs -o dp.json\n"
    "  deadheat chase --pairs=dp.json --trials=20 -- ./prog\n"
    "  deadheat caper export --state=prog.caper --to=filter -o dp.filter\n"
    "  deadheat hive add --db=hive.db --filter=dp.filter ./prog-field\n";

enum to { TO_NOTHING, TO_PAIRS, TO_FILTER, TO_JSON };

struct request {
    const char *state, *program, *output;
    enum to to;
    u64 limit;
};

static const char *const kinds[DH_PAIRS_ACCESSES] = {
    [DH_PAIRS_READ] = "read",
    [DH_PAIRS_WRITE] = "write",
    [DH_PAIRS_ATOMIC_READ] = "atomic-read",
    [DH_PAIRS_ATOMIC_WRITE] = "atomic-write",
    [DH_PAIRS_ATOMIC_UPDATE] = "atomic-update",
    [DH_PAIRS_FREE] = "free",
};

/* ---- Pairs ---- */

static void put_pairs(struct dh_cli_caper *c, const struct request *q, FILE *out)
{
    dh_caper_choose(c->build.table, &c->sets, DH_CAPER_DP, &c->count);
    u64 left_out = dh_caper_expand(c->build.table, q->limit);
    if (left_out)
        fprintf(stderr,
                "deadheat caper export: at most %" PRIu64
                " pairs are left out, of the largest bundles; "
                "--limit=0 writes all\n",
                left_out);
    dh_cli_caper_list(c, out, DH_PRINT_JSON, 0, DH_CLI_CAPER_THREADS, false,
                      "dpPairs: both accesses have touched memory that other threads could reach");
}

/* ---- The filter ---- */

static void put_filter(struct dh_cli_caper *c, FILE *out)
{
    struct dh_arena a = {0};
    fprintf(out,
            "# deadheat caper filter 1\n# build %s\n# runs %" PRIu64
            "\n# id\tplace\tfunction\tkind\tescaped\tin-dpPairs\n",
            c->build.id_text, dh_caper_state_runs(&c->state));
    for (u32 i = 0; i < c->build.table->n_sites; i++) {
        const struct dh_pairs_site *site = &c->build.table->sites[i];
        if (!dh_caper_has(c->sets.in_pair, i))
            continue;
        fprintf(out, "%016" PRIx64 "\t", site->id);
        dh_text_put(out, site->at.file[0] ? dh_path_join(&a, site->at.dir, site->at.file) : "?");
        fprintf(out, ":%u:%u\t", site->at.line, site->at.column);
        dh_text_put(out, site->function[0] ? site->function : "?");
        fprintf(out, "\t%s\t%s\t%s\n", kinds[site->access], dh_caper_has(c->sets.escaped, i) ? "yes" : "no",
                dh_caper_sets_is_dynamic(&c->sets, i) ? "yes" : "no");
    }
    dh_arena_done(&a);
}

/* ---- JSON ---- */

/* Sites and lists by their positions in the document. Bundles share their lists, so these are written once: a
 * program with millions of pairs has few. */
struct numbering {
    u32 *site;  /* of each site in a pair */
    u32 *list;  /* of each list, plus 1; 0: not in the document yet */
    u32 *lists; /* those of the document, in its order */
    u32 n_lists;
};

static void put_sites(struct dh_cli_caper *c, struct numbering *to, FILE *out)
{
    const struct dh_pairs *t = c->build.table;
    u32 n = 0;
    to->site = dh_arena_array(&c->arena, t->n_sites, sizeof(*to->site));
    for (u32 i = 0; i < t->n_sites; i++) {
        const struct dh_pairs_site *site = &t->sites[i];
        if (!dh_caper_has(c->sets.in_pair, i))
            continue;
        char id[17];
        snprintf(id, sizeof(id), "%016" PRIx64, site->id);
        json_t *d = json_pack("{s:s, s:o, s:o, s:i, s:i, s:o, s:s, s:i, s:b, s:b}", "id", id, "file",
                              dh_json_text(site->at.file), "dir", dh_json_text(site->at.dir), "line",
                              (int)site->at.line, "column", (int)site->at.column, "function",
                              dh_json_text(site->function), "kind", kinds[site->access], "size",
                              (int)site->size, "escaped", dh_caper_has(c->sets.escaped, i), "in_dp_pairs",
                              dh_caper_sets_is_dynamic(&c->sets, i));
        to->site[i] = n;
        fputs(n++ ? ",\n" : "", out);
        if (!d || json_dumpf(d, out, JSON_ENSURE_ASCII) != 0)
            dh_util_no_memory();
        json_decref(d);
    }
}

static u32 number_of_list(struct numbering *to, u32 list)
{
    if (to->list[list] == 0) {
        to->lists[to->n_lists++] = list;
        to->list[list] = to->n_lists;
    }
    return to->list[list] - 1;
}

/* The pairs of the table as it is now. */
static void put_bundles(const struct dh_pairs *t, struct numbering *to, FILE *out)
{
    const char *before = "";
    for (size_t i = 0; i < t->n_pairs; i++) {
        const struct dh_pairs_pair *pair = &t->pairs[i];
        if (!(pair->flags & DH_PAIRS_SOUND))
            continue;
        fputs(before, out);
        before = ",\n";
        for (int k = 0; k < 2; k++)
            fprintf(out, "%s%u, %u", k ? ", " : "[", to->site[pair->side[k].site],
                    number_of_list(to, pair->alike[k]));
        fputc(']', out);
    }
}

static void put_lists(const struct dh_pairs *t, const struct numbering *to, FILE *out)
{
    for (u32 i = 0; i < to->n_lists; i++) {
        size_t n;
        const u32 *items = dh_pairs_items(t, to->lists[i], &n);
        fputs(i ? ",\n[" : "[", out);
        for (size_t k = 0; k < n; k++)
            fprintf(out, "%s%u", k ? ", " : "", to->site[items[k]]);
        fputc(']', out);
    }
}

/* Selecting dpPairs adds lists to the table. */
static void number_lists(struct dh_cli_caper *c, struct numbering *to)
{
    size_t n = c->build.table->n_lists;
    u32 *list = dh_arena_array(&c->arena, n, sizeof(*list)),
        *lists = dh_arena_array(&c->arena, n, sizeof(*lists));
    for (u32 i = 0; i < to->n_lists; i++) {
        lists[i] = to->lists[i];
        list[lists[i]] = i + 1;
    }
    to->list = list;
    to->lists = lists;
}

static void put_json(struct dh_cli_caper *c, FILE *out)
{
    const struct dh_pairs *t = c->build.table;
    struct numbering to = {0};
    json_t *head = json_pack("{s:s, s:i, s:o, s:s, s:I, s:I, s:I}", "type", "caper-sets", "version", 2,
                             "program", dh_json_text(c->program), "build_id", c->build.id_text, "runs",
                             (json_int_t)dh_caper_state_runs(&c->state), "sp_pairs", (json_int_t)c->count.sp,
                             "dp_pairs", (json_int_t)c->count.dp);
    fputc('{', out);
    if (!head || json_dumpf(head, out, JSON_EMBED | JSON_ENSURE_ASCII) != 0)
        dh_util_no_memory();
    json_decref(head);
    fputs(",\n\"sites\": [\n", out);
    put_sites(c, &to, out);
    fputs("],\n\"sound_bundles\": [\n", out);
    number_lists(c, &to);
    put_bundles(t, &to, out);
    fputs("],\n\"dp_bundles\": [\n", out);
    dh_caper_choose(c->build.table, &c->sets, DH_CAPER_DP, &c->count);
    number_lists(c, &to);
    put_bundles(t, &to, out);
    fputs("],\n\"lists\": [\n", out);
    put_lists(t, &to, out);
    fputs("]}\n", out);
}

/* ---- The command ---- */

static int set_flag(struct request *q, const char *arg)
{
    static const char *const names[] = {"--state", "--to", "--limit", "--output", "--help"};
    static const char *const tos[] = {"", "pairs", "filter", "json"};
    const char *v;
    char *end;
    if ((v = dh_cli_value(arg, "state"))) {
        q->state = v;
    } else if ((v = dh_cli_value(arg, "output"))) {
        q->output = v;
    } else if ((v = dh_cli_value(arg, "limit"))) {
        errno = 0;
        q->limit = strtoull(v, &end, 10);
        if (errno || *end || v[0] < '0' || v[0] > '9')
            return dh_cli_fail("caper export", "--limit cannot be '%s'; it must be a number, 0 for all", v);
    } else if ((v = dh_cli_value(arg, "to"))) {
        for (int i = TO_PAIRS; i <= TO_JSON; i++)
            if (strcmp(v, tos[i]) == 0)
                q->to = (enum to)i;
        if (!q->to)
            return dh_cli_fail("caper export", "--to cannot be '%s'; it must be pairs, filter or json", v);
    } else {
        return dh_cli_unknown_flag("caper export", arg, names, DH_ARRAY_LEN(names));
    }
    return 0;
}

static int export(struct dh_cli_caper *c, const struct request *q)
{
    dh_output_reads(c->state.path);
    dh_output_reads(c->program);
    struct dh_output to = {.stream = stdout};
    if (q->output && dh_output_open(&to, &c->arena, q->output) != 0)
        return dh_cli_fail("caper export", "cannot write '%s': %s", q->output, to.why);
    if (q->to == TO_PAIRS)
        put_pairs(c, q, to.stream);
    else if (q->to == TO_FILTER)
        put_filter(c, to.stream);
    else
        put_json(c, to.stream);
    if (q->output && dh_output_commit(&to) != 0)
        return dh_cli_fail("caper export", "cannot write '%s': %s", q->output, to.why);
    return 0;
}

int dh_cli_caper_export(int argc, char **argv)
{
    struct request q = {.limit = LIMIT};
    struct dh_cli_caper c = {.command = "caper export", .run.fd = -1};
    int rc = 0;
    for (int i = 1; !rc && i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            return 0;
        }
        if (strcmp(argv[i], "--state") == 0 && i + 1 < argc)
            q.state = argv[++i];
        else if (strcmp(argv[i], "-o") == 0 && i + 1 < argc)
            q.output = argv[++i];
        else if (argv[i][0] == '-' && strcmp(argv[i], "--") != 0)
            rc = set_flag(&q, argv[i]);
        else if (strcmp(argv[i], "--") != 0)
            q.program = argv[i];
    }
    if (!rc && (!q.state || !q.to))
        rc = dh_cli_fail("caper export",
                         "%s? For example: deadheat caper export --state=prog.caper --to=pairs -o pairs.json",
                         q.state ? "in which form" : "which state");
    if (!rc)
        rc = dh_cli_caper_look(&c, q.state, q.program);
    if (!rc && c.alias)
        rc = dh_cli_fail(
            "caper export",
            "the state '%s' is of --analysis=alias, which is not exported; 'deadheat caper status "
            "--list --format=json' has its pairs",
            q.state);
    if (!rc)
        rc = export(&c, &q);
    dh_cli_caper_close(&c);
    return rc;
}
