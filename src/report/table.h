/*
 * table.h - documents of tables: rows that are JSON objects, and columns that say what people and CSV see of
 * them.
 *
 * In JSON the document is written as it is. In text, CSV and HTML a column shows a number, a name, or of a
 * list how long it is; null is what is not known. Names in it may be from anywhere: they are made fit to be
 * shown here.
 */
#ifndef DH_REPORT_TABLE_H
#define DH_REPORT_TABLE_H

#include <jansson.h>
#include <stdio.h>

#include "base/base.h"

struct dh_print_column {
    const char *member; /* of each row */
    const char *title;  /* for people, if a row has something to show; NULL: not for them */
    const char *csv;    /* in CSV; NULL: as the member */
    double unit;        /* people see the number divided by it; 0: as it is */
    const char *suffix; /* behind the number; NULL: nothing */
    int decimals;
    bool chart; /* in HTML also as a bar */
    bool names; /* of a list people see what is in it */
};

struct dh_print_table {
    const char *title;  /* NULL: none */
    const char *member; /* of the document: a list of rows, or an object of numbers by `name` and `value` */
    const struct dh_print_column *columns;
    size_t n_columns;
    const char *below; /* a member that people see below each row: a text, or a list of them; NULL: none */
    size_t most;       /* rows in text; 0: all */
    const char *none;  /* said if there is no row; NULL: then the table is left out */
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
/* A value of CSV, in quotes where RFC 4180 wants them. What a spreadsheet would take for a formula, and is
 * none of our numbers, has an apostrophe before it: names come from programs that anybody may have written.
 */
void dh_print_csv_text(FILE *out, const char *s);
/* One table alone, within another page or text. */
void dh_print_table_text(FILE *out, const struct dh_print_table *t, const json_t *document);
void dh_print_table_html(FILE *out, const struct dh_print_table *t, const json_t *document);

#endif
