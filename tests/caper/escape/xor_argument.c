// A function gets the address as an integer, and encrypts it.
// RULE: cast
#include "escape.h"

static uintptr_t shared;

NOINLINE uintptr_t encrypt(uintptr_t bits)
{
    return bits ^ 0x5555aaaa5555aaaa;
}

static void publish(struct node *n)
{
    shared = encrypt((uintptr_t)n);
}

static struct node *receive(void)
{
    return (struct node *)encrypt(shared);
}
