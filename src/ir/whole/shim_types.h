/*
 * shim_types.h - the source types of variables and accesses, which LLVM-C does not provide.
 *
 * LLVM's own types have no names for fields, and pointers no types at all. Available are debug
 * information for globals and locals, and for accesses the metadata for type-based alias analysis, which
 * names the struct that is accessed and the offset in it.
 */
#ifndef DH_IR_WHOLE_SHIM_TYPES_H
#define DH_IR_WHOLE_SHIM_TYPES_H

#include <llvm-c/Core.h>
#include <stdbool.h>

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
    bool internal; /* it has no meaning in other files */
    unsigned long long offset;
};
int dh_shim_types_global(LLVMValueRef global, struct dh_shim_variable *ret); /* 0: nothing is known */
int dh_shim_types_local(LLVMValueRef alloca_inst, struct dh_shim_variable *ret);
/*
 * What the result of an instruction points to, if that is a type of `size` bytes: what a variable that holds
 * the pointer is declared to point to, or what is accessed through it. NULL: no such type is known.
 */
const void *dh_shim_types_held(const struct dh_shim_types *types, LLVMValueRef inst, unsigned long long size);

/*
 * The structure of that size, if the program has one only, and the size is not one that buffers have: a power
 * of two, or less than four words.
 */
const void *dh_shim_types_only(const struct dh_shim_types *types, unsigned long long size);
/* The structures that variables are declared to point to which hold a value where it is defined; at most
 * `cap`. */
size_t dh_shim_types_declared(const struct dh_shim_types *types, LLVMValueRef value, const void **ret,
                              size_t cap);
/*
 * The structure that a load's result is declared to point to by what is loaded: a member at an offset in
 * `type`, or, if that is NULL, what the compiler says of the access, or a global variable. NULL: not known.
 */
const void *dh_shim_types_loaded(const struct dh_shim_types *types, LLVMValueRef load, const void *type,
                                 unsigned long long offset);
/* Whether the two are one in the source, in whatever file they are seen. */
int dh_shim_type_same(const void *a, const void *b);
/*
 * Where in an object of type `type` a structure `part` can begin, other than in a union or in an array of
 * scalars, which may be used as anything (`open`: more than one of the type, but not another one, may
 * follow): 0 to `cap` offsets, or DH_SHIM_ANYWHERE, also if there are more.
 */
#define DH_SHIM_ANYWHERE ((size_t)-1)
size_t dh_shim_type_places(const struct dh_shim_types *types, const void *type, int open, const void *part,
                           unsigned long long *ret, size_t cap);
/* The bytes that a pointer to one has at least behind it, even if its last member is left out. */
unsigned long long dh_shim_type_least(const struct dh_shim_types *types, const void *type);
/* Whether one can begin at that offset. */
int dh_shim_type_fits(const struct dh_shim_types *types, const void *type, int open,
                      unsigned long long offset, const void *part);

/* Whether the bytes are in one member of a structure of C that is no array, and neither in a union nor in an
 * array of scalars. */
int dh_shim_type_plain(const struct dh_shim_types *types, const void *type, unsigned long long offset,
                       unsigned long long length);
/* Whether one of two structures may be a part of the other, or may be used as the other. */
int dh_shim_type_related(const struct dh_shim_types *types, const void *a, const void *b);

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
/*
 * The members around an offset that are of one type, no array, structure or union, and lie side by side, as
 * in `double x, y, z;`: what may be used as an array where there is none. 0: the offset is in no such member,
 * or where a structure begins, or in an array.
 */
int dh_shim_type_run(const struct dh_shim_types *types, const void *type, unsigned long long offset,
                     struct dh_shim_array *ret);
/* "struct queue", into buf, cut if it does not fit. */
void dh_shim_type_name(const void *type, char *buf, size_t cap);
/* The innermost part at an offset, ".stats[].hits", but no parts of the C library's locks and the like. */
void dh_shim_type_path(const struct dh_shim_types *types, const void *type, unsigned long long offset,
                       char *buf, size_t cap);

#ifdef __cplusplus
}
#endif

#endif
