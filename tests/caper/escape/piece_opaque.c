// The halves of a pointer, each of which the compiler is kept from knowing.
// RULE: piece
// FLAGS: -O2
#include "escape.h"

static uint32_t lower, upper;

HELPER uint32_t opaque(uint32_t half)
{
    __asm__("" : "+r"(half));
    return half;
}

static void publish(struct node *n)
{
    struct node **box = (struct node **)malloc(sizeof(*box));
    const uint32_t *half = (const uint32_t *)box;

    *(struct node *volatile *)box = n;
    lower = opaque(half[unknown(0)]);
    upper = opaque(half[unknown(1)]);
}

static struct node *receive(void)
{
    return (struct node *)((uintptr_t)upper << 32 | lower);
}
