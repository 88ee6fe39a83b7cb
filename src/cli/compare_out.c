/*
 * compare_out.c - the comparison as a document of two tables: what each detector cost and found, and which of
 * them report what. docs/guide/compare.md describes the columns.
 */
#include "cli/compare.h"
#include "report/json.h"
#include "report/table.h"

static const struct dh_print_column costs[] = {
    {.member = "name", .title = "detector", .csv = "detector"},
    {.member = "guarantee", .title = "guarantee"},
    {.member = "how", .title = "how"},
    {.member = "seconds", .title = "seconds", .decimals = 3, .chart = true},
    {.member = "cpu_seconds"},
    {.member = "over_native", .title = "x native", .decimals = 2, .suffix = "x"},
    {.member = "over_empty", .title = "x empty", .decimals = 2, .suffix = "x"},
    {.member = "peak_bytes", .title = "MiB", .decimals = 1, .unit = 1 << 20, .chart = true},
    {.member = "variables", .title = "variables", .chart = true},
    {.member = "pairs", .title = "pairs", .chart = true},
    {.member = "only", .title = "only", .csv = "only_variables"},
    {.member = "only_pairs"},
    {.member = "true_positives", .title = "true", .chart = true},
    {.member = "false_positives", .title = "false", .chart = true},
    {.member = "misses", .title = "missed"},
    {.member = "note", .title = "note"},
    {.member = "error", .title = "incomplete"},
};

static const struct dh_print_column reporters[] = {
    {.member = "variable", .title = "variable"},
    {.member = "reported_by", .title = "reported by", .names = true},
};

/* null: the row does not belong to a detector. */
static json_t *list(const struct dh_compare_row *r, const char *const *texts, size_t n)
{
    json_t *array = r->ops ? json_array() : json_null();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, dh_json_text(texts[i]));
    return array;
}

static json_t *or_null(json_t *value)
{
    return value ? value : json_null();
}

static json_t *ratio(const struct dh_compare *c, const struct dh_compare_row *r, const char *name)
{
    double value = dh_compare_over(c, r, name);
    return value > 0 ? json_real(value) : json_null();
}

static json_t *row(const struct dh_compare *c, const struct dh_compare_row *r)
{
    json_t *warnings = json_array();
    for (size_t i = 0; i < r->n_warnings; i++) {
        const struct dh_compare_warning *w = &r->warnings[i];
        json_array_append_new(warnings,
                              json_pack("{s:o s:[oo]}", "variable", dh_json_text(w->variable), "places",
                                        dh_json_text(w->site[0]), dh_json_text(w->site[1])));
    }
    return dh_json_object("name", json_string(r->name), "guarantee",
                          json_string(r->ops ? dh_guarantee_name(r->ops->guarantee) : "none"), "how",
                          json_string(r->how), "seconds", json_real(r->seconds), "cpu_seconds",
                          json_real(r->cpu), "over_native", ratio(c, r, "native"), "over_empty",
                          ratio(c, r, "empty"), "peak_bytes", json_integer((json_int_t)r->peak), "error",
                          or_null(dh_json_text(r->error)), "note", or_null(dh_json_text(r->note)),
                          "variables", list(r, r->variables, r->n_variables), "pairs",
                          list(r, r->pairs, r->n_pairs), "only", list(r, r->only, r->n_only), "only_pairs",
                          r->ops ? json_integer((json_int_t)r->n_only_pairs) : json_null(), "warnings",
                          warnings, "true_positives", c->truth ? list(r, r->found, r->n_found) : NULL,
                          "false_positives", c->truth ? list(r, r->wrong, r->n_wrong) : NULL, "misses",
                          c->truth ? list(r, r->missed, r->n_missed) : NULL, NULL);
}

static json_t *matrix(struct dh_compare *c)
{
    json_t *rows = json_array();
    size_t n;
    const char **variables = dh_compare_variables(c, &n);
    for (size_t i = 0; i < n; i++) {
        json_t *by = json_array();
        for (u32 k = 0; k < c->n; k++)
            if (dh_compare_has(c->rows[k].variables, c->rows[k].n_variables, variables[i]))
                json_array_append_new(by, json_string(c->rows[k].name));
        json_array_append_new(
            rows, dh_json_object("variable", dh_json_text(variables[i]), "reported_by", by, NULL));
    }
    return rows;
}

void dh_compare_print(struct dh_compare *c, const char *format)
{
    enum { SHOWN = 40 };
    const struct dh_print_column facts[] = {
        {.member = "events", .title = "events"},
        {.member = "threads", .title = "threads"},
        {.member = "locks", .title = "locks"},
        {.member = "cells", .title = c->is_program ? "pieces of memory" : "variables"},
    };
    const struct dh_print_table tables[] = {
        {.member = "detectors", .columns = costs, .n_columns = DH_ARRAY_LEN(costs)},
        {"Who reports what", "variables", reporters, DH_ARRAY_LEN(reporters), .most = SHOWN,
         .none = "No detector reported anything."},
    };
    const struct dh_print_tables about = {
        .title = "Detectors on",
        .subject = c->subject,
        .facts = facts,
        .n_facts = c->events ? DH_ARRAY_LEN(facts) : 0,
        .tables = tables,
        .n_tables = DH_ARRAY_LEN(tables),
    };
    json_t *rows = json_array();
    for (u32 i = 0; i < c->n; i++)
        json_array_append_new(rows, row(c, &c->rows[i]));
    json_t *document = json_pack("{s:i s:o s:s s:I s:i s:i s:i s:o s:o}", "version", 1, "subject",
                                 dh_json_text(c->subject), "kind", c->is_program ? "program" : "trace",
                                 "events", (json_int_t)c->events, "threads", c->threads, "locks", c->locks,
                                 "cells", c->cells, "detectors", rows, "variables", matrix(c));
    if (!document)
        dh_util_no_memory();
    dh_print_tables(stdout, format, &about, document);
    json_decref(document);
}
