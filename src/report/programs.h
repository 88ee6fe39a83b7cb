/*
 * programs.h - which programs a stream of records tells of, each of them once.
 */
#ifndef DH_REPORT_PROGRAMS_H
#define DH_REPORT_PROGRAMS_H

#include <jansson.h>

#include "report/print.h"

struct dh_program {
    const char *exe; /* "" if it is not known */
    u64 processes;
    u64 raced; /* of them: those with a race that was not suppressed */
    struct dh_program *next;
};

/* In the order in which they were first started. NULL: no process was announced. */
struct dh_program *dh_programs_list(struct dh_arena *arena, const struct dh_model *m);
/* A line for each that raced. */
void dh_programs_print(const struct dh_print *p, FILE *out, const struct dh_program *first);
/* An object for each. A new reference. */
json_t *dh_programs_json(const struct dh_program *first);

#endif
