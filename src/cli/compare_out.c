/*
 * compare_out.c - the table of `deadheat compare` as text, CSV and JSON. docs/guide/compare.md has the
 * columns.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cli/compare.h"
#include "util/text.h"

static const char *guarantee(const struct dh_compare_row *r)
{
    return r->ops ? dh_guarantee_name(r->ops->guarantee) : "none";
}

static bool has_native(const struct dh_compare *c)
{
    return c->n > 0 && strcmp(c->rows[0].name, "native") == 0;
}

/* ---- Text --------------------------------------------------------------------------------------------- */

static void ratio(double value)
{
    if (value > 0)
        printf(" %7.2fx", value);
    else
        printf(" %8s", "-");
}

static void text_row(const struct dh_compare *c, const struct dh_compare_row *r)
{
    printf("%-13s %-16s %-9s %9.3f", r->name, guarantee(r), r->how, r->seconds);
    if (has_native(c))
        ratio(dh_compare_over(c, r, "native"));
    ratio(dh_compare_over(c, r, "empty"));
    printf(" %9.1f", (double)r->peak / (1 << 20));
    if (!r->ops) {
        puts("");
        return;
    }
    printf(" %9zu %7zu %5zu", r->n_variables, r->n_pairs, r->n_only);
    if (c->truth)
        printf(" %5zu %5zu %6zu", r->n_found, r->n_wrong, r->n_missed);
    if (r->note)
        printf("  %s", r->note);
    if (r->error)
        printf("  incomplete: %s", r->error);
    puts("");
}

/* Who reports what: a line a variable, a column a detector. */
static void text_matrix(struct dh_compare *c)
{
    enum { SHOWN = 40 };
    size_t n;
    const char **variables = dh_compare_variables(c, &n);
    if (n == 0)
        return;
    puts("\nreported by:");
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        fputs("  ", stdout);
        dh_text_put(stdout, variables[i]);
        putchar(':');
        for (u32 k = 0; k < c->n; k++)
            if (dh_compare_has(c->rows[k].variables, c->rows[k].n_variables, variables[i]))
                printf(" %s", c->rows[k].name);
        puts("");
    }
    if (n > SHOWN)
        printf("  ... and %zu more (--format=json has all)\n", n - SHOWN);
}

void dh_compare_text(struct dh_compare *c)
{
    dh_text_put(stdout, c->subject);
    if (c->events)
        printf(": %" PRIu64 " events, %u threads, %u locks, %u %s", c->events, c->threads, c->locks, c->cells,
               c->is_program ? "pieces of memory" : "variables");
    printf("\n\n%-13s %-16s %-9s %9s%s %8s %9s %9s %7s %5s%s\n", "detector", "guarantee", "how", "seconds",
           has_native(c) ? " x native" : "", "x empty", "MiB", "variables", "pairs", "only",
           c->truth ? "  true false missed" : "");
    for (u32 i = 0; i < c->n; i++)
        text_row(c, &c->rows[i]);
    text_matrix(c);
}

/* ---- CSV ---------------------------------------------------------------------------------------------- */

static void csv_text(const char *s)
{
    if (!strpbrk(s, ",\"\n")) {
        fputs(s, stdout);
        return;
    }
    putchar('"');
    for (; *s; s++)
        printf(*s == '"' ? "\"\"" : "%c", *s);
    putchar('"');
}

static void csv_ratio(double value)
{
    if (value > 0)
        printf("%.4f", value);
    putchar(',');
}

void dh_compare_csv(struct dh_compare *c)
{
    puts(
        "detector,guarantee,how,seconds,cpu_seconds,over_native,over_empty,peak_bytes,variables,pairs,only_"
        "variables,"
        "only_pairs,"
        "true_positives,false_positives,misses,error");
    for (u32 i = 0; i < c->n; i++) {
        const struct dh_compare_row *r = &c->rows[i];
        printf("%s,%s,%s,%.6f,%.6f,", r->name, guarantee(r), r->how, r->seconds, r->cpu);
        csv_ratio(dh_compare_over(c, r, "native"));
        csv_ratio(dh_compare_over(c, r, "empty"));
        printf("%" PRIu64 ",", r->peak);
        if (r->ops)
            printf("%zu,%zu,%zu,%zu,", r->n_variables, r->n_pairs, r->n_only, r->n_only_pairs);
        else
            printf(",,,,");
        if (r->ops && c->truth)
            printf("%zu,%zu,%zu,", r->n_found, r->n_wrong, r->n_missed);
        else
            printf(",,,");
        csv_text(r->error ? r->error : r->note ? r->note : "");
        putchar('\n');
    }
}

/* ---- JSON --------------------------------------------------------------------------------------------- */

static json_t *text(const char *s)
{
    json_t *value = s ? json_string(s) : json_null();
    return value ? value : json_string("?"); /* not UTF-8 */
}

static json_t *list(const char *const *texts, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, text(texts[i]));
    return array;
}

static json_t *real_or_null(double value)
{
    return value > 0 ? json_real(value) : json_null();
}

static json_t *json_row(struct dh_compare *c, const struct dh_compare_row *r)
{
    json_t *warnings = json_array();
    for (size_t i = 0; i < r->n_warnings; i++) {
        const struct dh_compare_warning *w = &r->warnings[i];
        json_array_append_new(warnings, json_pack("{s:o s:[oo]}", "variable", text(w->variable), "places",
                                                  text(w->site[0]), text(w->site[1])));
    }
    json_t *row = json_pack("{s:s s:s s:s s:f s:f s:o s:o s:I}", "name", r->name, "guarantee", guarantee(r),
                            "how", r->how, "seconds", r->seconds, "cpu_seconds", r->cpu, "over_native",
                            real_or_null(dh_compare_over(c, r, "native")), "over_empty",
                            real_or_null(dh_compare_over(c, r, "empty")), "peak_bytes", (json_int_t)r->peak);
    json_object_update_new(row,
                           json_pack("{s:o s:o s:o s:o s:o s:I s:o}", "error", text(r->error), "note",
                                     text(r->note), "variables", list(r->variables, r->n_variables), "pairs",
                                     list(r->pairs, r->n_pairs), "only", list(r->only, r->n_only),
                                     "only_pairs", (json_int_t)r->n_only_pairs, "warnings", warnings));
    if (c->truth)
        json_object_update_new(row, json_pack("{s:o s:o s:o}", "true_positives", list(r->found, r->n_found),
                                              "false_positives", list(r->wrong, r->n_wrong), "misses",
                                              list(r->missed, r->n_missed)));
    return row;
}

void dh_compare_json(struct dh_compare *c)
{
    json_t *rows = json_array();
    for (u32 i = 0; i < c->n; i++)
        json_array_append_new(rows, json_row(c, &c->rows[i]));
    json_t *root = json_pack("{s:i s:o s:s s:I s:I s:I s:I s:o}", "version", 1, "subject", text(c->subject),
                             "kind", c->is_program ? "program" : "trace", "events", (json_int_t)c->events,
                             "threads", (json_int_t)c->threads, "locks", (json_int_t)c->locks, "cells",
                             (json_int_t)c->cells, "detectors", rows);
    if (!root)
        dh_util_no_memory();
    json_dumpf(root, stdout, JSON_INDENT(1) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6));
    puts("");
    json_decref(root);
}
