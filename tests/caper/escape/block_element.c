// An element of an array in a block that others can reach already.
// RULE: store
#include "escape.h"

static struct node **shared;

static void publish(struct node *n)
{
    shared = (struct node **)calloc(1000, sizeof(*shared));
    shared[unknown(777)] = n;
}

static struct node *receive(void)
{
    return shared[unknown(777)];
}
