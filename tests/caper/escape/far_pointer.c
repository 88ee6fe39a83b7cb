// A pointer that was computed as a number, and leads far out of the block.
// RULE: cast
#include "escape.h"

enum { FAR = 4096 };
static void *shared;

static void publish(struct node *n)
{
    shared = (void *)((uintptr_t)n + (uintptr_t)unknown(FAR));
}

static struct node *receive(void)
{
    return (struct node *)((uintptr_t)shared - FAR);
}
