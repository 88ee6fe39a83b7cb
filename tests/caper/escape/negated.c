// Complemented, as some hash tables mark what they deleted.
// RULE: cast
#include "escape.h"

static uintptr_t shared;

static void publish(struct node *n)
{
    shared = ~(uintptr_t)n;
}

static struct node *receive(void)
{
    return (struct node *)~shared;
}
