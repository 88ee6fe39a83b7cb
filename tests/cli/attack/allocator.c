/*
 * allocator.c - the library: an allocator that takes glibc's place as tcmalloc and others do, also under
 * glibc's second names. It is instrumented itself, and uses stack and thread-local variables.
 */
#include "pool.h"

void free(void *p)
{
    if (p && *(size_t *)((char *)p - HEADER) > sizeof(pool))
        __builtin_trap();
}

void *memalign(size_t align, size_t n)
{
    (void)align;
    return malloc(n);
}

/* A name of its own besides. What it returns is for free() like the rest. */
void *pool_malloc(size_t n) __attribute__((alias("malloc")));

void *__libc_malloc(size_t n) __attribute__((alias("malloc")));
void __libc_free(void *p) __attribute__((alias("free")));
void *__libc_calloc(size_t count, size_t n) __attribute__((alias("calloc")));
void *__libc_realloc(void *old, size_t n) __attribute__((alias("realloc")));
void *__libc_memalign(size_t align, size_t n) __attribute__((alias("memalign")));
