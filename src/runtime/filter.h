/*
 * filter.h - checks that are switched off when the program starts (base/filter.h).
 */
#ifndef DH_RUNTIME_FILTER_H
#define DH_RUNTIME_FILTER_H

#include "runtime/init.h"

/* What the environment says; NULL: nothing. Before the program's own code has run, while there is one thread.
 */
void dh_filter_apply(const char *text);
/* What the parent counts, a child that it forked does not count again. */
void dh_filter_fork_child(void);
/* One of the counters that this file keeps. */
bool dh_filter_counter(enum dh_counter c, u64 *ret);

#endif
