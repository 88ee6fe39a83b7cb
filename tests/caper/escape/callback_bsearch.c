// A function that bsearch calls stores the key.
// RULE: store
#include "escape.h"

static const struct node *shared;

static int compare(const void *key, const void *element)
{
    shared = (const struct node *)key;
    return *(const int *)element == 0;
}

static void publish(struct node *n)
{
    static const int one[1] = {1};

    MUST(bsearch(n, one, 1, sizeof(one[0]), compare));
}

static struct node *receive(void)
{
    return (struct node *)shared;
}
