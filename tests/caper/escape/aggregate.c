// Two words at once: a structure that registers return is stored.
// RULE: store,vector,copy
#include "escape.h"

struct two {
    long first;
    struct node *second;
};
static struct two shared[4];

NOINLINE struct two wrap(struct node *n)
{
    return (struct two){unknown(1), n};
}

static void publish(struct node *n)
{
    shared[unknown(2)] = wrap(n);
}

static struct node *receive(void)
{
    return shared[2].second;
}
