/*
 * pipeline_page.c - what the pipeline knows in the end: confirmed races, with how to reproduce each; pairs
 * that are still possible; pairs that did not race in any run, and why; pairs that the chase has not reached.
 *
 * One document, printed as text, JSON or HTML.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/chase.h"
#include "cli/cmd.h"
#include "cli/pipeline.h"
#include "report/json.h"
#include "report/table.h"
#include "util/lines.h"
#include "util/path.h"

enum { MAX_FILE = 1 << 30, REFUTED = 1000 /* bundles that are listed */ };

struct page {
    struct dh_pipeline *p;
    struct dh_arena *a;
    const char *cwd;
};

/* ---- Places ---- */

static const char *shown_file(const struct page *g, const char *file)
{
    return dh_path_beneath(g->cwd, file);
}

/* "a.c:3:7, a write" */
static const char *place(const struct page *g, const struct dh_chase_position *at)
{
    const char *kind = at->kinds == (DH_CONTROL_READ | DH_CONTROL_WRITE) ? "update"
                       : at->kinds & DH_CONTROL_WRITE                    ? "write"
                                                                         : "read";
    const char *column = at->column ? dh_arena_printf(g->a, ":%d", at->column) : "";
    return dh_arena_printf(g->a, "%s at %s:%d%s", kind, shown_file(g, at->file), at->line, column);
}

static const char *site_place(const struct page *g, const struct dh_pairs_site *site)
{
    static const char *const kinds[DH_PAIRS_ACCESSES] = {"read",         "write",         "atomic read",
                                                         "atomic write", "atomic update", "free"};
    if (!site->at.line)
        return dh_arena_printf(g->a, "%s in %s", kinds[site->access],
                               site->function[0] ? site->function : "?");
    return dh_arena_printf(g->a, "%s at %s:%u:%u", kinds[site->access],
                           shown_file(g, dh_path_join(g->a, site->at.dir, site->at.file)), site->at.line,
                           site->at.column);
}

/* Quoted for a shell. */
static const char *quoted(const struct page *g, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    if (word[0] && strspn(word, plain) == strlen(word))
        return word;
    char *text = dh_arena_alloc(g->a, 4 * strlen(word) + 3), *to = text;
    *to++ = '\'';
    for (; *word; word++)
        to = *word == '\'' ? stpcpy(to, "'\\''") : (*to = *word, to + 1);
    stpcpy(to, "'");
    return text;
}

static const char *client(const struct page *g)
{
    return g->p->client ? dh_arena_printf(g->a, " --client=%s", quoted(g, g->p->client)) : "";
}

static const char *command_line(const struct page *g)
{
    const char *text = "";
    for (char **word = g->p->argv; *word; word++)
        text = dh_arena_printf(g->a, "%s%s%s", text, text[0] ? " " : "", quoted(g, *word));
    return text;
}

/* ---- Confirmed ---- */

static const char *frame_text(const struct page *g, const json_t *frame)
{
    const char *function = json_string_value(json_object_get(frame, "function"));
    const char *file = json_string_value(json_object_get(frame, "file"));
    if (!file)
        return dh_arena_printf(g->a, "%s", function ? function : "??");
    return dh_arena_printf(g->a, "%s %s:%" PRId64, function ? function : "??", shown_file(g, file),
                           (int64_t)json_integer_value(json_object_get(frame, "line")));
}

static void add_stack(const struct page *g, json_t *lines, const json_t *access, const char *title)
{
    const json_t *stack = json_object_get(access, "stack"), *frame;
    const char *kind = json_string_value(json_object_get(access, "kind"));
    size_t i;
    json_array_append_new(lines,
                          dh_json_text(dh_arena_printf(g->a, "%s%s by", title, kind ? kind : "access")));
    json_array_foreach(stack, i, frame)
    {
        const char *module = json_string_value(json_object_get(frame, "module"));
        if (i && module && dh_path_is_system(module)) /* what started the thread */
            break;
        json_array_append_new(lines,
                              dh_json_text(dh_arena_printf(g->a, "  #%zu %s", i, frame_text(g, frame))));
    }
}

