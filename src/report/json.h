/*
 * json.h - internal to the JSON back end: json.c writes findings, json_about.c the document around
 * them. The SARIF back end uses the same functions.
 */
#ifndef DH_REPORT_JSON_H
#define DH_REPORT_JSON_H

#include <jansson.h>

#include "report/table.h"
#include "report/words.h"

/* Return NULL for NULL or 0. */
json_t *dh_json_text(const char *s);
json_t *dh_json_number(u64 n);
/* An object with the given members: names and values, terminated by NULL. Members whose value is NULL are
 * omitted. */
__attribute__((sentinel)) json_t *dh_json_object(const char *key, ...);
json_t *dh_json_location(const void *location); /* a struct dh_finding_location */
/* Writes a value: in ASCII, without control characters (util/text.h). flags: jansson's. */
void dh_json_put(FILE *out, const json_t *value, size_t flags);
/* The same for a back end, and drops the reference. */
void dh_json_write(struct dh_print *p, json_t *value);
/* Statistics about the making of a table of pairs, for people: calls `print` for each table. full: includes
 * counters that are zero. */
void dh_json_tables(struct dh_print *p, bool full,
                    void (*print)(FILE *out, const struct dh_print_table *t, const json_t *document));
json_t *dh_json_of_finding(struct dh_print *p, const struct dh_finding *f);
void dh_json_finding(struct dh_print *p, const struct dh_finding *f); /* in the list of a document */

#endif
