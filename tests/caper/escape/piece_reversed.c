// The halves of a pointer, bit by bit the other way round.
// RULE: piece
// FLAGS: -O2
#include "escape.h"

static uint32_t lower, upper;

static void publish(struct node *n)
{
    struct node **box = (struct node **)malloc(sizeof(*box));
    const uint32_t *half = (const uint32_t *)box;

    *(struct node *volatile *)box = n;
    lower = __builtin_bitreverse32(half[unknown(0)]);
    upper = __builtin_bitreverse32(half[unknown(1)]);
}

static struct node *receive(void)
{
    return (struct node *)((uintptr_t)__builtin_bitreverse32(upper) << 32 | __builtin_bitreverse32(lower));
}
