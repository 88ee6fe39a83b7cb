/*
 * table.c - see table.h. Values become text in one function for all formats, `shown`.
 */
#include "report/table.h"

#include <stdlib.h>
#include <string.h>

#include "report/html.h"
#include "report/json.h"
#include "util/text.h"

/* ---- Values -------------------------------------------------------------------------------------------- */

static const char *names(struct dh_arena *a, const json_t *list)
{
    const char *text = "";
    for (size_t i = 0; i < json_array_size(list); i++)
        text = dh_arena_printf(a, "%s%s%s", text, i ? " " : "", json_string_value(json_array_get(list, i)));
    return dh_text_shown(a, text);
}

/* "": nothing is known. */
static const char *shown(struct dh_arena *a, const struct dh_print_column *c, const json_t *value)
{
    if (json_is_string(value))
        return dh_text_shown(a, json_string_value(value));
    if (json_is_true(value))
        return "yes";
    if (json_is_array(value))
        return c->names ? names(a, value) : dh_arena_printf(a, "%zu", json_array_size(value));
    if (!json_is_number(value))
        return "";
    return dh_arena_printf(a, "%.*f%s", c->decimals, json_number_value(value) / (c->unit ? c->unit : 1),
                           c->suffix ? c->suffix : "");
}

static double amount(const json_t *value)
{
    return json_is_array(value) ? (double)json_array_size(value) : json_number_value(value);
}

/* A column as texts, the heading first. */
struct column {
    const struct dh_print_column *is;
    const char **texts;
    bool left;   /* names stand to the left, numbers to the right */
    double most; /* of all rows */
};

/* Those that people see: with something to show in some row. Programs see all, and numbers as they are in
 * JSON. */
static size_t columns_of(struct dh_arena *a, const struct dh_print_table *t, const json_t *rows, bool people,
                         struct column **ret)
{
    size_t n = 0;
    *ret = dh_arena_array(a, t->n_columns, sizeof(**ret));
    for (size_t k = 0; k < t->n_columns; k++) {
        const struct dh_print_column *is = &t->columns[k];
        struct column c = {is, dh_arena_array(a, json_array_size(rows) + 1, sizeof(*c.texts)), is->names, 0};
        bool used = false;
        c.texts[0] = people ? is->title : is->csv ? is->csv : is->member;
        for (size_t i = 0; i < json_array_size(rows); i++) {
            const json_t *value = json_object_get(json_array_get(rows, i), is->member);
            const struct dh_print_column plain = {.decimals = json_is_real(value) ? 6 : 0};
            c.texts[i + 1] = shown(a, people ? is : &plain, value);
            c.most = amount(value) > c.most ? amount(value) : c.most;
            c.left |= json_is_string(value) || json_is_boolean(value);
            used |= c.texts[i + 1][0] != '\0';
        }
        if (!people || (is->title && used))
            (*ret)[n++] = c;
    }
    return n;
}

/* The rows of a table; those of an object are its members, each with a name and a value. */
static json_t *rows_of(const struct dh_print_table *t, const json_t *document)
{
    json_t *list = json_object_get(document, t->member), *rows, *value;
    const char *name;
    if (!json_is_object(list))
        return json_incref(list);
    rows = json_array();
    json_object_foreach(list, name, value)
        json_array_append_new(rows, json_pack("{s:s, s:O}", "name", name, "value", value));
    return rows;
}

/* What stands below a row, each line between two texts. */
static void print_below(FILE *out, const struct dh_print_table *t, const json_t *row, const char *before,
                        void (*put)(FILE *out, const char *s), const char *after)
{
    struct dh_arena a = {0};
    const json_t *value = t->below ? json_object_get(row, t->below) : NULL;
    for (size_t i = 0; i < (json_is_string(value) ? 1 : json_array_size(value)); i++) {
        fputs(before, out);
        put(out,
            dh_text_shown(&a, json_string_value(json_is_string(value) ? value : json_array_get(value, i))));
        fputs(after, out);
    }
    dh_arena_done(&a);
}

