// A tagged pointer in a block, which is stored: the scan must see through the tag.
// RULE: tags
#include "escape.h"

static uintptr_t *shared;

static void publish(struct node *n)
{
    uintptr_t *box = (uintptr_t *)calloc(4, sizeof(*box));

    box[2] = (uintptr_t)n | 3;
    shared = box;
}

static struct node *receive(void)
{
    return (struct node *)(shared[2] & ~(uintptr_t)7);
}
