// The upper and the lower half of the pointer, each where it is in the word.
// RULE: cast
#include "escape.h"

static uint64_t lower, upper;

static void publish(struct node *n)
{
    lower = (uintptr_t)n & 0xffffffff;
    upper = (uintptr_t)n & ~(uint64_t)0xffffffff;
}

static struct node *receive(void)
{
    return (struct node *)(uintptr_t)(upper | lower);
}
