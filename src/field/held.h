/*
 * held.h - the program's own SIGILL and SIGTRAP, where the library has taken these and the program has them
 * blocked: they are kept until it unblocks them, or waits for them.
 */
#ifndef DH_FIELD_HELD_H
#define DH_FIELD_HELD_H

#include <signal.h>

#include "base/base.h"

/* A signal that was sent. False: it is not blocked. */
bool dh_field_held_keep(int number, siginfo_t *info, void *context);

/* After the program has unblocked some: those that were kept come now. False: none was. */
bool dh_field_held_release(void);

/* In a forked child, which inherits none. */
void dh_field_held_forked(void);

#endif
