/*
 * heap.h - the program's heap as the interceptors of malloc, new and strdup use it.
 *
 * Every function may be called with t == NULL: by a thread that is not attached, before the runtime is up, or
 * from inside another interceptor (libc allocating for itself). Blocks are then allocated and freed as usual,
 * and new memory still loses its old history; only the write that a free implies, and the place of the
 * allocation, are not recorded.
 */
#ifndef DH_RUNTIME_SHADOW_HEAP_H
#define DH_RUNTIME_SHADOW_HEAP_H

#include "runtime/runtime.h"

/* Where heap.c keeps its bit plane; nothing else is ever there (docs/design/heap.md). */
#define DH_HEAP_PLANE 0x380000000000ull
#define DH_HEAP_PLANE_SIZE (1ull << 40)

/* n bytes at a multiple of align (a power of two; 0 means 16); NULL with errno ENOMEM if there is no memory.
 * zero: only with align <= 16. */
void *dh_heap_alloc(struct dh_thread *t, size_t n, size_t align, bool zero);

/* Like free(): p may be NULL, or a block that glibc allocated without our header. Preserves errno. */
void dh_heap_release(struct dh_thread *t, void *p);

/* Like realloc(). */
void *dh_heap_realloc(struct dh_thread *t, void *p, size_t n);

/* The requested size, if p is a live block of ours. */
bool dh_heap_size(const void *p, size_t *ret_size);

/*
 * A buffer for what libc allocates in a call made by the runtime itself, on a thread that is not attached.
 * From the heap it would get blocks that the program has freed, and destroy the history that reveals a use
 * after free. In effect from begin to end, or until the buffer is full; everything is freed by the end.
 */
struct dh_heap_aside {
    size_t used;
    char room[1024] __attribute__((aligned(16)));
};
void dh_heap_aside_begin(struct dh_heap_aside *a);
void dh_heap_aside_end(void);

/* Does the program define its own malloc? Then blocks that it is given to free must come from there.
 * (intercept/malloc.c) */
bool dh_malloc_replaced(void);

#endif
