// Rotated by 17 bits.
// RULE: cast
#include "escape.h"

static uintptr_t shared;

static void publish(struct node *n)
{
    shared = __builtin_rotateleft64((uintptr_t)n, 17);
}

static struct node *receive(void)
{
    return (struct node *)__builtin_rotateright64(shared, 17);
}
