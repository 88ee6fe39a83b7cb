// twalk_r shows it to a function of another thread.
// RULE: call
#include <search.h>

#include "escape.h"

static void *root;

static int compare(const void *a, const void *b)
{
    return a < b ? -1 : a > b;
}

static void visit(const void *entry, VISIT which, void *found)
{
    (void)which;
    *(struct node **)found = *(struct node *const *)entry;
}

static void publish(struct node *n)
{
    MUST(tsearch(n, &root, compare));
}

static struct node *receive(void)
{
    struct node *found = NULL;

    twalk_r(root, visit, &found);
    return found;
}
