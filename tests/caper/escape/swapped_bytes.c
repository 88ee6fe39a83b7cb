// With its bytes in the other order.
// RULE: cast
#include "escape.h"

static uintptr_t shared;

static void publish(struct node *n)
{
    shared = __builtin_bswap64((uintptr_t)n);
}

static struct node *receive(void)
{
    return (struct node *)__builtin_bswap64(shared);
}
