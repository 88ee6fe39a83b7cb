/*
 * libc_heap.h - glibc's own allocator.
 */
#ifndef DH_RUNTIME_SHADOW_LIBC_HEAP_H
#define DH_RUNTIME_SHADOW_LIBC_HEAP_H

#include "base/base.h"

struct dh_libc_heap {
    void *(*malloc)(size_t n);
    void *(*calloc)(size_t count, size_t n);
    void *(*realloc)(void *p, size_t n);
    void *(*memalign)(size_t align, size_t n);
    void (*free)(void *p);
};

/* Works at any time, even before start-up and inside the dynamic loader. */
const struct dh_libc_heap *dh_libc_heap(void);

#endif