/* "25 events, 3 threads" */
static const char *facts(struct dh_arena *a, const struct dh_print_tables *about, const json_t *document)
{
    const char *text = "";
    for (size_t i = 0; i < about->n_facts; i++) {
        const struct dh_print_column *c = &about->facts[i];
        const char *fact = shown(a, c, json_object_get(document, c->member));
        if (fact[0])
            text = dh_arena_printf(a, "%s%s%s %s", text, i ? ", " : "", fact, c->title);
    }
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

/* All lines of a table are made longer by one column. */
static void add_column(struct dh_arena *a, const struct column *c, size_t n, const char **lines)
{
    int width = 0;
    for (size_t i = 0; i < n; i++) {
        if (!c->texts[i][0] && !c->left)
            c->texts[i] = "-";
        width = width_of(c->texts[i]) > width ? width_of(c->texts[i]) : width;
    }
    for (size_t i = 0; i < n; i++) {
        int rest = width - width_of(c->texts[i]);
        lines[i] = dh_arena_printf(a, "%s%s%*s%s%*s", lines[i] ? lines[i] : "", lines[i] ? "  " : "",
                                   c->left ? 0 : rest, "", c->texts[i], c->left ? rest : 0, "");
    }
}

void dh_print_table_text(FILE *out, const struct dh_print_table *t, const json_t *document)
{
    struct dh_arena a = {0};
    json_t *rows = rows_of(t, document);
    struct column *columns;
    size_t all = json_array_size(rows), n = 1 + (t->most && t->most < all ? t->most : all);
    size_t n_columns = columns_of(&a, t, rows, true, &columns);
    const char **lines = dh_arena_array(&a, n, sizeof(*lines));
    if (t->title && (all || t->none))
        fprintf(out, "\n%s:\n", t->title);
    for (size_t k = 0; k < n_columns; k++)
        add_column(&a, &columns[k], n, lines);
    for (size_t i = 0; n_columns && i < n; i++) {
        int len = (int)strlen(lines[i]);
        while (len > 0 && lines[i][len - 1] == ' ')
            len--;
        fprintf(out, "%.*s\n", len, lines[i]);
        print_below(out, t, i ? json_array_get(rows, i - 1) : NULL, "        ", dh_text_put, "\n");
    }
    if (n < all + 1)
        fprintf(out, "... and %zu more (--format=json has all)\n", all + 1 - n);
    if (!all && t->none)
        fprintf(out, "%s\n", t->none);
    json_decref(rows);
    dh_arena_done(&a);
}

static void print_text(FILE *out, const struct dh_print_tables *about, const json_t *document)
{
    struct dh_arena a = {0};
    const char *numbers = facts(&a, about, document);
    if (about->subject) {
        dh_text_put(out, about->subject);
        fprintf(out, "%s%s\n\n", numbers[0] ? ": " : "", numbers);
    }
    for (size_t i = 0; i < about->n_tables; i++)
        dh_print_table_text(out, &about->tables[i], document);
    dh_arena_done(&a);
}

/* ---- CSV ----------------------------------------------------------------------------------------------- */

static bool is_number(const char *s)
{
    char *end;
    strtod(s, &end);
    return end > s && !*end;
}

void dh_print_csv_text(FILE *out, const char *s)
{
    bool formula = *s && strchr("=+-@\t\r", *s) && !is_number(s);
    bool quoted = strpbrk(s, ",\"\r\n") != NULL;
    fputs(quoted ? "\"" : "", out);
    fputs(formula ? "'" : "", out);
    for (; *s; s++)
        fprintf(out, *s == '"' ? "\"\"" : "%c", *s);
    fputs(quoted ? "\"" : "", out);
}

static void print_csv(FILE *out, const struct dh_print_tables *about, const json_t *document)
{
    struct dh_arena a = {0};
    struct column *columns;
    json_t *rows = rows_of(&about->tables[0], document);
    size_t n = columns_of(&a, &about->tables[0], rows, false, &columns);
    for (size_t i = 0; i <= json_array_size(rows); i++)
        for (size_t k = 0; k < n; k++) {
            dh_print_csv_text(out, columns[k].texts[i]);
            fputc(k + 1 < n ? ',' : '\n', out);
        }
    json_decref(rows);
    dh_arena_done(&a);
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static void print_json(FILE *out, const struct dh_print_tables *about, const json_t *document)
{
    (void)about;
    dh_json_put(out, document, JSON_INDENT(1));
    fputc('\n', out);
}

/* ---- HTML ---------------------------------------------------------------------------------------------- */

/* Of a column that is a chart the bar stands below the number: it can be read without colours. */
static void html_cell(FILE *out, const struct column *c, const json_t *row, size_t line)
{
    fprintf(out, "<%s%s>", line ? "td" : "th", c->left ? "" : " class=r");
    dh_html_put(out, c->texts[line]);
    if (row && c->is->chart && c->most > 0 && c->texts[line][0])
        fprintf(out, "<i style=\"width:%.1f%%\"></i>",
                100 * amount(json_object_get(row, c->is->member)) / c->most);
}

void dh_print_table_html(FILE *out, const struct dh_print_table *t, const json_t *document)
{
    struct dh_arena a = {0};
    json_t *rows = rows_of(t, document);
    struct column *columns;
    size_t n = columns_of(&a, t, rows, true, &columns);
    if (t->title && (n || t->none))
        fprintf(out, "<h2>%s</h2>", t->title);
    fputs(n ? "<div class=wide><table>" : "", out);
    for (size_t i = 0; n && i <= json_array_size(rows); i++) {
        const json_t *row = i ? json_array_get(rows, i - 1) : NULL;
        fputs("<tr>", out);
        for (size_t k = 0; k < n; k++) {
            html_cell(out, &columns[k], row, i);
            if (k + 1 == n)
                print_below(out, t, row, "<small>", dh_html_put, "</small>");
            fprintf(out, "</%s>", row ? "td" : "th");
        }
        fputs("</tr>\n", out);
    }
    fputs(n ? "</table></div>\n" : "", out);
    if (!n && t->none)
        fprintf(out, "<p>%s</p>\n", t->none);
    json_decref(rows);
    dh_arena_done(&a);
}

static void print_html(FILE *out, const struct dh_print_tables *about, const json_t *document)
{
    struct dh_arena a = {0};
    dh_html_begin(out, about->title, dh_text_shown(&a, about->subject), facts(&a, about, document));
    fputs("</div></header>\n<main>\n", out);
    for (size_t i = 0; i < about->n_tables; i++)
        dh_print_table_html(out, &about->tables[i], document);
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
