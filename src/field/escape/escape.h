/*
 * escape.h - the functions that the compiler's plugin calls in a Caper build (docs/design/caper.md).
 *
 * INLINED: the body is in fastpath.c, compiled to escape.bc and inlined by the plugin. The others are
 * functions of the library, libdeadheat-caper.a. A value is 64 bits that may be a pointer, with or without
 * tags in its lowest and highest bits; all functions ignore 0 and values that point to no unescaped block.
 *
 * Barriers rely on pointers being stored at multiples of 8, because a block that escapes is scanned by words.
 * So a pointer stored elsewhere escapes at once, through __dh_esc_store; the plugin publishes those stored in
 * places that have no barrier, such as packed local variables.
 *
 * None may be called before the library has started, which is before all constructors: resolvers of indirect
 * functions get no barriers.
 */
#ifndef DH_FIELD_ESCAPE_H
#define DH_FIELD_ESCAPE_H

#include "base/caper.h"

/* ---- Before a pointer is stored or passed. It is marked as escaped before the store that publishes it.
 * ---- */

/* INLINED. Before a store of value at dst. */
void __dh_esc_store(const void *dst, u64 value);
/* INLINED. The same for a value that is rarely an address, such as an integer: unless it could be one, the
 * shadow is not touched. Random numbers would otherwise fault in all of it. */
void __dh_esc_store_bits(const void *dst, u64 value);
/* INLINED. Like __dh_esc_store if others can certainly reach dst (a variable, a captured local), and for
 * anything that passes a value to unknown code or threads: it escapes. */
void __dh_esc_publish(u64 value);
/* INLINED. The same for a value that is rarely an address. */
void __dh_esc_bits(u64 value);
/* INLINED. Arithmetic made the pointer `to` of the pointer `from`: if it leads out of from's block, that
 * escapes. */
void __dh_esc_moved(u64 from, u64 to);
/* INLINED. Before n bytes are copied from src to dst. */
void __dh_esc_copy(const void *dst, const void *src, u64 n);
/* INLINED. Before the n bytes at src are copied to where others can reach them. */
void __dh_esc_contents(const void *src, u64 n);
/* INLINED. Before a function returns value to a caller that may not have been compiled by us. */
void __dh_esc_return(u64 value);
/* INLINED. Around a call of such code. Exceptions and longjmp leave calls without the second one: then too
 * much escapes, until a function returns to its own depth. */
void __dh_esc_leave(void);
void __dh_esc_enter(void);
/* INLINED. The number of such calls in progress: used where a function begins, and where it has caught an
 * exception, which has ended all the others. */
u32 __dh_esc_depth(void);
void __dh_esc_caught(u32 depth);

/* ---- Blocks ---- */

/* INLINED test, then a call. A block of n bytes was allocated, by any allocator; p may be NULL. Only full
 * grains of it are tracked unless the allocator is known not to share grains between blocks. */
void __dh_esc_new(void *p, u64 n);
/* INLINED test, then a call. Before p is freed; p may be NULL, or a block that is not tracked. */
void __dh_esc_free(void *p);
/* Replaces realloc and reallocarray. */
void *__dh_esc_realloc(void *p, u64 n);
void *__dh_esc_reallocarray(void *p, u64 n, u64 size);

/* ---- Threads ---- */

/* Replaces pthread_create and thrd_create: the argument and the result escape. */
int __dh_esc_pthread_create(void *thread, const void *attr, void *(*start)(void *), void *arg);
int __dh_esc_thrd_create(void *thread, int (*start)(void *), void *arg);

/* The program creates a coroutine, which need not stay in one thread: from now on all memory has escaped. */
void __dh_esc_give_up(void);

/* ---- Queries ---- */

/* INLINED, at the target of the patched nop. Has the memory at p escaped? Then the group is marked. */
void __dh_esc_ask(const void *p, u32 group);

#endif
