// lsearch copies an element, with a pointer in it, into an array.
// RULE: call
#include <search.h>

#include "escape.h"

struct item {
    long key;
    struct node *node;
};
static struct item shared[8];
static size_t used;

static int compare(const void *a, const void *b)
{
    return ((const struct item *)a)->key != ((const struct item *)b)->key;
}

static void publish(struct node *n)
{
    struct item *e = (struct item *)malloc(sizeof(*e));

    e->key = 1;
    e->node = n;
    lsearch(e, shared, &used, sizeof(*e), compare);
}

static struct node *receive(void)
{
    return shared[0].node;
}
