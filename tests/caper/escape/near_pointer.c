// Pointers that were computed as numbers, and stay in the block, do not make it escape.
// RULE: store
#include "escape.h"

static struct node *shared;

/* A node inside of a block that only this thread knows. */
NOINLINE struct node *inside(void *block, void **kept)
{
    uintptr_t number = ((uintptr_t)block + (uintptr_t)unknown(100)) & ~(uintptr_t)unknown(15);

    kept[0] = (void *)(((uintptr_t)block + 63) & ~(uintptr_t)63);
    kept[1] = (void *)number;
    return (struct node *)number;
}

static void publish(struct node *n)
{
    void *block = malloc(256), **kept = (void **)calloc(2, sizeof(*kept));

    MUST(block && kept);
    prepare(inside(block, kept));
    possibly((struct node *)kept[1]);
    shared = n;
}

static struct node *receive(void)
{
    return shared;
}
