/*
 * trace_view.h - names of the views of a recording (event/dht_read.h).
 */
#ifndef DH_CLI_TRACE_VIEW_H
#define DH_CLI_TRACE_VIEW_H

#include "event/dht_read.h"

extern const char dh_trace_view_names[]; /* for messages */
/* 0, or -1: there is no such view. */
int dh_trace_view_parse(const char *name, struct dh_dht_view *ret_view);

#endif
