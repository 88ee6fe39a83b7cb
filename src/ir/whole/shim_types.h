/*
 * shim_types.h - the source's types of variables and accesses, which LLVM-C cannot tell.
 *
 * LLVM's own types have no names for fields, and pointers no types at all. What there is: debug information
 * for globals and locals, and for accesses the metadata for type-based alias analysis, which names the struct
 * that is accessed and the offset in it.
 */
#ifndef DH_IR_WHOLE_SHIM_TYPES_H
#define DH_IR_WHOLE_SHIM_TYPES_H

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Structs by name. */
struct dh_shim_types;
struct dh_shim_types *dh_shim_types_new(LLVMModuleRef m);
void dh_shim_types_free(struct dh_shim_types *types);

/* A type, or NULL if it is not known. Lives as long as the module. */
const void *dh_shim_types_access(const struct dh_shim_types *types, LLVMValueRef inst,
                                 unsigned long long *ret_offset);
/* Of a variable; also its name, and where it is declared. Optimisation may have cut a variable into several:
 * then offset is that of this part in the whole. */
struct dh_shim_variable {
    const void *type;
    const char *name, *file, *dir; /* linkage name */
    size_t name_len, file_len, dir_len;
    unsigned line;
    unsigned long long offset;
};
int dh_shim_types_global(LLVMValueRef global, struct dh_shim_variable *ret); /* 0: nothing is known */
int dh_shim_types_local(LLVMValueRef alloca_inst, struct dh_shim_variable *ret);
/*
 * What the result of an instruction points to, if that is a type of `size` bytes: what a variable that holds
 * the pointer is declared to point to, or what is accessed through it. NULL: no such type is known.
 */
const void *dh_shim_types_held(const struct dh_shim_types *types, LLVMValueRef inst, unsigned long long size);

unsigned long long dh_shim_type_size(const struct dh_shim_types *types, const void *type); /* bytes */
/* An array in a type. */
struct dh_shim_array {
    unsigned long long start, end; /* bytes */
    unsigned long long stride;     /* of its elements */
};
/* The innermost array around an offset whose elements steps of `stride` bytes do not leave. 0: there is none.
 */
int dh_shim_type_array(const struct dh_shim_types *types, const void *type, unsigned long long offset,
                       unsigned long long stride, struct dh_shim_array *ret);
/* "struct queue", into buf, cut if it does not fit. */
void dh_shim_type_name(const void *type, char *buf, size_t cap);
/* The innermost part at an offset, ".stats[].hits", but no parts of the C library's locks and the like. */
void dh_shim_type_path(const struct dh_shim_types *types, const void *type, unsigned long long offset,
                       char *buf, size_t cap);

#ifdef __cplusplus
}
#endif

#endif
