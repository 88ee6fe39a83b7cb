// tsearch puts it into a tree of the library.
// RULE: call
#include <search.h>

#include "escape.h"

static void *root;

static int compare(const void *a, const void *b)
{
    const struct node *p = (const struct node *)a, *q = (const struct node *)b;

    return p->value < q->value ? -1 : p->value > q->value;
}

static void publish(struct node *n)
{
    MUST(tsearch(n, &root, compare));
}

static struct node *receive(void)
{
    return **(struct node ***)&root;
}
