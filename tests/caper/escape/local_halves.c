// The halves go to different words of a private array on the stack, and from there into variables.
// RULE: piece
#include "escape.h"

static uint32_t lower, upper;

static void publish(struct node *n)
{
    struct node **box = (struct node **)malloc(sizeof(*box));
    const uint32_t *half = (const uint32_t *)box;
    uint32_t apart[8] = {0};

    *box = n;
    apart[unknown(1)] = half[unknown(0)];
    apart[unknown(6)] = half[unknown(1)];
    lower = apart[unknown(1)];
    upper = apart[unknown(6)];
}

static struct node *receive(void)
{
    return (struct node *)((uintptr_t)upper << 32 | lower);
}
