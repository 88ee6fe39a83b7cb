/*
 * print.h - the two forms of a report.
 */
#ifndef DH_REPORT_PRINT_H
#define DH_REPORT_PRINT_H

#include <jansson.h>
#include <stdio.h>

#include "report/finding.h"
#include "report/source.h"

/* One distinct race: all races with one fingerprint. */
struct dh_group {
    struct dh_finding *finding;    /* the first */
    u64 count;                     /* occurrences, the first included */
    u64 processes;                 /* it was seen in */
    struct dh_suppress_rule *rule; /* why it is not shown; NULL: it is */
    struct dh_group *next;         /* in order of appearance */
};

struct dh_print {
    FILE *out;
    struct dh_arena *arena;
    struct dh_source *source; /* NULL: do not show source lines */
    const char *cwd;          /* paths beneath are shown relative to it; may be NULL */
    bool color;
};

/* text.c. with_count: say how often it was seen (not known yet while the program runs). */
void dh_print_text(const struct dh_print *p, const struct dh_group *group, bool with_count);
/* "src/a.c:12" of the frame to point at, or module+offset. */
const char *dh_print_place(const struct dh_print *p, const struct dh_symbol_trace *trace);

/* json.c: an object of docs/guide/report.md. A new reference. */
json_t *dh_print_json(const struct dh_group *group);

#endif
