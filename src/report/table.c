/*
 * table.c - see table.h. A value becomes text in one place for all forms, `shown`.
 */
#include "report/table.h"

#include <string.h>

#include "report/html.h"
#include "util/text.h"

/* ---- Values -------------------------------------------------------------------------------------------- */

static const char *names(struct dh_arena *a, const json_t *list)
{
    const char *text = "";
    size_t i;
    json_t *name;
    json_array_foreach(list, i, name) text =
        dh_arena_printf(a, "%s%s%s", text, i ? " " : "", json_string_value(name));
    return dh_text_shown(a, text);
}

/* NULL: nothing is known. */
static const char *shown(struct dh_arena *a, const struct dh_print_column *c, const json_t *value)
{
    if (json_is_string(value))
        return dh_text_shown(a, json_string_value(value));
    if (json_is_array(value))
        return c->names ? names(a, value) : dh_arena_printf(a, "%zu", json_array_size(value));
    if (!json_is_number(value))
        return NULL;
    return dh_arena_printf(a, "%.*f%s", c->decimals, json_number_value(value) / (c->unit ? c->unit : 1),
                           c->suffix ? c->suffix : "");
}

static const char *cell(struct dh_arena *a, const struct dh_print_column *c, const json_t *row)
{
    return shown(a, c, json_object_get(row, c->member));
}

/* What a column is for people: names stand to the left, numbers to the right. */
enum side { NOWHERE, LEFT, RIGHT };

static enum side side_of(const struct dh_print_column *c, const json_t *rows)
{
    enum side side = NOWHERE;
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        const json_t *value = json_object_get(row, c->member);
        if (c->title && (json_is_string(value) || (c->names && json_is_array(value))))
            return LEFT;
        if (c->title && (json_is_number(value) || json_is_array(value)))
            side = RIGHT;
    }
    return side;
}

/* "25 events, 3 threads" */
static const char *facts(struct dh_arena *a, const struct dh_print_tables *about, const json_t *document)
{
    const char *text = "";
    for (size_t i = 0; i < about->n_facts; i++)
        text = dh_arena_printf(a, "%s%s%s %s", text, i ? ", " : "", cell(a, &about->facts[i], document),
                               about->facts[i].title);
    return text;
}

/* ---- Text ---------------------------------------------------------------------------------------------- */

static int width_of(const char *utf8)
{
    int n = 0;
    for (; *utf8; utf8++)
        n += (*utf8 & 0xc0) != 0x80;
    return n;
}

/* All lines of a table, the headings first, are made longer by one column. */
static void add_column(struct dh_arena *a, const struct dh_print_column *c, const json_t *rows, size_t n,
                       const char **lines)
{
    const char **texts = dh_arena_array(a, n + 1, sizeof(*texts));
    enum side side = side_of(c, rows);
    int width = 0;
    if (side == NOWHERE)
        return;
    for (size_t i = 0; i <= n; i++) {
        texts[i] = i ? cell(a, c, json_array_get(rows, i - 1)) : c->title;
        if (!texts[i])
            texts[i] = side == LEFT ? "" : "-";
        width = width_of(texts[i]) > width ? width_of(texts[i]) : width;
    }
    for (size_t i = 0; i <= n; i++) {
        int rest = width - width_of(texts[i]);
        lines[i] = dh_arena_printf(a, "%s%s%*s%s%*s", lines[i] ? lines[i] : "", lines[i] ? "  " : "",
                                   side == LEFT ? 0 : rest, "", texts[i], side == LEFT ? rest : 0, "");
    }
}

void dh_print_table_text(FILE *out, const struct dh_print_table *t, const json_t *rows)
{
    struct dh_arena a = {0};
    size_t all = json_array_size(rows), n = t->most && t->most < all ? t->most : all;
    if (!all) {
        fprintf(out, "%s\n", t->none);
        return;
    }
    const char **lines = dh_arena_array(&a, n + 1, sizeof(*lines));
    for (size_t k = 0; k < t->n_columns; k++)
        add_column(&a, &t->columns[k], rows, n, lines);
    for (size_t i = 0; i <= n; i++) {
        int len = (int)strlen(lines[i]);
        while (len > 0 && lines[i][len - 1] == ' ')
            len--;
        fprintf(out, "%.*s\n", len, lines[i]);
    }
    if (n < all)
        fprintf(out, "... and %zu more (--format=json has all)\n", all - n);
    dh_arena_done(&a);
}

static void print_text(FILE *out, const struct dh_print_tables *about, const json_t *document)
{
    struct dh_arena a = {0};
    dh_text_put(out, about->subject);
    fprintf(out, "%s%s\n", about->n_facts ? ": " : "", facts(&a, about, document));
    for (size_t i = 0; i < about->n_tables; i++) {
        const struct dh_print_table *t = &about->tables[i];
        const json_t *rows = json_object_get(document, t->member);
        fprintf(out, "\n%s%s", t->title ? t->title : "", t->title ? ":\n" : "");
        dh_print_table_text(out, t, rows);
    }
    dh_arena_done(&a);
}

/* ---- CSV ----------------------------------------------------------------------------------------------- */

static void csv_text(FILE *out, const char *s)
{
    bool quoted = strpbrk(s, ",\"\n");
    fputs(quoted ? "\"" : "", out);
    for (; *s; s++)
        fprintf(out, *s == '"' ? "\"\"" : "%c", *s);
    fputs(quoted ? "\"" : "", out);
}

