// posix_memalign stores the pointer into a local variable, from where it is published in the same function.
// RULE: store
// FLAGS: -O2
#include "escape.h"

static struct node **shared;

static void publish(struct node *n)
{
    enum { SIZE = 100000, AT = 12000, MIDDLE = 12400 };
    void *place;
    struct node **table;

    MUST(posix_memalign(&place, 4096, SIZE) == 0);
    table = (struct node **)place;
    table[AT] = n;
    shared = table + MIDDLE;
}

static struct node *receive(void)
{
    return shared[-400];
}
