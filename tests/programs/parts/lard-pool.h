/* lard-pool.h - a pool allocator with free lists of its own, without a lock: deadheat cannot know that a block
 * changes hands. POOL_TELLS decides whether it is told. */
#ifndef LARD_POOL_H
#define LARD_POOL_H

#include <deadheat/lard.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { BLOCK = 64, BLOCKS = 64 };

struct block {
    struct block *next;
};

static char memory[BLOCKS][BLOCK] __attribute__((aligned(64)));
static _Atomic(struct block *) free_blocks;

static void pool_free(void *p)
{
    struct block *b = p;
    if (POOL_TELLS)
        dh_lard_clear(p, BLOCK); /* the first of two lines */
    dh_lard_system_begin();
    struct block *top = atomic_load_explicit(&free_blocks, memory_order_relaxed);
    do
        b->next = top;
    while (!atomic_compare_exchange_weak(&free_blocks, &top, b));
    dh_lard_system_end();
}

static void *pool_alloc(void)
{
    dh_lard_system_begin();
    struct block *b = atomic_exchange(&free_blocks, NULL); /* all of it: no block can come back meanwhile */
    if (b && b->next) {
        struct block *last = b->next, *top = NULL;
        while (last->next)
            last = last->next;
        top = atomic_load(&free_blocks);
        do
            last->next = top;
        while (!atomic_compare_exchange_weak(&free_blocks, &top, b->next));
    }
    dh_lard_system_end();
    if (b && POOL_TELLS)
        dh_lard_clear(b, BLOCK); /* the second */
    return b;
}

DH_UNTRACKED static void pool_init(void)
{
    for (int i = 0; i < BLOCKS; i++)
        pool_free(memory[i]);
}

#endif
