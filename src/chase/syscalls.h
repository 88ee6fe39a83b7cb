/*
 * syscalls.h - code that sets the masks or actions of signals by system calls of its own, which the library
 * in the program does not see: a breakpoint would kill such a program.
 */
#ifndef DH_CHASE_SYSCALLS_H
#define DH_CHASE_SYSCALLS_H

#include <libelf.h>

#include "base/base.h"

/* A `syscall` instruction that may do that. */
struct dh_chase_syscall {
    u64 address;      /* as in the file's program headers */
    const char *name; /* of the call; NULL: it may be any, because its number is not known */
};

/* The first of this file, deadheat's own code in field builds excepted. False: it has none. */
bool dh_chase_syscalls_find(Elf *elf, struct dh_chase_syscall *ret);

#endif
