/*
 * copies.h - calls of the C library's memcpy and similar functions, which access memory through their
 * arguments.
 *
 * The access itself is inside the library and belongs to no source line. So it is chased at the call, where
 * the registers say which bytes it will touch: the call is treated as an instruction with the function's
 * operands. Calls through the import table are recognised, directly or through a linker stub, and so are tail
 * calls. Statically linked programs have no such table.
 */
#ifndef DH_CHASE_COPIES_H
#define DH_CHASE_COPIES_H

#include <gelf.h>

#include "chase/code.h"
#include "util/arena.h"

struct dh_chase_file;

/* A word of memory in which the loader stores the address of such a function. */
struct dh_chase_copies_import {
    u64 address;
    u32 what;
};

struct dh_chase_copies {
    struct dh_chase_copies_import *at; /* sorted by address, in the arena */
    size_t n;
};

void dh_chase_copies_read(struct dh_arena *arena, Elf *elf, struct dh_chase_copies *ret);
/* If the instruction there is such a call, turns it into an access with the function's operands. */
void dh_chase_copies_tell(const struct dh_chase_copies *c, const struct dh_chase_file *file, u64 address,
                          struct dh_chase_code *code);

#endif
