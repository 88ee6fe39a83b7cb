/*
 * atomic.h - objects that the source declares atomic (_Atomic, std::atomic), from debug information.
 *
 * On x86-64 an atomic load, and every atomic store but a sequentially consistent one, is a plain instruction.
 * The declarations identify accesses to such objects; atomic accesses to other objects, through compiler
 * builtins, cannot be distinguished from plain ones.
 */
#ifndef DH_CHASE_ATOMIC_H
#define DH_CHASE_ATOMIC_H

#include <elfutils/libdw.h>

#include "util/arena.h"

struct dh_chase_global {
    u64 address, size;
    Dwarf_Die type;
};

/* A function, or a part of one. */
struct dh_chase_function {
    u64 lo, hi;
    Dwarf_Die die;
};

/* The global and static variables of one file, at the addresses its debug information gives; and its
 * functions: libdw searches all of a compilation unit for the variables at an address, which can be a whole
 * program. */
struct dh_chase_globals {
    struct dh_chase_global *at; /* a heap array, sorted by address */
    size_t n, cap;
    struct dh_chase_function *functions; /* the same */
    size_t n_functions, cap_functions;
};

void dh_chase_atomic_read(struct dh_chase_globals *g, Dwarf *dwarf);
void dh_chase_atomic_done(struct dh_chase_globals *g);

/* Do these bytes belong to an object that is declared atomic? */
bool dh_chase_atomic_is_global(const struct dh_chase_globals *g, u64 address, u64 size);
/* The same for the bytes at `offset` from the address that a variable held in this register at pc points to.
 * The register is given by its machine-code number. */
bool dh_chase_atomic_is_pointee(const struct dh_chase_globals *g, u64 pc, u8 reg, u64 offset, u64 size);

#endif
