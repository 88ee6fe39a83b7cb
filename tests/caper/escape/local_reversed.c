// Byte by byte into a private array on the stack, in the other order; from there, whole, into a variable.
// RULE: piece
#include "escape.h"

static uint64_t shared;

static void publish(struct node *n)
{
    struct node **box = (struct node **)malloc(sizeof(*box));
    const unsigned char *bytes = (const unsigned char *)box;
    union {
        unsigned char bytes[8];
        uint64_t word;
    } turned;

    *box = n;
    for (int i = 0; i < (int)unknown(8); i++)
        turned.bytes[7 - i] = bytes[i];
    shared = turned.word;
}

static struct node *receive(void)
{
    return (struct node *)__builtin_bswap64(shared);
}
