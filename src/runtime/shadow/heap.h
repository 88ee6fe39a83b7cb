/*
 * heap.h - the program's heap as the interceptors of malloc, new and strdup use it.
 *
 * Every function may be called with t == NULL: by a thread that is not attached, before the runtime is
 * up, or from inside another interceptor (libc allocating for itself). Blocks are then made and
 * freed in the same way, and new memory still loses its old history; only the write that a free is,
 * and the place of the allocation, are not recorded.
 */
#ifndef DH_RUNTIME_SHADOW_HEAP_H
#define DH_RUNTIME_SHADOW_HEAP_H

#include "runtime/runtime.h"

/* Where heap.c keeps its bit plane; nothing else is ever there (docs/design/heap.md). */
#define DH_HEAP_PLANE 0x380000000000ull
#define DH_HEAP_PLANE_SIZE (1ull << 40)

/* n bytes at a multiple of align (a power of two; 0 means 16); NULL with errno ENOMEM if not to be had.
 * zero: only with align <= 16. */
void *dh_heap_alloc(struct dh_thread *t, size_t n, size_t align, bool zero);

/* As free(): p may be NULL, or a block that glibc handed out without our header. Keeps errno. */
void dh_heap_release(struct dh_thread *t, void *p);

/* As realloc(). */
void *dh_heap_realloc(struct dh_thread *t, void *p, size_t n);

/* The size asked for, if p is a live block of ours. */
bool dh_heap_size(const void *p, size_t *ret_size);

/*
 * Room for what libc allocates in a call of the runtime's own, on a thread that is not attached. From the
 * heap it would get blocks that the program has freed, and what tells a use after free would go with them.
 * From begin to end, until the room is full; by the end all is freed.
 */
struct dh_heap_aside {
    size_t used;
    char room[1024] __attribute__((aligned(16)));
};
void dh_heap_aside_begin(struct dh_heap_aside *a);
void dh_heap_aside_end(void);

/* The program brought its own malloc. Whatever hands it blocks to free must then get them from there.
 * (intercept/malloc.c) */
bool dh_malloc_replaced(void);

#endif
