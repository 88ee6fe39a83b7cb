/*
 * std.h - reads and writes the STD text format of traces: one event a line, `thread|op(operand)|location`.
 *
 *   line     = thread "|" op "|" location
 *   thread   = text without "|"
 *   op       = ("r" | "w" | "acq" | "rel" | "fork" | "join") "(" operand ")"
 *              | "begin"... | "end"... | "branch"...
 *   operand  = characters that are not blank; the last ")" of the field closes it
 *   location = decimal integer, optional sign, 32 bits signed
 *
 * Lines end in LF or CR LF; the last may lack it. Anything else is an error that names its line: no line is
 * skipped, none guessed. begin and end delimit atomic blocks; they and branch carry no order. Threads, locks
 * and variables are three name spaces.
 */
#ifndef DH_EVENT_STD_H
#define DH_EVENT_STD_H

#include "event/form.h"
#include "event/names.h"

enum { DH_STD_ERROR = 256, DH_STD_PENDING = 16 };

struct dh_std {
    int fd; /* not ours to close */
    struct dh_names threads;
    struct dh_names locks;
    struct dh_names variables;
    struct dh_form form;
    u64 line;  /* lines read so far; after an error: the line it is about */
    u64 bytes; /* read from fd so far */
    char error[DH_STD_ERROR];

    /* private */
    struct { /* variables of events that were read, still to be numbered */
        struct dh_event *e;
        const char *name;
        size_t len;
        u64 key;
    } pending[DH_STD_PENDING];
    u32 n_pending;
    char *buf;
    size_t at, len;    /* unread part of buf */
    bool at_end;       /* fd has no more */
    char last_name[8]; /* the thread of the last line, if it is short */
    u32 last_len;      /* 0: none */
    u32 last_thread;
};

/* 0 or -ENOMEM. */
int dh_std_init(struct dh_std *s, int fd);
void dh_std_done(struct dh_std *s);
/* Up to cap events. How many; 0: the end, and s->form is complete. Negative: -EBADMSG for a bad line
 * (s->line, s->error), -ENOMEM, or what read(2) said. Events before the bad line have been returned by
 * earlier calls or are lost with it. */
long dh_std_read(struct dh_std *s, struct dh_event *events, size_t cap);

/* Writes one event as a line with its LF to buf. Returns its length; 0: STD cannot express it; negative: it
 * does not fit. Names are those of the three tables. */
long dh_std_format(const struct dh_event *e, const char *thread, const char *target, char *buf, size_t cap);

#endif
