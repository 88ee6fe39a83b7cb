// Chosen among several, some of which are no blocks.
// RULE: store
#include "escape.h"

static struct node *shared, resting;

static void publish(struct node *n)
{
    struct node *chosen = unknown(0) ? &resting : unknown(0) ? NULL : n;

    shared = chosen;
}

static struct node *receive(void)
{
    return shared;
}
