/*
 * compare_html.c - the comparison as one self-contained page: the table, bar charts in SVG, and who reports
 * what.
 *
 * No script, nothing loaded from elsewhere. Every bar has its number beside it, so that the page can be read
 * without colours.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/compare.h"
#include "report/html.h"

static const char style[] =
    "body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:80em;padding:0 "
    "1em;color:#222;background:#fff}\n"
    "h1{font-size:1.4em;overflow-wrap:anywhere}h2{font-size:1.1em;margin-top:2em}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.2em .7em;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}\n"
    "th:first-child,td:first-child,td.t,th.t{text-align:left}thead th{border-bottom:2px solid #888}\n"
    "svg{max-width:100%;height:auto;display:block}svg text{font:13px system-ui,sans-serif;fill:#222}\n"
    ".bar{fill:#3b6ea5}.note{color:#a33}td.y{text-align:center}\n"
    "@media(prefers-color-scheme:dark){body{background:#181a1b;color:#ddd}svg "
    "text{fill:#ddd}.bar{fill:#6fa3d8}"
    "th,td{border-color:#444}.note{color:#e88}}\n";

static void escaped(const char *s)
{
    dh_html_put(stdout, s);
}

static void cell(const char *class, const char *s)
{
    printf("<td%s>", class);
    escaped(s);
    fputs("</td>", stdout);
}

static void ratio_cell(double value)
{
    if (value > 0)
        printf("<td>%.2f&times;</td>", value);
    else
        fputs("<td>&ndash;</td>", stdout);
}

/* ---- The table ---------------------------------------------------------------------------------------- */

static bool has_native(const struct dh_compare *c)
{
    return c->n > 0 && strcmp(c->rows[0].name, "native") == 0;
}

static void table_row(const struct dh_compare *c, const struct dh_compare_row *r)
{
    fputs("<tr>", stdout);
    cell("", r->name);
    cell(" class=t", r->ops ? dh_guarantee_name(r->ops->guarantee) : "");
    cell(" class=t", r->how);
    printf("<td>%.3f</td>", r->seconds);
    if (has_native(c))
        ratio_cell(dh_compare_over(c, r, "native"));
    ratio_cell(dh_compare_over(c, r, "empty"));
    printf("<td>%.1f</td>", (double)r->peak / (1 << 20));
    if (r->ops)
        printf("<td>%zu</td><td>%zu</td><td>%zu</td>", r->n_variables, r->n_pairs, r->n_only);
    else
        fputs("<td></td><td></td><td></td>", stdout);
    if (c->truth && r->ops)
        printf("<td>%zu</td><td>%zu</td><td>%zu</td>", r->n_found, r->n_wrong, r->n_missed);
    else if (c->truth)
        fputs("<td></td><td></td><td></td>", stdout);
    if (r->error || r->note)
        cell(" class=\"t note\"", r->error ? r->error : r->note);
    puts("</tr>");
}

static void table(const struct dh_compare *c)
{
    printf(
        "<div class=wide><table><thead><tr><th>detector</th><th class=t>guarantee</th><th class=t>how</th>"
        "<th>seconds</th>%s<th>over empty</th><th>MiB</th><th>variables</th><th>pairs</th><th>only "
        "here</th>%s"
        "</tr></thead><tbody>\n",
        has_native(c) ? "<th>over native</th>" : "",
        c->truth ? "<th>true</th><th>false</th><th>missed</th>" : "");
    for (u32 i = 0; i < c->n; i++)
        table_row(c, &c->rows[i]);
    puts("</tbody></table></div>");
}

/* ---- Charts ------------------------------------------------------------------------------------------- */

/* What a chart shows of a row; negative: the row has no such thing and is left out. */
typedef double value_fn(const struct dh_compare_row *r);

static double seconds(const struct dh_compare_row *r)
{
    return r->seconds;
}

static double memory(const struct dh_compare_row *r)
{
    return (double)r->peak / (1 << 20);
}

