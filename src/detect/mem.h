/*
 * mem.h - a detector's memory: powers of two from large blocks of the pool, freed all at once.
 *
 * No lock, unlike the pool: the host serialises a detector.
 */
#ifndef DH_DETECT_MEM_H
#define DH_DETECT_MEM_H

#include "base/base.h"

enum { DH_MEM_MIN_SHIFT = 4, DH_MEM_MAX_SHIFT = 16 };

struct dh_mem_block;

/* All zero is a valid start. */
struct dh_mem {
    struct dh_mem_block *blocks;
    void *free_lists[DH_MEM_MAX_SHIFT + 1];
    char *at, *end;
    size_t bytes; /* taken from the pool */
    size_t limit; /* of bytes; 0: none */
    bool refused; /* something was asked for beyond it */
};

void *dh_mem_alloc(struct dh_mem *m, size_t n);        /* zeroed; NULL: no memory */
void dh_mem_free(struct dh_mem *m, void *p, size_t n); /* n as given to alloc; p may be NULL */
void dh_mem_done(struct dh_mem *m);
/* Twice the room for an array: *items has *cap elements of `size` bytes, n of them in use. False: no memory,
 * nothing changed. */
bool dh_mem_grow(struct dh_mem *m, void **items, u32 n, u32 *cap, u32 size);

#endif
