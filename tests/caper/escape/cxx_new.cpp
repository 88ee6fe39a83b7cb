// operator new, in an object with a constructor.
// RULE: store

#include "escape.h"

struct holder {
    struct node *node;
    explicit holder(struct node *n) : node(n)
    {
    }
};
static holder *shared;

static void publish(struct node *n)
{
    shared = new holder(n);
}

static struct node *receive(void)
{
    return shared->node;
}
