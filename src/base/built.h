/*
 * built.h - what a field build says of its own machine code, in sections that the compiler's plugin has the
 * assembler fill (src/ir/built.c) and `deadheat chase` reads (src/chase/built.c).
 *
 * DH_BUILT_CODE has two 32-bit words for each function of which all atomic accesses are known: the distance
 * from the first word to the function, and the function's length. The others have one word for each
 * instruction that was made of an atomic access, the distance to it; what it is, DH_BUILT_READ and so on, is
 * said once, by two hexadecimal digits at the end of the section's name. An instruction may be there more
 * than once, and so may neighbours that only compute. Of fences, of calls and of inline assembly it is said
 * which functions have some, in the same two words as in DH_BUILT_CODE.
 *
 * DH_BUILT_OWN holds the machine code of deadheat's own archive (src/field/own.h), which orders no threads of
 * the program.
 */
#ifndef DH_BASE_BUILT_H
#define DH_BASE_BUILT_H

#include "base/base.h"

#define DH_BUILT_CODE ".deadheat.code"
#define DH_BUILT_ATOMICS ".deadheat.atomics." /* and the digits */
#define DH_BUILT_OWN ".deadheat.own"

enum {
    DH_BUILT_READ = 1,
    DH_BUILT_WRITE = 2,
    DH_BUILT_ACQUIRE = 4,
    DH_BUILT_RELEASE = 8,
    DH_BUILT_FENCE = 16,    /* fences for threads */
    DH_BUILT_LIBRARY = 32,  /* calls of libatomic, and what becomes one */
    DH_BUILT_ASSEMBLY = 64, /* inline assembly that may access memory */
};

#endif
