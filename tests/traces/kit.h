/*
 * kit.h - what the tests of detectors share: a trace in memory, a run of one detector over it, sets of events.
 */
#ifndef DH_TESTS_TRACES_KIT_H
#define DH_TESTS_TRACES_KIT_H

#include "detect/host.h"
#include "event/std.h"

struct kit_trace {
    struct dh_event *events;
    u32 n, cap;
    u32 threads, locks, cells; /* upper ends of the ids */
    struct dh_names names[3];  /* of threads, locks, variables, if it was read from a file */
};

/* Appends; keeps the upper ends up to date. */
void kit_add(struct kit_trace *t, struct dh_event e);
void kit_copy(struct kit_trace *to, const struct kit_trace *from);
void kit_done(struct kit_trace *t);
/* From an STD file. False: it cannot be read; says why on standard error. */
bool kit_load(struct kit_trace *t, const char *path);
/* As text that is enough to type it in again. */
void kit_print(const struct kit_trace *t);

/* What a detector said: one byte per event (it is the later access of a reported race) and per variable, and the first racy
 * event of each variable (UINT32_MAX: none). */
struct kit_said {
    u8 *events;
    u8 *cells;
    u32 *first;
    u32 n_events; /* racy ones */
    int error;
};

struct kit_said kit_run(const struct kit_trace *t, const struct dh_detector_ops *ops);
struct kit_said kit_said_new(const struct kit_trace *t); /* nothing said */
void kit_said_add(struct kit_said *s, const struct kit_trace *t, u32 event);
void kit_said_done(struct kit_said *s);

void *kit_alloc(size_t n); /* zeroed, or the test ends */

#endif
