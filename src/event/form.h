/*
 * form.h - checks that a stream of events could come from a program. Shared by all readers of traces.
 *
 * What no execution can do is an error: releasing a lock that the thread does not hold, acquiring one that
 * another thread holds, forking or joining oneself, acting after being joined. What recorders are known to
 * omit or confuse is only counted: threads forked twice, threads that act but were never forked (the first
 * one apart), forked threads that never act, locks acquired again by their holder, locks held at the end.
 */
#ifndef DH_EVENT_FORM_H
#define DH_EVENT_FORM_H

#include "event/event.h"

enum dh_form_error {
    DH_FORM_OK,
    DH_FORM_NOT_HELD, /* `other` is the holder, or DH_FORM_NOBODY */
    DH_FORM_HELD,     /* `other` is the holder, or DH_FORM_NOBODY for readers */
    DH_FORM_SELF_FORK,
    DH_FORM_SELF_JOIN,
    DH_FORM_AFTER_JOIN,
    DH_FORM_NO_MEMORY,
};

#define DH_FORM_NOBODY UINT32_MAX

enum dh_form_warning {
    DH_FORM_FORKED_TWICE,
    DH_FORM_NEVER_FORKED,
    DH_FORM_NEVER_RAN,
    DH_FORM_REENTERED,
    DH_FORM_HELD_AT_END,
    DH_FORM_WARNINGS
};

struct dh_form_thread {
    u64 first; /* number of its first event, + 1; 0: none yet */
    u64 named; /* number of the first fork or join that names it, + 1; 0: none */
    bool forked;
    bool joined; /* and not forked again since */
};

struct dh_form_lock {
    u32 holder; /* exclusive: thread + 1; 0: nobody */
    u32 depth;
    u32 readers;
    u64 since; /* number of the event that acquired it */
};

/* All zero is a valid start. */
struct dh_form {
    struct dh_form_thread *threads;
    struct dh_form_lock *locks;
    u32 n_threads, cap_threads;
    u32 n_locks, cap_locks;
    /* After DH_FORM_NOT_HELD and DH_FORM_HELD. */
    u32 other;
    u64 since;
    u64 warnings[DH_FORM_WARNINGS]; /* how many; complete after dh_form_end */
    u64 first[DH_FORM_WARNINGS];    /* number of the first event concerned */
};

void dh_form_done(struct dh_form *f);
/* The next event, number `number` from 0. */
enum dh_form_error dh_form_next(struct dh_form *f, const struct dh_event *e, u64 number);
/* The end of the trace: completes the warnings. */
void dh_form_end(struct dh_form *f);
/* "threads forked twice" */
const char *dh_form_warning_text(enum dh_form_warning w);

#endif
