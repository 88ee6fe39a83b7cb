/*
 * field.h - the library that is preloaded into a chased program: what its files share.
 *
 * It allocates no memory, takes no lock of libc, and preserves errno. Nothing here writes code: the command
 * does (docs/design/field.md).
 */
#ifndef DH_FIELD_FIELD_H
#define DH_FIELD_FIELD_H

#include <pthread.h>
#include <signal.h>

#include "base/control.h"

/* library.c: NULL while the library is dormant. Written once. */
extern struct dh_control *dh_field_control;
/* The value if this environment entry has that name, or NULL. */
const char *dh_field_value_in(const char *setting, const char *name);
/* Is this the process that was started, and not a forked copy of it? */
bool dh_field_is_original(void);

/* trap.c: false if the signal was not caused by one of our breakpoints or watchpoints. */
bool dh_field_trap(int number, const siginfo_t *info, void *context);

/* signals.c: takes SIGILL over from the program, and SIGTRAP if there may be watchpoints; its own settings
 * still apply to its own signals. */
void dh_field_signals_take(bool watches);
/* In a forked child. */
void dh_field_signals_forked(void);
/* A lock that is held with all signals blocked; the first returns the previous mask, the second restores
 * it. */
u64 dh_field_signals_lock(u32 *word);
void dh_field_signals_unlock(u32 *word, u64 mask);

#endif