/* Numbers are as they are in JSON, not as people see them. */
static void print_csv(FILE *out, const struct dh_print_tables *about, const json_t *document)
{
    const struct dh_print_table *t = &about->tables[0];
    size_t i;
    json_t *row;
    for (size_t k = 0; k < t->n_columns; k++)
        fprintf(out, "%s%s", k ? "," : "", t->columns[k].csv ? t->columns[k].csv : t->columns[k].member);
    fputc('\n', out);
    json_array_foreach(json_object_get(document, t->member), i, row)
    {
        struct dh_arena a = {0};
        for (size_t k = 0; k < t->n_columns; k++) {
            const json_t *value = json_object_get(row, t->columns[k].member);
            const struct dh_print_column plain = {.decimals = json_is_real(value) ? 6 : 0};
            const char *text = shown(&a, &plain, value);
            fputs(k ? "," : "", out);
            csv_text(out, text ? text : "");
        }
        fputc('\n', out);
        dh_arena_done(&a);
    }
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static void print_json(FILE *out, const struct dh_print_tables *about, const json_t *document)
{
    (void)about;
    json_dumpf(document, out, JSON_INDENT(1) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6));
    fputc('\n', out);
}

/* ---- HTML ---------------------------------------------------------------------------------------------- */

void dh_print_table_html(FILE *out, const struct dh_print_table *t, const json_t *rows)
{
    if (t->title)
        fprintf(out, "<h2>%s</h2>", t->title);
    if (!json_array_size(rows)) {
        fprintf(out, "<p>%s</p>\n", t->none);
        return;
    }
    fputs("<div class=wide><table>", out);
    for (size_t i = 0; i <= json_array_size(rows); i++) {
        struct dh_arena a = {0};
        const char *tag = i ? "td" : "th";
        fputs("<tr>", out);
        for (size_t k = 0; k < t->n_columns; k++) {
            const struct dh_print_column *c = &t->columns[k];
            enum side side = side_of(c, rows);
            const char *text = i ? cell(&a, c, json_array_get(rows, i - 1)) : c->title;
            if (side == NOWHERE)
                continue;
            fprintf(out, side == LEFT ? "<%s>" : "<%s class=r>", tag);
            dh_html_put(out, text ? text : "");
            fprintf(out, "</%s>", tag);
        }
        fputs("</tr>\n", out);
        dh_arena_done(&a);
    }
    fputs("</table></div>\n", out);
}

static double amount(const struct dh_print_column *c, const json_t *row)
{
    const json_t *value = json_object_get(row, c->member);
    return json_is_array(value) ? (double)json_array_size(value) : json_number_value(value);
}

/* A bar for each row that has the number, which stands beside it: it can be read without colours. The first
 * column is the name. */
static void chart(FILE *out, const struct dh_print_table *t, const struct dh_print_column *c,
                  const json_t *rows)
{
    enum { LABEL = 120, WIDTH = 760, LINE = 22, ROOM = 90 };
    struct dh_arena a = {0};
    double most = 0;
    int n = 0, y = 0;
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        most = amount(c, row) > most ? amount(c, row) : most;
        n += cell(&a, c, row) != NULL;
    }
    fprintf(out, "<h2>%s</h2>\n<svg viewBox=\"0 0 %d %d\" width=\"%d\" role=\"img\" aria-label=\"%s\">\n",
            c->chart, WIDTH, n * LINE + 4, WIDTH, c->chart);
    json_array_foreach(rows, i, row)
    {
        const char *number = cell(&a, c, row);
        double width = most > 0 ? amount(c, row) / most * (WIDTH - LABEL - ROOM) : 0;
        if (!number)
            continue;
        fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LABEL - 8, y + 16);
        dh_html_put(out, cell(&a, &t->columns[0], row));
        fprintf(out,
                "</text><rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/><text x=\"%.1f\" "
                "y=\"%d\">%s</text>\n",
                LABEL, y + 3, width, LINE - 6, LABEL + width + 6, y + 16, number);
        y += LINE;
    }
    fputs("</svg>\n", out);
    dh_arena_done(&a);
}

static void print_html(FILE *out, const struct dh_print_tables *about, const json_t *document)
{
    struct dh_arena a = {0};
    dh_html_begin(out, about->title, dh_text_shown(&a, about->subject), facts(&a, about, document));
    fputs("</div></header>\n<main>\n", out);
    for (size_t i = 0; i < about->n_tables; i++) {
        const struct dh_print_table *t = &about->tables[i];
        const json_t *rows = json_object_get(document, t->member);
        dh_print_table_html(out, t, rows);
        for (size_t k = 0; k < t->n_columns; k++)
            if (t->columns[k].chart && side_of(&t->columns[k], rows) != NOWHERE)
                chart(out, t, &t->columns[k], rows);
    }
    fputs("</main>\n</html>\n", out);
    dh_arena_done(&a);
}

/* ---- The document -------------------------------------------------------------------------------------- */

void dh_print_tables(FILE *out, const char *format, const struct dh_print_tables *about,
                     const json_t *document)
{
    static const struct {
        const char *name;
        void (*print)(FILE *out, const struct dh_print_tables *about, const json_t *document);
    } forms[] = {{"text", print_text}, {"csv", print_csv}, {"json", print_json}, {"html", print_html}};
    size_t i = 0;
    while (i < DH_ARRAY_LEN(forms) && strcmp(forms[i].name, format) != 0)
        i++;
    DH_ASSERT(i < DH_ARRAY_LEN(forms));
    forms[i].print(out, about, document);
}
