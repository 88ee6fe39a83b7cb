/*
 * copies.h - calls of the C library's memcpy and its kin, which access what their arguments name.
 *
 * The access is made within the library, where it is of no source line. So it is chased at the call, where
 * the registers say which bytes it will be: the call is an instruction with the operands of the function.
 * Known are calls through the table of imports, directly or by a stub of the linker, and jumps in the place
 * of a call at the end of a function. Programs that contain the C library have no such table.
 */
#ifndef DH_CHASE_COPIES_H
#define DH_CHASE_COPIES_H

#include <gelf.h>

#include "chase/code.h"
#include "util/arena.h"

struct dh_chase_file;

/* A word of memory in which the loader puts the address of such a function. */
struct dh_chase_copies_import {
    u64 address;
    u32 what;
};

struct dh_chase_copies {
    struct dh_chase_copies_import *at; /* sorted by address, in the arena */
    size_t n;
};

void dh_chase_copies_read(struct dh_arena *arena, Elf *elf, struct dh_chase_copies *ret);
/* If the instruction there is such a call, it becomes an access with the operands of the function. */
void dh_chase_copies_tell(const struct dh_chase_copies *c, const struct dh_chase_file *file, u64 address,
                          struct dh_chase_code *code);

#endif
