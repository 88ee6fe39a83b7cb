/*
 * hive_export.c - `deadheat hive export`: every candidate with its verdict, as JSON (in the interface's
 * format), as CSV, or as SARIF, which has only the true races of one build: those to fix.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/hive.h"
#include "hive/view.h"
#include "report/finding_pairs.h"
#include "report/table.h"
#include "util/output.h"

/* ---- CSV ---- */

static void put_place(json_t *row, const char *member, const json_t *site)
{
    const char *file = json_string_value(json_object_get(site, "file"));
    json_object_set_new(row, member,
                        file && *file ? json_sprintf("%s:%" JSON_INTEGER_FORMAT, file,
                                                     json_integer_value(json_object_get(site, "line")))
                                      : json_null());
}

static void put_csv(FILE *out, json_t *document)
{
    static const struct dh_print_column columns[] = {
        {.member = "id"},          {.member = "program"},
        {.member = "build"},       {.member = "kind"},
        {.member = "verdict"},     {.member = "reason"},
        {.member = "orders"},      {.member = "causes_crash"},
        {.member = "causes_hang"}, {.member = "executions_without_race"},
        {.member = "first"},       {.member = "second"},
    };
    static const struct dh_print_table table = {
        .member = "candidates", .columns = columns, .n_columns = DH_ARRAY_LEN(columns)};
    static const struct dh_print_tables about = {.tables = &table, .n_tables = 1};
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(document, "candidates"), i, row)
    {
        json_t *sites = json_object_get(row, "sites");
        put_place(row, "first", json_array_get(sites, 0));
        put_place(row, "second", json_array_get(sites, 1));
    }
    dh_print_tables(out, "csv", &about, document);
}

/* ---- SARIF ---- */

static void confirm(struct dh_finding *f, const struct dh_hive_unit *u)
{
    struct dh_hive_judgement j = dh_hive_judge(&u->tally);
    f->provenance = DH_FINDING_CONFIRMED;
    f->confirmed.order = j.both_orders                     ? DH_MODEL_BOTH
                         : u->tally.races[DH_HIVE_PRIMARY] ? DH_MODEL_AS_SHOWN
                                                           : DH_MODEL_REVERSED;
    f->confirmed.consequence = j.hang ? "hang" : j.crash ? "crash" : "none";
}

/* The callers of the access, as seen by a user. */
static void add_callers(struct dh_arena *arena, const struct dh_hive_state *s, const struct dh_hive_unit *u,
                        int side, struct dh_symbol_trace *to)
{
    const struct dh_hive_stacks *x =
        u->stacks[DH_HIVE_PRIMARY] ? u->stacks[DH_HIVE_PRIMARY] : u->stacks[DH_HIVE_ALTERNATE];
    if (!x)
        return;
    struct dh_symbol_frame *frames = dh_arena_array(arena, to->n + x->n[side], sizeof(*frames));
    memcpy(frames, to->frames, to->n * sizeof(*frames));
    for (u32 i = 1; i < x->n[side]; i++) {
        struct dh_hive_frame f = dh_hive_symbols_find(s->builds[x->build].symbols, x->frames[side][i], true);
        if (f.function)
            frames[to->n++] = (struct dh_symbol_frame){.function = f.function,
                                                       .brief = f.function,
                                                       .shown = f.function,
                                                       .file = f.file,
                                                       .unit_file = f.file,
                                                       .offset = x->frames[side][i],
                                                       .line = (int)f.line};
    }
    to->frames = frames;
}

static void put_sarif(FILE *out, const struct dh_hive_state *s, u32 build)
{
    const struct dh_hive_build *b = &s->builds[build];
    struct dh_arena names = {0}, scratch = {0};
    struct dh_finding_pairs from = {.table = b->table, .arena = &names, .set = b->set};
    struct dh_print_static facts = {
        .table = b->table, .of = "binary", .style = b->set == DH_PAIRS_SOUND ? "sound" : "relay"};
    const struct dh_print_about about = {
        .command = "hive export", .input = b->table->program, .pairs = &facts};
    struct dh_print p = {.out = out, .format = DH_PRINT_SARIF};
    dh_map_init(&from.names, &names);
    dh_print_begin(&p, &about);
    for (size_t i = 0; i < b->n_slots; i++) {
        const struct dh_hive_unit *u = &s->units[b->slots[i].unit];
        u32 sites[2];
        if (u->bundle || dh_hive_judge(&u->tally).verdict != DH_HIVE_TRUE_RACE)
            continue;
        for (int side = 0; side < 2; side++)
            sites[side] = dh_pairs_find_site(b->table, u->sites[side]);
        struct dh_finding *f = dh_finding_of_sites(&from, &scratch, b->slots[i].pair, sites);
        confirm(f, u);
        for (int side = 0; side < 2; side++)
            add_callers(&scratch, s, u, side, &f->accesses[side].stack);
        dh_print_finding(&p, f);
        dh_arena_done(&scratch);
        scratch = (struct dh_arena){0};
    }
    dh_print_end(&p);
    dh_print_done(&p);
    dh_map_done(&from.names);
    dh_arena_done(&names);
}

