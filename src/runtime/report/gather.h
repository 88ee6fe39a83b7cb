/*
 * gather.h - the `deadheat run` that this process was started by, directly or not, seen from the target.
 *
 * It gathers the records of all processes that run below it (docs/design/report.md). Its address is passed in
 * the environment, so that it gets through programs that are not instrumented.
 */
#ifndef DH_RUNTIME_REPORT_GATHER_H
#define DH_RUNTIME_REPORT_GATHER_H

#include "base/base.h"

/* The process starts: takes the gatherer's address, from its environment. */
void dh_gather_init(const char *address);
/* Was one named? It may have ended since. */
bool dh_gather_is_named(void);
/* Send one line, without a reply. */
void dh_gather_announce(const char *line, size_t n);
/* A connected socket, owned by the caller, or -1: there is no gatherer, or not any more. Under
 * DH_RANK_REPORT. */
int dh_gather_connect(void);

#endif
