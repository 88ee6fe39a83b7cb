/*
 * built.h - describes the machine code of a field build, in sections that the compiler plugin lets the
 * assembler fill (src/ir/built.c) and that `deadheat chase` reads (src/chase/built.c).
 *
 * DH_BUILT_CODE has two 32-bit words for each function whose atomic accesses are all known: the distance from
 * the first word to the function, and the function's length. The others have one word for each instruction
 * generated from an atomic access, the distance to it; its kind, DH_BUILT_READ and so on, is given once, by
 * two hexadecimal digits at the end of the section's name. An instruction may be listed more than once, and
 * neighbouring instructions that only compute may be listed too. For fences, calls and inline assembly, the
 * sections list the functions that contain some, in the same two words as in DH_BUILT_CODE.
 *
 * DH_BUILT_OWN holds the machine code of deadheat's own archive (src/field/own.h), which does not synchronise
 * threads of the program.
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
