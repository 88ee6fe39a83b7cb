// A function that qsort_r calls stores its extra argument.
// RULE: store
#include "escape.h"

static struct node *shared;

static int compare(const void *a, const void *b, void *extra)
{
    shared = (struct node *)extra;
    return *(const int *)a - *(const int *)b;
}

static void publish(struct node *n)
{
    int two[2] = {(int)unknown(2), 1};

    qsort_r(two, 2, sizeof(two[0]), compare, n);
}

static struct node *receive(void)
{
    return shared;
}
