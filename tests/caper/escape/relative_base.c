// How many elements there are from a base, in 32 bits.
// RULE: cast
#include "escape.h"

static struct node *base;
static int32_t shared;

static void publish(struct node *n)
{
    struct node *first = fresh();

    base = first;
    shared = (int32_t)(((char *)n - (char *)first) / 16);
}

static struct node *receive(void)
{
    return (struct node *)((char *)base + 16L * shared);
}