static json_t *one_confirmed(const struct page *g, const json_t *finding)
{
    const json_t *accesses = json_object_get(finding, "accesses");
    const char *name = json_string_value(json_object_get(finding, "summary"));
    const char *fingerprint = json_string_value(json_object_get(finding, "fingerprint"));
    const char *consequence = json_string_value(json_object_get(finding, "consequence"));
    const char *recipe =
        dh_arena_printf(g->a, "deadheat chase --replay=%s --from=%s%s -- %s", fingerprint ? fingerprint : "?",
                        quoted(g, dh_pipeline_file(g->p, "races.jsonl")), client(g), command_line(g));
    const char *order = json_string_value(json_object_get(finding, "order"));
    const size_t first = order && strcmp(order, "reversed") == 0 ? 0 : 1;
    json_t *lines = json_array();
    add_stack(g, lines, json_array_get(accesses, first), "first a ");
    add_stack(g, lines, json_array_get(accesses, !first), "then a ");
    json_array_append_new(lines, dh_json_text(recipe));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:O}", "fingerprint",
                     dh_json_text(fingerprint ? fingerprint : ""), "variable",
                     dh_json_text(name ? name : "unknown memory"), "consequence",
                     dh_json_text(consequence ? consequence : "none seen"), "recipe", dh_json_text(recipe),
                     "stacks", lines, "finding", (json_t *)finding);
}

/* From the records of all runs. NULL after a message. */
static json_t *confirmed(const struct page *g)
{
    const char *path = dh_pipeline_file(g->p, "races.jsonl");
    json_t *rows = json_array(), *finding;
    char *text = NULL;
    size_t len = 0, i;
    if (dh_lines_load(path, MAX_FILE, &text, &len) != 0)
        return rows; /* nothing was chased */
    json_t *d = dh_chase_findings(text, len);
    free(text);
    if (!d) {
        dh_cli_fail("pipeline", "'%s' holds something else than race records", path);
        json_decref(rows);
        return NULL;
    }
    json_array_foreach(json_object_get(d, "findings"), i, finding)
        json_array_append_new(rows, one_confirmed(g, finding));
    json_decref(d);
    return rows;
}

/* ---- Pairs that were chased ---- */

static const char *why_possible(const struct page *g, const struct dh_pipeline_pair *pair)
{
    if (pair->timeouts)
        return dh_arena_printf(g->a,
                               "steering held a thread in %" PRIu64
                               " run%s, and none came to the other access on the same bytes",
                               pair->timeouts, pair->timeouts == 1 ? "" : "s");
    if (pair->met)
        return "different threads have come to the same bytes, but were not caught there at the same time";
    return dh_arena_printf(
        g->a, "threads came to it in %" PRIu64 " of %" PRIu64 " runs, and never two to the same bytes",
        pair->reached, pair->runs);
}

static const char *why_unseen(const struct dh_pipeline_pair *pair)
{
    if (pair->refused)
        return pair->refused;
    return pair->runs ? "no thread came to either access while it was chased"
                      : "it was not chased: the time was over";
}

static json_t *chased(const struct page *g, bool reached)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < g->p->n_pairs; i++) {
        const struct dh_pipeline_pair *pair = &g->p->pairs[i];
        struct dh_chase_position at[2];
        const char *why;
        if (!pair->pairs || pair->confirmed || dh_pipeline_is_reached(pair) != reached ||
            dh_chase_position_pair(g->a, pair->name, at, &why) != 0)
            continue;
        json_array_append_new(
            rows, json_pack("{s:o, s:o, s:I, s:o, s:o}", "first", dh_json_text(place(g, &at[0])), "second",
                            dh_json_text(place(g, &at[1])), "pairs", (json_int_t)pair->pairs, "why",
                            dh_json_text(reached ? why_possible(g, pair) : why_unseen(pair)), "pair",
                            dh_json_text(pair->name)));
    }
    return rows;
}

/* Pairs that inference has seen meet, and that were not proposed. */
static json_t *beyond(const struct page *g)
{
    struct dh_pipeline_lookup look = {.p = g->p};
    json_t *rows = json_array();
    for (size_t i = 0; i < g->p->n_pairs; i++) {
        const struct dh_pipeline_pair *pair = &g->p->pairs[i];
        struct dh_chase_position at[2];
        const char *why;
        if (pair->pairs || dh_chase_position_pair(g->a, pair->name, at, &why) != 0)
            continue;
        json_array_append_new(rows,
                              json_pack("{s:o, s:o, s:s, s:o, s:o}", "first", dh_json_text(place(g, &at[0])),
                                        "second", dh_json_text(place(g, &at[1])), "result",
                                        pair->confirmed ? "confirmed" : "not confirmed", "why",
                                        dh_json_text(dh_pipeline_why_beyond(&look, pair)), "pair",
                                        dh_json_text(pair->name)));
    }
    dh_pipeline_lookup_done(&look);
    return rows;
}

/* ---- Pairs that did not race ---- */

