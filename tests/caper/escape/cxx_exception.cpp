// An exception carries it to who stores it.
// RULE: store

#include "escape.h"

static struct node *shared;

struct carrier {
    struct node *node;
};

NOINLINE void raise(struct node *n)
{
    throw carrier{n};
}

static void publish(struct node *n)
{
    try {
        raise(n);
    } catch (const carrier &c) {
        shared = c.node;
    }
}

static struct node *receive(void)
{
    return shared;
}
