// The distance of the pointer, which has a tag by then, from a variable.
// RULE: cast
#include "escape.h"

static char base[16];
static uintptr_t shared;

static void publish(struct node *n)
{
    shared = (uintptr_t)base - ((uintptr_t)n | 1);
}

static struct node *receive(void)
{
    return (struct node *)(((uintptr_t)base - shared) & ~(uintptr_t)1);
}
