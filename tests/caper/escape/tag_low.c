// A flag in the lowest bits of the pointer.
// RULE: tags
#include "escape.h"

static uintptr_t shared;

static void publish(struct node *n)
{
    shared = (uintptr_t)n | 5;
}

static struct node *receive(void)
{
    return (struct node *)(shared & ~(uintptr_t)7);
}
