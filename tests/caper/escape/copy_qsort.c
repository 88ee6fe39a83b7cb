// qsort moves pointers within a private block and calls back; then one is stored.
// RULE: store
#include "escape.h"

static struct node *shared;

static int by_value(const void *a, const void *b)
{
    const struct node *const *p = (const struct node *const *)a, *const *q = (const struct node *const *)b;

    return (*p)->value<(*q)->value ? -1 : (*p)->value>(*q)->value;
}

static void publish(struct node *n)
{
    struct node **all = (struct node **)calloc(3, sizeof(*all));

    all[0] = n;
    all[1] = fresh();
    all[2] = fresh();
    n->value = 100;
    qsort(all, 3, sizeof(*all), by_value);
    MUST(all[2] == n);
    shared = all[2];
}

static struct node *receive(void)
{
    return shared;
}
