/*
 * programs.h - the distinct programs in a stream of records.
 */
#ifndef DH_REPORT_PROGRAMS_H
#define DH_REPORT_PROGRAMS_H

#include <stdio.h>

#include "report/model.h"

struct dh_program {
    const char *exe; /* "" if it is not known */
    u64 processes;
    u64 raced; /* of them: those with a race that was not suppressed */
    struct dh_program *next;
};

/* In the order in which they were first started. NULL: no process was announced. */
struct dh_program *dh_programs_list(struct dh_arena *arena, const struct dh_model *m);
/* A line for each that raced, with paths relative to a directory. */
void dh_programs_print(FILE *out, const char *cwd, const struct dh_program *first);

#endif
