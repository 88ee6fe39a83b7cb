// A block of 100,000 pointers, to a block each.
// RULE: transitive
#include "escape.h"

enum { WIDE = 100000 };
static struct node **shared;

static void publish(struct node *n)
{
    struct node **all = (struct node **)calloc(WIDE, sizeof(*all));

    for (int i = 0; i < WIDE - 1; i++)
        all[i] = fresh();
    all[WIDE - 1] = n;
    shared = all;
}

static struct node *receive(void)
{
    return shared[WIDE - 1];
}
