/*
 * built.h - what a field build records about its own code (base/built.h): which instructions are atomic
 * accesses. The tables come from a file, so nothing in them is trusted.
 */
#ifndef DH_CHASE_BUILT_H
#define DH_CHASE_BUILT_H

#include <gelf.h>

#include "base/built.h"
#include "util/arena.h"

/* Virtual addresses, as in the file's own program headers. */
struct dh_chase_built_item {
    u64 address;
    u32 word; /* the length of a function, or DH_BUILT_READ to _RELEASE */
};

struct dh_chase_built {
    struct dh_chase_built_item *functions, *atomics,
        *assembly; /* sorted by address; functions containing assembly */
    size_t n_functions, n_atomics, n_assembly;
    u32 flags; /* whether there are any: DH_BUILT_FENCE, DH_BUILT_LIBRARY */
    const char
        *unseen; /* what orders its threads and cannot be tracked, as a sentence; NULL: nothing is known */
};

/* All zero if the file is not a field build. */
void dh_chase_built_read(struct dh_arena *arena, Elf *elf, struct dh_chase_built *ret);
/* Is this the code of a function whose atomic accesses are known? */
bool dh_chase_built_covers(const struct dh_chase_built *b, u64 address);
/* ... and that has inline assembly which may access memory? */
bool dh_chase_built_has_assembly(const struct dh_chase_built *b, u64 address);
/* Everything the marks say about the instruction there, combined; 0: it is not an atomic access. */
u32 dh_chase_built_atomic(const struct dh_chase_built *b, u64 address);

#endif
