/*
 * whole.h - the static analysis of a whole program: from one merged LLVM module to pairs of sites that may
 * race.
 *
 * Functions are added to the module (stand_in.c), and addresses in it replaced. It should hold the whole
 * program with debug information, from just after clang's front end to -O2; functions that it only declares
 * and that src/ir/whole/library.def does not know are counted as assumptions. docs/design/static.md explains
 * the phases and what they assume.
 */
#ifndef DH_IR_WHOLE_H
#define DH_IR_WHOLE_H

#include <llvm-c/Core.h>

#include "base/base.h"

struct dh_pairs;

/* Lifts local variables out of memory (lift.c). True unless LLVM refuses. */
bool dh_whole_lift(LLVMModuleRef m);
/* Whether there are functions that were compiled without optimisation. */
bool dh_whole_needs_lift(LLVMModuleRef m);

/* Bodies for library functions that are called through pointers, and for indirect functions (stand_in.c). */
void dh_whole_stand_in(LLVMModuleRef m);

/* Who wants to know which accesses can race with nothing (safe.c). The module must then be all of the program
 * that has checks, with everything internal that nothing else names. */
struct dh_whole_safe {
    /* Called for each access that was read, after the pairs are known; for an instruction perhaps several
     * times, and all must agree. which: the sides of a copy, of other instructions both. */
    void (*access)(void *arg, LLVMValueRef inst, unsigned which, bool safe);
    void *arg;
    const char *refused; /* what makes it impossible, a sentence about "it", the program: set by the caller,
                            or in the analysis; then `access` is not called. NULL: nothing */
};
enum { DH_WHOLE_TO = 1, DH_WHOLE_FROM = 2 };

/* Who wants to know which instructions are the sites of the set `sound` (emit.c). */
struct dh_whole_sites {
    /* Called for each side of an access whose site is in a pair of that set, with the site's index in the
     * result and what it does (enum dh_pairs_access); for an instruction perhaps several times, with several
     * sites. */
    void (*site)(void *arg, LLVMValueRef inst, unsigned which, u8 access, u32 site);
    void *arg;
};

/* All zero is valid. What may be assumed beyond the papers is no option here: such pairs are marked
 * (DH_PAIRS_IF_...), and whoever reads them decides. */
struct dh_whole_options {
    const char *program;                            /* what is analysed, for the result; may be NULL */
    void (*progress)(void *arg, const char *phase); /* called when a phase begins; may be NULL */
    void *progress_arg;
    struct dh_whole_safe *safe;         /* or NULL */
    const struct dh_whole_sites *sites; /* or NULL */
    bool relaxed; /* atomic accesses that order nothing race with other atomic accesses too */
};

/* 0 and a result that dh_pairs_free() frees, or a negative code: -EINVAL if the module is no x86-64 program.
 * The result of the same module and options is always the same, in the same order. */
int dh_whole_analyse(LLVMModuleRef m, const struct dh_whole_options *o, struct dh_pairs **ret_pairs);

#endif
