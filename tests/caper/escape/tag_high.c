// A count in the highest 16 bits of the pointer.
// RULE: tags
#include "escape.h"

static uintptr_t shared;

static void publish(struct node *n)
{
    shared = (uintptr_t)n | (uintptr_t)0xbeef << 48;
}

static struct node *receive(void)
{
    return (struct node *)(shared << 16 >> 16);
}
