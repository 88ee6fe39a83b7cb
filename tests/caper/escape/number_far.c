// An address to which so much is added that it leads out of its block, in a private block that is stored afterwards.
// RULE: cast
#include "escape.h"

static uintptr_t *shared;

static void publish(struct node *n)
{
    uintptr_t *box = (uintptr_t *)calloc(4, sizeof(*box));

    box[1] = (uintptr_t)n + 0x100000000;
    shared = box;
}

static struct node *receive(void)
{
    return (struct node *)(shared[1] - 0x100000000);
}
