// Nodes that point to each other in a ring.
// RULE: transitive
#include "escape.h"

static struct node *shared;

static void publish(struct node *n)
{
    struct node *a = fresh(), *b = fresh();

    a->next = n;
    n->next = b;
    b->next = a;
    shared = b;
}

static struct node *receive(void)
{
    return shared->next->next;
}
