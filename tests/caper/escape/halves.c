// The upper and the lower half of the pointer, in variables of their own.
// RULE: cast
#include "escape.h"

static uint32_t lower, upper;

static void publish(struct node *n)
{
    lower = (uint32_t)(uintptr_t)n;
    upper = (uint32_t)((uintptr_t)n >> 32);
}

static struct node *receive(void)
{
    return (struct node *)((uintptr_t)upper << 32 | lower);
}
