/*
 * analyze.h - between the two halves of `deadheat analyze`: running the detectors, and saying what they
 * found.
 */
#ifndef DH_CLI_ANALYZE_H
#define DH_CLI_ANALYZE_H

#include "cli/trace_in.h"
#include "detect/host.h"

enum { DH_ANALYZE_MAX = 32 };

enum dh_analyze_list {
    DH_LIST_VARIABLES, /* the first race of each variable */
    DH_LIST_EVENTS,    /* one race of each racy event */
    DH_LIST_NONE,
};

/* The races to be listed of one detector. */
struct dh_analyze_found {
    struct dh_race *races;
    size_t n, cap;
    struct dh_table seen; /* one byte per variable */
};

struct dh_analyze {
    const char *format;
    enum dh_analyze_list list;
    u64 limit; /* races listed a detector, in text; 0: all */
    u64 window;
    bool witness; /* show the events of witnesses, not only how many there are */
    const struct dh_detector_ops *ops[DH_ANALYZE_MAX];
    u32 n;
    struct dh_trace_in in;
    struct dh_host *host;
    struct dh_analyze_found found[DH_ANALYZE_MAX];
};

void dh_analyze_text(struct dh_analyze *a);
void dh_analyze_json(struct dh_analyze *a);

#endif