static double variables(const struct dh_compare_row *r)
{
    return r->ops ? (double)r->n_variables : -1;
}

static double pairs(const struct dh_compare_row *r)
{
    return r->ops ? (double)r->n_pairs : -1;
}

static double real_races(const struct dh_compare_row *r)
{
    return r->ops ? (double)r->n_found : -1;
}

static double false_alarms(const struct dh_compare_row *r)
{
    return r->ops ? (double)r->n_wrong : -1;
}

enum { LABEL = 120, WIDTH = 760, LINE = 22, ROOM = 90 };

static void bar(const char *name, double width, int y, const char *number, const char *unit)
{
    printf("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LABEL - 8, y + 16);
    escaped(name);
    printf("</text><rect class=\"bar\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>", LABEL, y + 3, width,
           LINE - 6);
    printf("<text x=\"%.1f\" y=\"%d\">%s%s</text>\n", LABEL + width + 6, y + 16, number, unit);
}

static void chart(const struct dh_compare *c, const char *title, value_fn *value, const char *format,
                  const char *unit)
{
    double most = 0;
    int rows = 0, y = 0;
    for (u32 i = 0; i < c->n; i++) {
        double v = value(&c->rows[i]);
        most = v > most ? v : most;
        rows += v >= 0;
    }
    printf("<h2>%s</h2>\n<svg viewBox=\"0 0 %d %d\" width=\"%d\" role=\"img\" aria-label=\"%s\">\n", title,
           WIDTH, rows * LINE + 4, WIDTH, title);
    for (u32 i = 0; i < c->n; i++) {
        double v = value(&c->rows[i]);
        char number[48];
        if (v < 0)
            continue;
        snprintf(number, sizeof(number), format, v);
        bar(c->rows[i].name, most > 0 ? v / most * (WIDTH - LABEL - ROOM) : 0, y, number, unit);
        y += LINE;
    }
    puts("</svg>");
}

/* ---- Who reports what --------------------------------------------------------------------------------- */

static void matrix(struct dh_compare *c)
{
    size_t n;
    const char **names = dh_compare_variables(c, &n);
    puts("<h2>Who reports what</h2>");
    if (n == 0) {
        puts("<p>No detector reported anything.</p>");
        return;
    }
    fputs("<div class=wide><table><thead><tr><th>variable</th>", stdout);
    for (u32 k = 0; k < c->n; k++) {
        if (!c->rows[k].ops)
            continue;
        fputs("<th>", stdout);
        escaped(c->rows[k].name);
        fputs("</th>", stdout);
    }
    puts("</tr></thead><tbody>");
    for (size_t i = 0; i < n; i++) {
        fputs("<tr>", stdout);
        cell("", names[i]);
        for (u32 k = 0; k < c->n; k++)
            if (c->rows[k].ops)
                printf("<td class=y>%s</td>",
                       dh_compare_has(c->rows[k].variables, c->rows[k].n_variables, names[i]) ? "&#9679;"
                                                                                              : "");
        puts("</tr>");
    }
    puts("</tbody></table></div>");
}

void dh_compare_html(struct dh_compare *c)
{
    fputs(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width\"><title>deadheat compare: ",
        stdout);
    escaped(c->subject);
    printf("</title>\n<style>\n%s</style></head><body>\n<h1>", style);
    escaped(c->subject);
    puts("</h1>");
    if (c->events)
        printf("<p>%" PRIu64 " events, %u threads, %u locks, %u variables.</p>\n", c->events, c->threads,
               c->locks, c->cells);
    table(c);
    chart(c, "Time", seconds, "%.3f", " s");
    chart(c, "Peak memory", memory, "%.1f", " MiB");
    chart(c, "Variables reported", variables, "%.0f", "");
    chart(c, "Pairs of places reported", pairs, "%.0f", "");
    if (c->truth) {
        chart(c, "Real races found", real_races, "%.0f", "");
        chart(c, "False alarms", false_alarms, "%.0f", "");
    }
    matrix(c);
    puts("</body></html>");
}