/* ---- JSON ---- */

static void add_stacks(const struct dh_hive_state *s, json_t *document)
{
    size_t i;
    json_t *row;
    u64 id;
    json_array_foreach(json_object_get(document, "candidates"), i, row)
    {
        const char *program = json_string_value(json_object_get(row, "program"));
        dh_hive_id_read(json_string_value(json_object_get(row, "id")), &id);
        json_t *stacks = dh_hive_view_stacks(s, dh_hive_find_unit(s, dh_hive_find_program(s, program), id));
        if (json_array_size(stacks))
            json_object_set(row, "stacks", stacks);
        json_decref(stacks);
    }
}

/* ---- The command ---- */

/* The requested build, or the newest one. */
static u32 choose_build(const struct dh_hive_state *s, const struct dh_cli_hive *c, u32 program)
{
    if (c->build)
        return dh_hive_find_build(s, c->build);
    for (size_t i = s->n_builds; i-- > 0;)
        if (!s->builds[i].forgotten && (program == DH_HIVE_NONE || s->builds[i].program == program))
            return (u32)i;
    return DH_HIVE_NONE;
}

static int put(struct dh_cli_hive *c, const struct dh_hive_state *s, FILE *out)
{
    u32 program = c->program ? dh_hive_find_program(s, c->program) : DH_HIVE_NONE;
    u32 build = choose_build(s, c, program);
    if (c->program && program == DH_HIVE_NONE)
        return dh_cli_fail(c->command, "there is no program '%s'", c->program);
    if (build == DH_HIVE_NONE)
        return c->build ? dh_cli_fail(c->command, "there is no build '%s'", c->build)
                        : dh_cli_fail(c->command, "there is no build yet");
    if (strcmp(c->format, "sarif") == 0) {
        put_sarif(out, s, build);
        return 0;
    }
    const struct dh_hive_filter all = {
        .program = program, .build = c->build ? build : DH_HIVE_NONE, .verdict = -1, .limit = UINT64_MAX};
    json_t *document = dh_hive_view_units(s, &all);
    json_object_del(document, "next");
    add_stacks(s, document);
    json_object_set_new(document, "version", json_integer(1));
    if (strcmp(c->format, "csv") == 0) {
        put_csv(out, document);
    } else {
        json_dumpf(document, out, JSON_INDENT(1) | JSON_ENSURE_ASCII);
        fputc('\n', out);
    }
    json_decref(document);
    return 0;
}

int dh_cli_hive_export(struct dh_cli_hive *c)
{
    struct dh_hive_engine *e;
    struct dh_output to = {.stream = stdout};
    dh_output_reads(c->db);
    if (!c->format ||
        (strcmp(c->format, "json") != 0 && strcmp(c->format, "sarif") != 0 && strcmp(c->format, "csv") != 0))
        return dh_cli_fail(c->command, "--format must be json, sarif or csv");
    int rc = dh_cli_hive_open(c, false, &e);
    if (rc)
        return rc;
    if (c->output && dh_output_open(&to, &c->arena, c->output) != 0)
        rc = dh_cli_fail(c->command, "cannot write '%s': %s", c->output, to.why);
    if (!rc) {
        rc = put(c, dh_hive_engine_lock(e), to.stream);
        dh_hive_engine_unlock(e);
        if (c->output && rc)
            dh_output_abandon(&to, false);
        else if (c->output && dh_output_commit(&to) != 0)
            rc = dh_cli_fail(c->command, "cannot write '%s': %s", c->output, to.why);
    }
    dh_cli_hive_close(e);
    return rc;
}
