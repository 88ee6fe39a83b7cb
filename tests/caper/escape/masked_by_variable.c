// Every other bit of the pointer, by a mask that the compiler does not know.
// RULE: cast
#include "escape.h"

static uint64_t odd, even;

static void publish(struct node *n)
{
    uint64_t mask = (uint64_t)unknown(0x5555555555555555);

    even = (uintptr_t)n & mask;
    odd = (uintptr_t)n & ~mask;
}

static struct node *receive(void)
{
    return (struct node *)(uintptr_t)(odd | even);
}
