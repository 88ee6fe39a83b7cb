/*
 * deaths.h - what the program dies of after two threads have met, where its parent cannot tell: a fault in
 * whose handler it ends, or, with an agent, which is not the parent, any fault.
 */
#ifndef DH_FIELD_DEATHS_H
#define DH_FIELD_DEATHS_H

#include <signal.h>

#include "base/base.h"

/* From now on the control block says so. How the program dies does not change. */
void dh_field_deaths_note(void);

/* Calls a handler of the program. If the process ends before it is left, that is what it has died of. */
void dh_field_deaths_call(void (*handler)(int, siginfo_t *, void *), int number, siginfo_t *info,
                          void *context);

/* The process is about to die of this, with the default action. */
void dh_field_deaths_are_by(int number, const siginfo_t *info);

/* Around a change of what the program has set for a signal. */
struct dh_field_deaths_change {
    int number;
    bool locked;
    u64 mask;
    u64 handler; /* what the program had set, if ours was in its place */
};
struct dh_field_deaths_change dh_field_deaths_begin_change(int number);
void dh_field_deaths_end_change(const struct dh_field_deaths_change *change);
/* The old setting as the program has made it. */
void dh_field_deaths_hide(const struct dh_field_deaths_change *change, struct sigaction *old);
sighandler_t dh_field_deaths_hidden(const struct dh_field_deaths_change *change, sighandler_t old);

#endif
