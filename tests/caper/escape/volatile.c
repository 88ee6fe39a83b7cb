// A store to a volatile variable.
// RULE: store
#include "escape.h"

static struct node *volatile shared;

static void publish(struct node *n)
{
    shared = n;
}

static struct node *receive(void)
{
    return shared;
}
