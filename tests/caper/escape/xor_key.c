// Encrypted by a secret word, as the C library does with its own.
// RULE: cast
#include "escape.h"

static const uintptr_t key = 0x123456789abcdef1;
static uintptr_t shared;

static void publish(struct node *n)
{
    shared = (uintptr_t)n ^ (key ^ (uintptr_t)unknown(0));
}

static struct node *receive(void)
{
    return (struct node *)(shared ^ (key ^ (uintptr_t)unknown(0)));
}
