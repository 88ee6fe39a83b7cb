// Ten blocks deep, each reached from the one before.
// RULE: store
#include "escape.h"

static struct node *shared;

static void publish(struct node *n)
{
    struct node *last = shared = (struct node *)calloc(1, sizeof(*shared));

    for (int i = 0; i < 10; i++)
        last = last->next = (struct node *)calloc(1, sizeof(*last));
    last->next = n;
}

static struct node *receive(void)
{
    struct node *last = shared;

    while (last->next)
        last = last->next;
    return last;
}