static json_t *one_refuted(const struct page *g, const struct dh_cli_caper *c,
                           const struct dh_pairs_pair *pair)
{
    const struct dh_pairs *t = c->build.table;
    u32 first = pair->side[0].site, second = pair->side[1].site;
    u32 private = dh_caper_has(c->sets.escaped, first) ? second : first;
    u64 runs = dh_caper_state_runs(&c->state);
    const char *why =
        dh_arena_printf(g->a, "the %s touched no memory that other threads could reach, in %" PRIu64 " run%s",
                        site_place(g, &t->sites[private]), runs, runs == 1 ? "" : "s");
    return json_pack("{s:o, s:o, s:I, s:o}", "first", dh_json_text(site_place(g, &t->sites[first])), "second",
                     dh_json_text(site_place(g, &t->sites[second])), "pairs",
                     (json_int_t)dh_pairs_stands_for(t, pair), "why", dh_json_text(why));
}

/* What is left in spPairs, by bundles. NULL after a message. */
static json_t *refuted(const struct page *g, u64 *ret_pairs)
{
    struct dh_cli_caper c = {.command = "pipeline", .run.fd = -1};
    json_t *rows = NULL;
    if (dh_cli_caper_look(&c, dh_pipeline_file(g->p, "caper"), g->p->program) == 0) {
        rows = json_array();
        *ret_pairs = c.count.sp;
        dh_caper_choose(c.build.table, &c.sets, DH_CAPER_SP, &c.count);
        for (size_t i = 0; i < c.build.table->n_pairs && i < REFUTED; i++)
            json_array_append_new(rows, one_refuted(g, &c, &c.build.table->pairs[i]));
    }
    dh_cli_caper_close(&c);
    return rows;
}

/* ---- The document ---- */

/* Nothing for a stage that was not reached. */
static json_t *number(const struct dh_pipeline_took *t, u64 n)
{
    return t->pairs == UINT64_MAX ? json_null() : json_integer((json_int_t)n);
}

static json_t *stages(const struct dh_pipeline *p)
{
    static const char *const names[DH_PIPELINE_STAGES] = {"static analysis", "Caper", "inference", "chase",
                                                          "steering"};
    static const char *const units[DH_PIPELINE_STAGES] = {"pairs possible", "pairs in dpPairs", "pairs met",
                                                          "pairs not confirmed", "pairs not confirmed"};
    json_t *rows = json_array();
    for (int i = 0; i < DH_PIPELINE_STAGES; i++) {
        const struct dh_pipeline_took *t = &p->took[i];
        json_array_append_new(rows,
                              json_pack("{s:s, s:I, s:f, s:o, s:o, s:o, s:s}", "stage", names[i], "runs",
                                        (json_int_t)t->runs, "seconds", (double)t->us / 1e6, "in",
                                        i > DH_PIPELINE_STATIC ? number(t, t->in) : json_null(), "confirmed",
                                        i > DH_PIPELINE_CAPER ? number(t, t->confirmed) : json_null(), "left",
                                        number(t, t->pairs), "what", units[i]));
    }
    return rows;
}

/* How many races are confirmed. Without records they can be counted, but not shown. */
static u64 count_confirmed(const struct page *g, const json_t *races)
{
    u64 pairs = 0, records = json_array_size(races);
    for (size_t i = 0; i < g->p->n_pairs; i++)
        pairs += g->p->pairs[i].confirmed;
    if (records || !pairs)
        return records;
    dh_cli_warn("pipeline",
                "%" PRIu64
                " pair%s confirmed, but '%s' has no record of that (was it changed?); without '%s', "
                "all pairs are chased again",
                pairs, pairs == 1 ? " is" : "s are", dh_pipeline_file(g->p, "races.jsonl"),
                dh_pipeline_file(g->p, "chase"));
    return pairs;
}

