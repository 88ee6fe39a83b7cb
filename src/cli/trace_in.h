/*
 * trace_in.h - a trace as the commands see it: events and names, whatever the format of the file.
 */
#ifndef DH_CLI_TRACE_IN_H
#define DH_CLI_TRACE_IN_H

#include "cli/trace_symbols.h"
#include "event/std.h"

struct dh_trace_in {
    const char *command; /* for messages */
    const char *file;
    const char *shown; /* the file's name in messages */
    int fd;
    u64 size; /* of the file; 0: unknown */
    u64 events;
    struct dh_std std;
    struct dh_dht *dht;              /* NULL: it is text */
    struct dh_trace_symbols symbols; /* of a recording */
    char texts[8][512];              /* names generated on the fly, used in turn */
    u32 next_text;
    bool progress; /* standard error is a terminal */
    double started, shown_at;
};

/* Opens a file, or standard input for "-". 0, or DH_EXIT_TROUBLE after a message. */
int dh_trace_in_open(struct dh_trace_in *t, const char *command, const char *file);
void dh_trace_in_close(struct dh_trace_in *t);
/* Reads the next events: how many, 0 at the end, -1 after a message. Shows progress on a terminal. */
long dh_trace_in_read(struct dh_trace_in *t, struct dh_event *events, size_t cap);
/* Clears the progress line, before something else is printed. */
void dh_trace_in_quiet(struct dh_trace_in *t);
/* Oddities of the trace, one sentence each, to standard error. */
void dh_trace_in_warn(const struct dh_trace_in *t);
/* Is it a complete execution, so that no race in it means that there was none? Valid when all was read. */
bool dh_trace_in_whole(const struct dh_trace_in *t);
/* Was it recorded from a program, so that its places are code? Otherwise it is text, or was converted from
 * text. */
bool dh_trace_in_has_code(const struct dh_trace_in *t);
double dh_trace_in_seconds(const struct dh_trace_in *t); /* since it was opened */

/* How many of each there are, among those read so far. */
struct dh_trace_in_counts {
    u32 threads, locks, variables;
};
struct dh_trace_in_counts dh_trace_in_counts(const struct dh_trace_in *t);
/* The number of events as in the file, as counted by `record`: an access of several variables is one, and so
 * is a range. */
u64 dh_trace_in_recorded(const struct dh_trace_in *t);
const struct dh_form *dh_trace_in_form(const struct dh_trace_in *t);

/* Names. Those of a recording are valid until several more have been requested. */
const char *dh_trace_in_thread(struct dh_trace_in *t, u32 thread);
const char *dh_trace_in_lock(struct dh_trace_in *t, u32 lock);
const char *dh_trace_in_variable(struct dh_trace_in *t, u32 variable);
/* The global variable that it is or is part of, as a C expression; NULL: unknown, or a text trace. */
const char *dh_trace_in_global(struct dh_trace_in *t, u32 variable);
/* Where: a number in a text, a place in the program in a recording. */
const char *dh_trace_in_site(struct dh_trace_in *t, u32 site);
/* The name of an event's object; "" if it has none. */
const char *dh_trace_in_target(struct dh_trace_in *t, const struct dh_event *e);

#endif
