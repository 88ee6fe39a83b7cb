/*
 * trace_out.h - writes events and names to a .dht file, for `deadheat trace convert`.
 *
 * The order of all events is preserved, even of those that race (event/dht_columns.h).
 */
#ifndef DH_CLI_TRACE_OUT_H
#define DH_CLI_TRACE_OUT_H

#include "event/dht_write.h"

struct dh_trace_out;

/* 0, or a negative errno, with *ret NULL. fd remains the caller's. */
int dh_trace_out_new(struct dh_trace_out **ret, int fd);
void dh_trace_out_free(struct dh_trace_out *o);
/* 0; 1: the format cannot express it; or a negative errno. */
int dh_trace_out_event(struct dh_trace_out *o, const struct dh_event *e);
/* The names of things: kind 't', 'l' or 'v'; numbers of each kind are consecutive. Called after all
 * events. */
int dh_trace_out_name(struct dh_trace_out *o, char kind, u32 number, const char *name);
int dh_trace_out_end(struct dh_trace_out *o);

#endif
