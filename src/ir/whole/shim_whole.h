/*
 * shim_whole.h - what the whole-program analysis needs and LLVM-C lacks.
 */
#ifndef DH_IR_WHOLE_SHIM_H
#define DH_IR_WHOLE_SHIM_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The loops of a function: on_loop in an order that has parents (UINT_MAX: none) first, numbered from 0; then
 * on_block for each block that lies in a loop, with the innermost; blocks are numbered in the function's
 * order. */
void dh_shim_each_loop(LLVMValueRef fn, void (*on_loop)(void *, unsigned parent),
                       void (*on_block)(void *, unsigned block, unsigned loop), void *arg);
/* Makes functions that create or join threads part of their callers (shim_inline.cpp); whether there was one.
 */
bool dh_shim_inline_threads(LLVMModuleRef m);
/* Gives loops in which a pointer walks over an array an index (shim_walk.cpp). */
void dh_shim_index_walks(LLVMModuleRef m);
/* Makes each instruction that uses a thread-local variable take its address from the intrinsic for that, as
 * most do anyway. */
void dh_shim_name_thread_locals(LLVMModuleRef m);
/* Bitcode says which LLVM wrote it. A later one than this is not read: it may mean something else. */
bool dh_shim_is_newer(LLVMMemoryBufferRef bitcode, char *ret_producer, size_t size);
/*
 * Where an instruction comes from in the source. Code that was inlined comes from several functions: the
 * innermost, 0, the one it was inlined into, and so on. 0: there is no such function, or no debug
 * information. Texts are not terminated.
 */
struct dh_shim_frame {
    const char *function, *file, *dir; /* linkage name */
    size_t function_len, file_len, dir_len;
    unsigned line, column;
    unsigned declared; /* line of the function's declaration, if it is in the same file; else 0 */
    bool internal;     /* the function has no meaning in other files */
};
int dh_shim_frame(LLVMValueRef inst, unsigned depth, struct dh_shim_frame *ret);
/* The translation unit a function comes from, as its source file was named. */
const char *dh_shim_unit(LLVMValueRef fn, size_t *ret_len);

/* What the language says of the type of an access (TBAA), or NULL: equal for equal claims. Says nothing of
 * calls. */
const void *dh_shim_access_type(LLVMValueRef inst);
/* Which of n types (NULL: anything) may overlap: sets bit i * n + j for each two that may; ret is zero
 * before. */
void dh_shim_types_compare(LLVMModuleRef m, const void *const *types, size_t n, unsigned char *ret);

#ifdef __cplusplus
}
#endif

#endif
