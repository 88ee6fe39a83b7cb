/*
 * signals.h - what the program has set for the signals that the library takes.
 */
#ifndef DH_FIELD_SIGNALS_H
#define DH_FIELD_SIGNALS_H

#include <signal.h>

#include "base/base.h"

/* Those that the library has taken, as a mask: SIGILL, and SIGTRAP if watchpoints may be set. 0 until then.
 */
extern u64 dh_field_signals_ours;

DH_INLINE u64 dh_field_signals_bit(int number)
{
    return 1ull << (number - 1);
}

/* Those of them that this thread believes it has blocked. */
extern __thread u64 dh_field_signals_blocked;

/* To be called before the two are used or changed. A child of vfork runs in the memory of its parent, on a
 * thread's own variables, but its settings are its own. Returns whether this is one. */
bool dh_field_signals_settle(void);

/* Unblocks them for the calling thread, which believes what it had before. */
void dh_field_signals_unblock(void);

/* What the program has set for one of them; act and ret_old may be NULL. */
void dh_field_signals_exchange(int number, const struct sigaction *act, struct sigaction *ret_old);

/* The kernel's layout. */
struct dh_field_signals_action {
    void *handler;
    unsigned long flags;
    void (*restorer)(void);
    u64 mask;
};

enum { DH_FIELD_SIGNALS_RESTORER = 0x04000000 }; /* of `flags` */
void dh_field_signals_return(void);              /* what goes there */
void dh_field_signals_set_action(int number, const struct dh_field_signals_action *act,
                                 struct dh_field_signals_action *ret_old);

/* Raises the signal again, to end the process where it is: it is delivered when the handler returns. */
void dh_field_signals_die_by(int number, siginfo_t *info);

#endif
