/*
 * filter.h - checks that are switched off when the program starts (base/filter.h).
 */
#ifndef DH_RUNTIME_FILTER_H
#define DH_RUNTIME_FILTER_H

#include "runtime/init.h"

/* text: from the environment; NULL: not set. Call it before any program code has run, while there is one
 * thread. */
void dh_filter_apply(const char *text);
/* A forked child does not count again what its parent counts. */
void dh_filter_fork_child(void);
/* One of the counters that this file keeps. */
bool dh_filter_counter(enum dh_counter c, u64 *ret);

#endif
