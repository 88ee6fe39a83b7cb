// The halves of a pointer, each returned in a structure that is one integer.
// RULE: piece
// FLAGS: -O2
#include "escape.h"

struct part {
    uint32_t half, which;
};
static uint32_t lower, upper;

NOINLINE struct part part_of(const uint32_t *halves, int i)
{
    return (struct part){halves[i], (uint32_t)unknown(i)};
}

static void publish(struct node *n)
{
    struct node **box = (struct node **)malloc(sizeof(*box));

    *(struct node *volatile *)box = n;
    lower = part_of((const uint32_t *)box, 0).half;
    upper = part_of((const uint32_t *)box, 1).half;
}

static struct node *receive(void)
{
    return (struct node *)((uintptr_t)upper << 32 | lower);
}
