/*
 * reporter.h - the process that symbolises and prints, seen from the target: that of the `deadheat run` above
 * it, if there is one, else one of its own.
 */
#ifndef DH_RUNTIME_REPORT_REPORTER_H
#define DH_RUNTIME_REPORT_REPORTER_H

#include "base/base.h"

/* Start it if it is not running. False: it cannot be run. Under DH_RANK_REPORT, like everything here. */
bool dh_reporter_start(void);
/* Is there one that dh_reporter_send reaches? */
bool dh_reporter_is_running(void);
/* It serves other processes too, so it only knows what this one sends. */
bool dh_reporter_is_shared(void);
void dh_reporter_send(const char *line, size_t n);
/* Has it ended, though the stream has not? A shared one does when its command ends. Then *ret_verdict is what
 * dh_reporter_finish would return. */
bool dh_reporter_left(int64_t *ret_verdict);
/* Close the stream and wait for the verdict: the number of races not suppressed, or -1 if none came. */
int64_t dh_reporter_finish(void);
/* Forked child: the parent's reporter is not ours. */
void dh_reporter_forget(void);

#endif
