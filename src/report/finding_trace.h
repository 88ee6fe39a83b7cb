/*
 * finding_trace.h - findings in traces without code, which have only names of threads and variables, and
 * locations.
 */
#ifndef DH_REPORT_FINDING_TRACE_H
#define DH_REPORT_FINDING_TRACE_H

#include "report/finding.h"

struct dh_finding_trace_access {
    bool known; /* false: nothing else is set */
    bool write;
    const char *thread;
    const char *place;
    u64 event;           /* number, from 1; 0: not known */
    u64 language_access; /* plus 1; 0: none */
};

struct dh_finding_trace {
    const char *variable;
    const char *expression;                     /* for the variable in the source; NULL: not known */
    struct dh_finding_trace_access accesses[2]; /* the one at which the race was found; the earlier one */
};

/* Names are copied. The caller adds the provenance and the detector. */
struct dh_finding *dh_finding_of_trace(struct dh_arena *arena, const struct dh_finding_trace *race);

#endif
