// A member of a block that others can reach already.
// RULE: store
#include "escape.h"

static struct node *shared;

static void publish(struct node *n)
{
    struct node *outer = (struct node *)calloc(1, sizeof(*outer));

    shared = outer;
    outer->next = n;
}

static struct node *receive(void)
{
    return shared->next;
}
