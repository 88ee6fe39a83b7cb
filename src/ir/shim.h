/*
 * shim.h - the C face of the few LLVM facilities that the LLVM-C interface lacks.
 *
 * Everything here is implemented in shim.cpp, the only C++ file of the project. Nothing decides
 * anything: rules about what to instrument belong to the C files.
 */
#ifndef DH_IR_SHIM_H
#define DH_IR_SHIM_H

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#else
#include <stdbool.h>
#endif

/* Called by the shim once for each module, at the end of the optimisation pipeline (C side: pass.c).
 * Returns whether the module changed.
 * Without inlining, what was inserted can be read: for tests, and for people. */
bool dh_ir_instrument_module(LLVMModuleRef m, bool inlining);

/* Calls accept on every object that ptr may point into; true if accept took them all. */
bool dh_shim_each_object(LLVMValueRef ptr, bool (*accept)(void *arg, LLVMValueRef object), void *arg);
/* Whether anything but the current invocation of the function may come to know this pointer. */
bool dh_shim_may_be_captured(LLVMValueRef ptr);
/* ptr as another pointer plus a constant number of bytes. */
LLVMValueRef dh_shim_base(LLVMValueRef ptr, long long *ret_offset);
/* A load or store of an object's pointer to its vtable, as type-based alias metadata tells. */
bool dh_shim_is_vtable_access(LLVMValueRef inst);
bool dh_shim_is_invariant_load(LLVMValueRef load);
bool dh_shim_is_swifterror(LLVMValueRef ptr);
bool dh_shim_is_byval_argument(LLVMValueRef value);

/* Alignment that a memcpy-like intrinsic promises for its argument (0: destination, 1: source). */
unsigned dh_shim_argument_align(LLVMValueRef call, unsigned arg);

enum {
    DH_CALL_ASM = 1,
    DH_CALL_READNONE = 2, /* touches no memory */
    DH_CALL_NOSYNC = 4,
    DH_CALL_COMES_BACK = 8, /* never unwinds, always returns */
    DH_CALL_RETURNS_TWICE = 16,
};
unsigned dh_shim_call_traits(LLVMValueRef call);

/* The module's code goes into a shared object (as opposed to an executable of any kind). */
bool dh_shim_is_shared_code(LLVMModuleRef m);
void dh_shim_set_dso_local(LLVMValueRef global, bool local);
/* Drops module flags, identification and the like: linking would merge or compare them. */
void dh_shim_drop_named_metadata(LLVMModuleRef m);
void dh_shim_add_constructor(LLVMModuleRef m, LLVMValueRef function, int priority);
/* A compilation error, in the compiler's own style. */
void dh_shim_error(LLVMModuleRef m, const char *sentence);

#ifdef __cplusplus
}
#endif

#endif
