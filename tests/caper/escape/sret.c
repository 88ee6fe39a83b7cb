// A structure that is returned, to where others can reach it.
// RULE: store,copy
#include "escape.h"

struct box {
    long many[10];
    struct node *node;
};
static struct box shared;

NOINLINE struct box wrap(struct node *n)
{
    struct box box = {.node = n};

    box.many[unknown(3)] = 1;
    return box;
}

static void publish(struct node *n)
{
    shared = wrap(n);
}

static struct node *receive(void)
{
    return shared.node;
}
