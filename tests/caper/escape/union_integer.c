// A union of a pointer and an integer: the integer is stored.
// RULE: store
#include "escape.h"

union either {
    struct node *node;
    unsigned long number;
};
static unsigned long shared;

static void publish(struct node *n)
{
    union either e = {.node = n};

    shared = e.number;
}

static struct node *receive(void)
{
    union either e = {.number = shared};

    return e.node;
}
