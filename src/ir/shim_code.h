/*
 * shim_code.h - between code.c and its C++ part, shim_code.cpp: what registers the pass, and what LLVM-C
 * lacks.
 */
#ifndef DH_IR_SHIM_CODE_H
#define DH_IR_SHIM_CODE_H

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#else
#include <stdbool.h>
#endif

/* Called once for each module, before it is optimised (code.c). */
void dh_ir_code_note(LLVMModuleRef m);

/* Strings of the module's debug information, which do not end with a zero. */
struct dh_shim_subprogram {
    const char *unit, *name; /* of the source file; the linkage name, if it differs from that in the source */
    size_t unit_len, name_len;
};

/* What debug information calls a function and its translation unit; false: nothing. */
bool dh_shim_subprogram(LLVMValueRef function, struct dh_shim_subprogram *ret);

#ifdef __cplusplus
}
#endif

#endif
