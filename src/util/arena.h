/*
 * arena.h - memory that is freed all at once, for hosted tools.
 *
 * A report's data lives as long as the reporter, so nothing is freed individually. Running out of memory
 * ends the tool with a message and status 2: a command-line program has no better option, and no caller
 * needs to check.
 */
#ifndef DH_UTIL_ARENA_H
#define DH_UTIL_ARENA_H

#include "base/base.h"

struct dh_arena_chunk;

/* All zero is a valid, empty arena. */
struct dh_arena {
    struct dh_arena_chunk *chunks;
    char *at;
    char *end;
};

void dh_arena_done(struct dh_arena *a);
/* Zeroed and aligned for anything. */
void *dh_arena_alloc(struct dh_arena *a, size_t n);
void *dh_arena_array(struct dh_arena *a, size_t count, size_t size);
char *dh_arena_dup(struct dh_arena *a, const char *s, size_t n);
char *dh_arena_strdup(struct dh_arena *a, const char *s);
__attribute__((format(printf, 2, 3))) char *dh_arena_printf(struct dh_arena *a, const char *format, ...);

/* These never return NULL. New memory is zeroed, as in an arena, except what realloc adds. */
void *dh_util_alloc(size_t n);
void *dh_util_realloc(void *p, size_t n);
_Noreturn void dh_util_no_memory(void);

/* Make room for one more element in a heap array: *items has *cap elements of `size` bytes, n in use. */
void *dh_util_grow(void *items, size_t n, size_t *cap, size_t size);

#endif
