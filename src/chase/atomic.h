/*
 * atomic.h - what the source declares atomic: `_Atomic` of C and std::atomic of C++, in debug information.
 *
 * On x86-64 an atomic load, and all but the strongest atomic stores, are plain instructions. What is declared
 * tells those of such objects; atomic accesses to objects that are not declared so, by builtins of the
 * compiler, cannot be told from plain ones.
 */
#ifndef DH_CHASE_ATOMIC_H
#define DH_CHASE_ATOMIC_H

#include <elfutils/libdw.h>

#include "util/arena.h"

struct dh_chase_global {
    u64 address, size;
    Dwarf_Die type;
};

/* The global and static variables of one file; addresses are those of its debug information. */
struct dh_chase_globals {
    struct dh_chase_global *at; /* a heap array, sorted by address */
    size_t n, cap;
};

void dh_chase_atomic_read(struct dh_chase_globals *g, Dwarf *dwarf);
void dh_chase_atomic_done(struct dh_chase_globals *g);

/* Are these bytes of an object that is declared atomic? */
bool dh_chase_atomic_is_global(const struct dh_chase_globals *g, u64 address, u64 size);
/* Are these bytes, `offset` from where a variable that is in this register at pc points to? The register has
 * its number in machine code. */
bool dh_chase_atomic_is_pointee(Dwarf *dwarf, u64 pc, u8 reg, u64 offset, u64 size);

#endif
