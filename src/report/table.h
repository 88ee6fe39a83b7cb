/*
 * table.h - documents of tables: rows that are JSON objects, and columns that define what people and CSV get
 * of them.
 *
 * As JSON the document is written unchanged. In text, CSV and HTML a column shows a number, a name, or the
 * length of a list; null stands for unknown. Names may come from untrusted input and are sanitised here.
 */
#ifndef DH_REPORT_TABLE_H
#define DH_REPORT_TABLE_H

#include <jansson.h>
#include <stdio.h>

#include "base/base.h"

struct dh_print_column {
    const char *member; /* of each row */
    const char *title;  /* for people, if any row has a value; NULL: not shown to them */
    const char *csv;    /* in CSV; NULL: as the member */
    double unit;        /* people see the number divided by it; 0: unchanged */
    const char *suffix; /* after the number; NULL: nothing */
    int decimals;
    bool chart; /* in HTML also as a bar */
    bool names; /* for a list, people see its elements */
};

struct dh_print_table {
    const char *title;  /* NULL: none */
    const char *member; /* of the document: a list of rows, or an object of numbers as `name` and `value` */
    const struct dh_print_column *columns;
    size_t n_columns;
    const char *below; /* a member shown to people below each row: a text, or a list of them; NULL: none */
    size_t most;       /* rows in text; 0: all */
    const char *none;  /* shown if there are no rows; NULL: the table is omitted */
};

struct dh_print_tables {
    const char *title, *subject;         /* of the page: "Detectors on"; what it is about; NULL: of itself */
    const struct dh_print_column *facts; /* numbers of the document as a whole, by member and title */
    size_t n_facts;
    const struct dh_print_table *tables; /* the first one is what CSV has */
    size_t n_tables;
};

/* Writes the document in a format: "text", "csv", "json" or "html". */
void dh_print_tables(FILE *out, const char *format, const struct dh_print_tables *about,
                     const json_t *document);
/* A CSV value, quoted where RFC 4180 requires it. Text that a spreadsheet would take for a formula gets an
 * apostrophe before it, unless it is one of our numbers: names come from programs that anybody may have
 * written.
 */
void dh_print_csv_text(FILE *out, const char *s);
/* A single table, within another page or text. */
void dh_print_table_text(FILE *out, const struct dh_print_table *t, const json_t *document);
void dh_print_table_html(FILE *out, const struct dh_print_table *t, const json_t *document);

#endif
