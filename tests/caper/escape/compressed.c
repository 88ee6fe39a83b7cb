// Without its lowest four bits, in 44 bits of a word with other things.
// RULE: cast
#include "escape.h"

static struct {
    uint64_t count : 20, address : 44;
} shared;

static void publish(struct node *n)
{
    shared.count = 7;
    shared.address = (uintptr_t)n >> 4;
}

static struct node *receive(void)
{
    return (struct node *)((uintptr_t)shared.address << 4);
}
