/*
 * json.h - between the two files of the JSON back end: json.c writes findings, json_about.c the document
 * around them. The SARIF back end is made of the same pieces.
 */
#ifndef DH_REPORT_JSON_H
#define DH_REPORT_JSON_H

#include <jansson.h>

#include "report/table.h"
#include "report/words.h"

/* NULL for what is NULL or 0. */
json_t *dh_json_text(const char *s);
json_t *dh_json_number(u64 n);
/* An object of members, each a name and a value, and NULL behind them. A value that is NULL is no member. */
__attribute__((sentinel)) json_t *dh_json_object(const char *key, ...);
json_t *dh_json_location(const void *location); /* a struct dh_finding_location */
/* Writes a value and drops it. */
void dh_json_write(struct dh_print *p, json_t *value);
/* What a table of pairs says of its making, for people: each table by the function of their form. full: also
 * what counts nothing. */
void dh_json_tables(struct dh_print *p, bool full,
                    void (*print)(FILE *out, const struct dh_print_table *t, const json_t *document));
json_t *dh_json_of_finding(struct dh_print *p, const struct dh_finding *f);
void dh_json_finding(struct dh_print *p, const struct dh_finding *f); /* in the list of a document */

#endif
