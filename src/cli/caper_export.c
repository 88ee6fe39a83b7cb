/*
 * caper_export.c - `deadheat caper export`: the sets, for other tools.
 *
 * Pairs are findings in JSON, which `chase --pairs` takes; a filter is a line for each access that can race
 * at all, for tools that need to know only that (Caper, CC 2017, section 2.2); JSON has all of it, and
 * bundles stay bundles there.
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
    "Writes what 'deadheat caper' knows for other tools.\n"
    "\n"
    "  --state=FILE   the state\n"
    "  --to=pairs     the pairs of dpPairs as findings in JSON, for 'deadheat chase --pairs'\n"
    "  --to=filter    a line for each access that can race at all, with tabs between: id, FILE:LINE:COLUMN,\n"
    "                 function, kind, whether it has touched memory that other threads could reach (yes, "
    "no),\n"
    "                 and whether it is in a pair of dpPairs (yes, no)\n"
    "  --to=json      sites and bundles of both sets\n"
    "  --limit=N      of pairs, at most so many (default: 10000; 0: all)\n"
    "  -o FILE, --output=FILE  write there instead of standard output\n"
    "\n"
    "Exit status: 0; 2 bad usage or input.\n"
    "\n"
    "Examples:\n"
    "  deadheat caper export --state=prog.caper --to=pairs -o dp.json\n"
    "  deadheat chase --pairs=dp.json --trials=20 -- ./prog\n";

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
    dh_cli_caper_list(c, out, DH_PRINT_JSON, 0, false,
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

static const char *id_text(struct dh_arena *a, const struct dh_pairs *t, u32 site)
{
    return dh_arena_printf(a, "%016" PRIx64, t->sites[site].id);
}

static json_t *sites(struct dh_cli_caper *c)
{
    const struct dh_pairs *t = c->build.table;
    json_t *all = json_array();
    for (u32 i = 0; i < t->n_sites; i++) {
        const struct dh_pairs_site *site = &t->sites[i];
        if (!dh_caper_has(c->sets.in_pair, i))
            continue;
        json_array_append_new(all,
                              json_pack("{s:s, s:o, s:o, s:i, s:i, s:o, s:s, s:i, s:b, s:b}", "id",
                                        id_text(&c->arena, t, i), "file", dh_json_text(site->at.file), "dir",
                                        dh_json_text(site->at.dir), "line", (int)site->at.line, "column",
                                        (int)site->at.column, "function", dh_json_text(site->function),
                                        "kind", kinds[site->access], "size", (int)site->size, "escaped",
                                        dh_caper_has(c->sets.escaped, i), "in_dp_pairs",
                                        dh_caper_sets_is_dynamic(&c->sets, i)));
    }
    return all;
}

static json_t *side(struct dh_cli_caper *c, const struct dh_pairs_pair *pair, int i)
{
    const struct dh_pairs *t = c->build.table;
    size_t n;
    const u32 *alike = dh_pairs_items(t, pair->alike[i], &n);
    json_t *all = json_array();
    json_array_append_new(all, json_string(id_text(&c->arena, t, pair->side[i].site)));
    for (size_t k = 0; k < n; k++)
        json_array_append_new(all, json_string(id_text(&c->arena, t, alike[k])));
    return all;
}

/* The pairs of the table as it is now. */
static json_t *bundles(struct dh_cli_caper *c)
{
    const struct dh_pairs *t = c->build.table;
    json_t *all = json_array();
    for (size_t i = 0; i < t->n_pairs; i++)
        if (t->pairs[i].flags & DH_PAIRS_SOUND)
            json_array_append_new(all,
                                  json_pack("[o, o]", side(c, &t->pairs[i], 0), side(c, &t->pairs[i], 1)));
    return all;
}

static void put_json(struct dh_cli_caper *c, FILE *out)
{
    json_t *all = sites(c), *sound = bundles(c);
    dh_caper_choose(c->build.table, &c->sets, DH_CAPER_DP, &c->count);
    json_t *d =
        json_pack("{s:s, s:i, s:o, s:s, s:I, s:I, s:I, s:o, s:o, s:o}", "type", "caper-sets", "version", 1,
                  "program", dh_json_text(c->program), "build_id", c->build.id_text, "runs",
                  (json_int_t)dh_caper_state_runs(&c->state), "sp_pairs", (json_int_t)c->count.sp, "dp_pairs",
                  (json_int_t)c->count.dp, "sites", all, "sound_bundles", sound, "dp_bundles", bundles(c));
    if (!d || json_dumpf(d, out, JSON_INDENT(1) | JSON_ENSURE_ASCII) != 0)
        dh_util_no_memory();
    fputc('\n', out);
    json_decref(d);
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
    const char *inputs[] = {c->state.path, c->program};
    struct dh_output to = {.stream = stdout};
    if (q->output && dh_output_open(&to, &c->arena, q->output, inputs, DH_ARRAY_LEN(inputs)) != 0)
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
