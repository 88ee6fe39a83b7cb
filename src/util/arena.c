/*
 * arena.c - see arena.h. Chunks grow from 16 KiB to 1 MiB; a larger request gets a chunk of its own.
 */
#include "util/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dh_arena_chunk {
    struct dh_arena_chunk *next;
    size_t size;
};

enum { ALIGN = 16, FIRST_CHUNK = 16 << 10, LARGEST_CHUNK = 1 << 20 };

_Noreturn void dh_util_no_memory(void)
{
    fputs("deadheat: error: out of memory\n", stderr);
    _Exit(2);
}

void *dh_util_alloc(size_t n)
{
    void *p = calloc(1, n ? n : 1);
    if (!p)
        dh_util_no_memory();
    return p;
}

void *dh_util_realloc(void *p, size_t n)
{
    p = realloc(p, n ? n : 1);
    if (!p)
        dh_util_no_memory();
    return p;
}

void *dh_util_grow(void *items, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return items;
    size_t want = *cap ? *cap * 2 : 16;
    if (want > SIZE_MAX / size)
        dh_util_no_memory();
    *cap = want;
    return dh_util_realloc(items, want * size);
}

void dh_arena_done(struct dh_arena *a)
{
    while (a->chunks) {
        struct dh_arena_chunk *next = a->chunks->next;
        free(a->chunks);
        a->chunks = next;
    }
    a->at = a->end = NULL;
}

static void add_chunk(struct dh_arena *a, size_t n)
{
    size_t size = a->chunks ? a->chunks->size * 2 : FIRST_CHUNK;
    if (size > LARGEST_CHUNK)
        size = LARGEST_CHUNK;
    size_t head = DH_ALIGN_UP(sizeof(struct dh_arena_chunk), ALIGN);
    if (n > SIZE_MAX - head)
        dh_util_no_memory();
    if (size < n + head)
        size = n + head;
    struct dh_arena_chunk *c = calloc(1, size);
    if (!c)
        dh_util_no_memory();
    c->next = a->chunks;
    c->size = size < LARGEST_CHUNK ? size : LARGEST_CHUNK;
    a->chunks = c;
    a->at = (char *)c + head;
    a->end = (char *)c + size;
}

void *dh_arena_alloc(struct dh_arena *a, size_t n)
{
    if (n > SIZE_MAX - ALIGN)
        dh_util_no_memory();
    n = DH_ALIGN_UP(n ? n : 1, ALIGN);
    if ((size_t)(a->end - a->at) < n)
        add_chunk(a, n);
    void *p = a->at;
    a->at += n;
    return p;
}

void *dh_arena_array(struct dh_arena *a, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        dh_util_no_memory();
    return dh_arena_alloc(a, count * size);
}

char *dh_arena_dup(struct dh_arena *a, const char *s, size_t n)
{
    if (n == SIZE_MAX)
        dh_util_no_memory();
    char *copy = dh_arena_alloc(a, n + 1);
    if (n)
        memcpy(copy, s, n);
    copy[n] = 0;
    return copy;
}

char *dh_arena_strdup(struct dh_arena *a, const char *s)
{
    return dh_arena_dup(a, s, strlen(s));
}

char *dh_arena_printf(struct dh_arena *a, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = dh_arena_alloc(a, (size_t)(n < 0 ? 0 : n) + 1);
    if (n >= 0)
        vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    return text;
}
