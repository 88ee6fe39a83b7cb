/*
 * field.h - the library that is preloaded into a chased program: what its files share.
 *
 * No memory is allocated, no lock of libc is taken, errno is kept. Nothing here writes code: the command does
 * (docs/design/field.md).
 */
#ifndef DH_FIELD_FIELD_H
#define DH_FIELD_FIELD_H

#include <pthread.h>
#include <signal.h>

#include "base/control.h"

/* library.c: NULL while the library sleeps. Written once. */
extern struct dh_control *dh_field_control;
/* The value, if a setting of the environment is of this name; or NULL. */
const char *dh_field_value_in(const char *setting, const char *name);
/* Is this the process that was started, and not a forked copy of it? */
bool dh_field_is_original(void);

/* trap.c: false if the signal does not come from a breakpoint or watchpoint of ours. */
bool dh_field_trap(int number, const siginfo_t *info, void *context);

/* signals.c: take SIGILL and SIGTRAP over from the program; what it has set stays in force for its own. */
void dh_field_signals_take(void);
/* In a forked child. */
void dh_field_signals_forked(void);
/* If the program dies of a fault or an abort that it does not handle, the control block says so. How it dies
 * does not change. */
void dh_field_signals_note_death(void);
/* A lock that is held with all signals blocked; the mask of before goes from the one to the other. */
u64 dh_field_signals_lock(u32 *word);
void dh_field_signals_unlock(u32 *word, u64 mask);

#endif
