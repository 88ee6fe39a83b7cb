// A function that is called by a pointer stores it.
#include "escape.h"

static struct node *shared;

static void keep(struct node *n)
{
    shared = n;
}

static void drop(struct node *n)
{
    n->more = 0;
}

static void (*volatile chosen[2])(struct node *) = {drop, keep};

static void publish(struct node *n)
{
    chosen[unknown(1)](n);
}

static struct node *receive(void)
{
    return shared;
}
