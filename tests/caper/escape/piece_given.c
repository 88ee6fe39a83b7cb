// The halves of a pointer, each given to a function in a structure that is passed as one integer.
// RULE: piece
// FLAGS: -O2
#include "escape.h"

struct part {
    uint32_t half, which;
};
static uint32_t halves[4];

NOINLINE void keep(struct part part)
{
    halves[part.which] = part.half;
}

static void publish(struct node *n)
{
    struct node **box = (struct node **)malloc(sizeof(*box));
    const uint32_t *half = (const uint32_t *)box;

    *(struct node *volatile *)box = n;
    keep((struct part){half[unknown(0)], 1});
    keep((struct part){half[unknown(1)], 2});
}

static struct node *receive(void)
{
    return (struct node *)((uintptr_t)halves[2] << 32 | halves[1]);
}
