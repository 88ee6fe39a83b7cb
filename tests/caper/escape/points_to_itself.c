// A small block that holds a pointer to itself, and then one to the node.
// RULE: transitive
#include "escape.h"

struct ring {
    struct ring *next, *previous;
    struct node *node;
};
static struct ring *shared;

static void publish(struct node *n)
{
    struct ring *r = (struct ring *)malloc(sizeof(*r));

    r->next = (struct ring *)unknown((long)r);
    r->previous = (struct ring *)unknown((long)r);
    if (unknown(1))
        r->node = n;
    shared = r;
}

static struct node *receive(void)
{
    return shared->next->node;
}
