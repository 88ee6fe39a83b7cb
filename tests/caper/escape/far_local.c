// The same in code that was not optimised: the number is in a local variable.
// FLAGS: -O0
// RULE: cast
#include "escape.h"

enum { FAR = 4096 };
static void *shared;

static void publish(struct node *n)
{
    uintptr_t number = (uintptr_t)n;

    number += FAR;
    shared = (void *)number;
}

static struct node *receive(void)
{
    return (struct node *)((uintptr_t)shared - FAR);
}
