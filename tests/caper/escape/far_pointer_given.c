// The same, given to the function that stores it; there is another way to it, too.
// RULE: cast
#include "escape.h"

enum { FAR = 4096 };
static void *shared;

NOINLINE void keep(void *p)
{
    shared = p;
}

static void publish(struct node *n)
{
    uintptr_t number = (uintptr_t)n;

    if (unknown(1))
        number -= FAR;
    keep((void *)number);
}

static struct node *receive(void)
{
    return (struct node *)((uintptr_t)shared + FAR);
}