json_t *dh_pipeline_document(struct dh_pipeline *p, u64 *ret_confirmed)
{
    char *cwd = getcwd(NULL, 0);
    struct page g = {p, &p->arena, cwd};
    u64 n_refuted = 0;
    json_t *races = confirmed(&g), *left = races ? refuted(&g, &n_refuted) : NULL;
    if (!left) {
        json_decref(races);
        free(cwd);
        return NULL;
    }
    json_t *possible = chased(&g, true), *unseen = chased(&g, false), *met = beyond(&g);
    *ret_confirmed = count_confirmed(&g, races);
    json_t *d = json_pack(
        "{s:s, s:i, s:o, s:s, s:o, s:o, s:f, s:f, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, "
        "s:o, "
        "s:o, s:o, s:o}",
        "type", "pipeline", "version", 1, "program", dh_json_text(p->program), "build_id", p->build_id,
        "command", dh_json_text(command_line(&g)), "state", dh_json_text(p->dir), "budget_seconds",
        (double)p->budget_us / 1e6, "seconds", (double)dh_pipeline_spent(p) / 1e6, "interrupted", p->stop,
        "n_confirmed", (json_int_t)*ret_confirmed, "n_possible", (json_int_t)json_array_size(possible),
        "n_refuted", (json_int_t)n_refuted, "n_never_seen", (json_int_t)json_array_size(unseen), "n_unnamed",
        (json_int_t)p->unnamed, "n_unlisted", (json_int_t)p->unlisted, "n_beyond",
        (json_int_t)json_array_size(met), "stages", stages(p), "sums", dh_pipeline_sums(p), "confirmed",
        races, "possible", possible, "refuted", left, "never_seen", unseen, "beyond", met);
    free(cwd);
    if (!d)
        dh_util_no_memory();
    return d;
}

void dh_pipeline_print(FILE *out, const char *format, const json_t *document)
{
    enum { TEXT_ROWS = 50 };
    static const struct dh_print_column facts[] = {
        {.member = "n_confirmed", .title = "confirmed"},
        {.member = "n_possible", .title = "still possible"},
        {.member = "n_refuted", .title = "refuted in these runs"},
        {.member = "n_never_seen", .title = "never seen"},
        {.member = "n_unnamed", .title = "not identified by two lines"},
        {.member = "n_unlisted", .title = "not listed"},
        {.member = "n_beyond", .title = "met without being proposed"},
        {.member = "seconds", .title = "s", .decimals = 1}};
    static const struct dh_print_column stage[] = {
        {.member = "stage", .title = "stage"},
        {.member = "runs", .title = "runs"},
        {.member = "seconds", .title = "time", .suffix = " s", .decimals = 1},
        {.member = "in", .title = "pairs in"},
        {.member = "confirmed", .title = "confirmed"},
        {.member = "left", .title = "leaves"},
        {.member = "what", .title = "of"},
    };
    static const struct dh_print_column sum[] = {
        {.member = "result", .title = "result"},
        {.member = "pairs", .title = "pairs"},
    };
    static const struct dh_print_column met[] = {
        {.member = "first", .title = "access"},
        {.member = "second", .title = "with"},
        {.member = "result", .title = "result"},
    };
    static const struct dh_print_column race[] = {
        {.member = "fingerprint", .title = "race"},
        {.member = "variable", .title = "on"},
        {.member = "consequence", .title = "consequence"},
    };
    static const struct dh_print_column pair[] = {
        {.member = "first", .title = "access"},
        {.member = "second", .title = "with"},
        {.member = "pairs", .title = "pairs"},
    };
    static const struct dh_print_table tables[] = {
        {.title = "Stages", .member = "stages", .columns = stage, .n_columns = DH_ARRAY_LEN(stage)},
        {.title = "What became of dpPairs", .member = "sums", .columns = sum, .n_columns = DH_ARRAY_LEN(sum)},
        {.title = "Confirmed races",
         .member = "confirmed",
         .columns = race,
         .n_columns = DH_ARRAY_LEN(race),
         .below = "stacks",
         .none = "No race was confirmed."},
        {.title = "Still possible",
         .member = "possible",
         .columns = pair,
         .n_columns = DH_ARRAY_LEN(pair),
         .below = "why",
         .most = TEXT_ROWS,
         .none = "None."},
        {.title = "Refuted (no race in any of these runs)",
         .member = "refuted",
         .columns = pair,
         .n_columns = DH_ARRAY_LEN(pair),
         .below = "why",
         .most = TEXT_ROWS,
         .none = "None: all possible pairs are of accesses to memory that other threads could reach."},
        {.title = "Never seen",
         .member = "never_seen",
         .columns = pair,
         .n_columns = DH_ARRAY_LEN(pair),
         .below = "why",
         .most = TEXT_ROWS,
         .none = "None."},
        {.title = "Met without being proposed",
         .member = "beyond",
         .columns = met,
         .n_columns = DH_ARRAY_LEN(met),
         .below = "why",
         .most = TEXT_ROWS,
         .none = "None."},
    };
    const struct dh_print_tables about = {.title = "Races of",
                                          .subject = json_string_value(json_object_get(document, "command")),
                                          .facts = facts,
                                          .n_facts = DH_ARRAY_LEN(facts),
                                          .tables = tables,
                                          .n_tables = DH_ARRAY_LEN(tables)};
    dh_print_tables(out, format, &about, document);
}
