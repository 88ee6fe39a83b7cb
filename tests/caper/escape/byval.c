// A structure that is passed by value, and kept.
// RULE: copy
#include "escape.h"

struct box {
    long many[10];
    struct node *node;
};
static struct box shared;

NOINLINE void keep(struct box box)
{
    shared = box;
}

static void publish(struct node *n)
{
    struct box box = {.node = n};

    box.many[unknown(3)] = 1;
    keep(box);
}

static struct node *receive(void)
{
    return shared.node;
}
