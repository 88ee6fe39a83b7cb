/*
 * code.h - hashes of what the functions of a program say, from where they are computed, when each file is
 * compiled (ir/code.c), to the analysis of the program.
 */
#ifndef DH_IR_WHOLE_CODE_H
#define DH_IR_WHOLE_CODE_H

#include <llvm-c/Core.h>

#include "util/map.h"

/* Its operands: the translation unit, the function's linkage name, and 64 bits in hexadecimal, as strings. */
#define DH_CODE_METADATA "deadheat.code"

/* Part of every hash: to be increased whenever equal source would get another hash, or an edit the same. */
#define DH_CODE_VERSION 2

struct dh_w_codes {
    struct dh_arena arena;
    struct dh_map of; /* by unit and function, and by function alone -> u64 */
};

void dh_w_codes_init(struct dh_w_codes *c, LLVMModuleRef m);
void dh_w_codes_done(struct dh_w_codes *c);
/* 0: unknown. Code that was inlined from another unit is found by the function's name, if all units agree. */
u64 dh_w_codes_of(const struct dh_w_codes *c, const char *unit, const char *function);

#endif
