/*
 * escape.h - what the compiler's plugin makes a Caper build call (docs/design/caper.md).
 *
 * INLINED: the body is in fastpath.c, compiled to escape.bc and inlined by the plugin. Others are functions
 * of the library, libdeadheat-caper.a. A value is 64 bits that may be a pointer, with or without tags in its
 * lowest and highest bits; 0, and what points to no unescaped block, is let pass by all of them.
 *
 * Barriers rely on pointers being stored at multiples of 8: a block that escapes is scanned by words. So a
 * pointer that is stored elsewhere escapes at once, by __dh_esc_store; the plugin publishes those that go to
 * places that have no barrier, such as packed local variables.
 *
 * None may be called before the library has started, which is before all constructors: the resolvers of
 * indirect functions get no barriers.
 */
#ifndef DH_FIELD_ESCAPE_H
#define DH_FIELD_ESCAPE_H

#include "base/caper.h"

/* ---- Before a pointer goes somewhere. What is escaped here is so before the store that publishes it. ----
 */

/* INLINED. Before a store of value at dst. */
void __dh_esc_store(const void *dst, u64 value);
/* INLINED. The same of a value that is hardly ever an address, such as an integer: unless it could be one,
 * the shadow is not touched. Random numbers would have the whole of it brought in. */
void __dh_esc_store_bits(const void *dst, u64 value);
/* INLINED. As __dh_esc_store where others can reach dst for certain (a variable, a captured local); and for
 * whatever hands a value to code or threads that are not known: it escapes. */
void __dh_esc_publish(u64 value);
/* INLINED. The same of a value that is hardly ever an address. */
void __dh_esc_bits(u64 value);
/* INLINED. Before n bytes are copied from src to dst. */
void __dh_esc_copy(const void *dst, const void *src, u64 n);
/* INLINED. Before the n bytes at src are copied to where others can reach them. */
void __dh_esc_contents(const void *src, u64 n);
/* INLINED. Before a function returns value to a caller that may be code not compiled by us. */
void __dh_esc_return(u64 value);
/* INLINED. Around a call of such code. Exceptions and longjmp leave calls behind without the second: then too
 * much escapes, until a function returns to its own depth. */
void __dh_esc_leave(void);
void __dh_esc_enter(void);
/* INLINED. How many such calls are under way where a function begins; and where it has caught an exception,
 * which has ended all others. */
u32 __dh_esc_depth(void);
void __dh_esc_caught(u32 depth);

/* ---- Blocks ---- */

/* INLINED test, then a call. A block of n bytes was allocated, by whatever allocator; p may be NULL. Only
 * full grains of it are tracked unless the allocator is known to share none between blocks. */
void __dh_esc_new(void *p, u64 n);
/* INLINED test, then a call. Before p is freed; p may be NULL, or a block that is not tracked. */
void __dh_esc_free(void *p);
/* In place of realloc, reallocarray. */
void *__dh_esc_realloc(void *p, u64 n);
void *__dh_esc_reallocarray(void *p, u64 n, u64 size);

/* ---- Threads ---- */

/* In place of pthread_create and thrd_create: the argument and the result escape. */
int __dh_esc_pthread_create(void *thread, const void *attr, void *(*start)(void *), void *arg);
int __dh_esc_thrd_create(void *thread, int (*start)(void *), void *arg);

/* The program makes a coroutine, which need not stay in one thread: all memory has escaped from now on. */
void __dh_esc_give_up(void);

/* ---- Questions ---- */

/* INLINED, behind the nop's jump. Has the memory at p escaped? Then the group is marked. */
void __dh_esc_ask(const void *p, u32 group);

#endif
