// A thread-local variable whose address another thread has.
// RULE: store
#include "escape.h"

static _Thread_local struct node *own;
static struct node **shared;

static void publish(struct node *n)
{
    shared = &own;
    own = n;
}

static struct node *receive(void)
{
    return *shared;
}
