// The same by an operation that stops at the largest number.
// RULE: cast
#include "escape.h"

static uintptr_t shared;

static void publish(struct node *n)
{
    shared = __builtin_elementwise_add_sat((uintptr_t)n, (uintptr_t)unknown(1L << 40));
}

static struct node *receive(void)
{
    return (struct node *)(shared - (1L << 40));
}
