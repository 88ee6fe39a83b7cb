/*
 * trace_out.h - events and names into a .dht file: what `deadheat trace convert` writes.
 *
 * The order of all events is kept, also of those that race (event/dht_columns.h).
 */
#ifndef DH_CLI_TRACE_OUT_H
#define DH_CLI_TRACE_OUT_H

#include "event/dht_write.h"

struct dh_trace_out;

/* 0 or a negative errno; *ret is NULL then. fd stays the caller's. */
int dh_trace_out_new(struct dh_trace_out **ret, int fd);
void dh_trace_out_free(struct dh_trace_out *o);
/* 0; 1: the format has no words for it; or a negative errno. */
int dh_trace_out_event(struct dh_trace_out *o, const struct dh_event *e);
/* The names of things: kind 't', 'l' or 'v'; numbers of each kind rise by one. After all events. */
int dh_trace_out_name(struct dh_trace_out *o, char kind, u32 number, const char *name);
int dh_trace_out_end(struct dh_trace_out *o);

#endif
