/*
 * json.h - between the two files of the JSON back end: json.c writes findings, json_about.c the document
 * around them. The SARIF back end is made of the same pieces.
 */
#ifndef DH_REPORT_JSON_H
#define DH_REPORT_JSON_H

#include <jansson.h>

#include "report/words.h"

json_t *dh_json_text(const char *s);
/* A member with a text, unless it is NULL, or with a number. */
void dh_json_put(json_t *object, const char *key, const char *s);
void dh_json_number(json_t *object, const char *key, u64 n);
json_t *dh_json_location(const struct dh_finding_location *at);
/* Writes a value and drops it. */
void dh_json_write(struct dh_print *p, json_t *value);
void dh_json_finding(struct dh_print *p, const struct dh_finding *f);

#endif
