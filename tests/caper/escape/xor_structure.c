// A function gets a structure with the address as an integer, and encrypts it.
// RULE: cast
#include "escape.h"

struct box {
    long first;
    uintptr_t second;
};
static uintptr_t shared;

NOINLINE struct box wrap(struct node *n)
{
    return (struct box){unknown(1), (uintptr_t)n};
}

static void publish(struct node *n)
{
    struct box box = wrap(n);

    shared = box.second ^ 0x5555aaaa5555aaaa;
}

static struct node *receive(void)
{
    return (struct node *)(shared ^ 0x5555aaaa5555aaaa);
}
