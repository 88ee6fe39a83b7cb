// The pointer is in a private block, and is read from there as an integer and encrypted.
// RULE: cast
#include "escape.h"

static uintptr_t shared;

static void publish(struct node *n)
{
    struct node **box = (struct node **)calloc(4, sizeof(*box));
    uintptr_t bits;

    box[unknown(1)] = n;
    memcpy(&bits, &box[unknown(1)], sizeof(bits));
    shared = bits ^ 0x5555aaaa5555aaaa;
}

static struct node *receive(void)
{
    return (struct node *)(shared ^ 0x5555aaaa5555aaaa);
}
