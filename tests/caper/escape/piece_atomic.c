// The halves of a pointer, each taken out of its block by an atomic operation.
// RULE: piece
#include "escape.h"

static uint32_t lower, upper;

static void publish(struct node *n)
{
    struct node **box = (struct node **)malloc(sizeof(*box));
    uint32_t *half = (uint32_t *)box, expected = 1;

    *(struct node *volatile *)box = n;
    lower = __atomic_exchange_n(&half[unknown(0)], 0, __ATOMIC_RELAXED);
    MUST(
        !__atomic_compare_exchange_n(&half[unknown(1)], &expected, 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    upper = expected;
}

static struct node *receive(void)
{
    return (struct node *)((uintptr_t)upper << 32 | lower);
}
