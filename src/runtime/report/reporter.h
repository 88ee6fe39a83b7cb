/*
 * reporter.h - the process that symbolises and prints, seen from the target.
 */
#ifndef DH_RUNTIME_REPORT_REPORTER_H
#define DH_RUNTIME_REPORT_REPORTER_H

#include "base/base.h"

/* Start it if it is not running. False: it cannot be run. Under DH_RANK_REPORT, like all here. */
bool dh_reporter_start(void);
void dh_reporter_send(const char *line, size_t n);
/* Close the stream and wait for the verdict: the number of races not suppressed, or -1 if none came. */
int64_t dh_reporter_finish(void);
/* Forked child: the parent's reporter is not ours. */
void dh_reporter_forget(void);

#endif
