// Through a pointer of which only the run knows that it is to a variable.
// RULE: store
#include "escape.h"

static struct node *shared;
static struct node **where = &shared;

static void publish(struct node *n)
{
    *where = n;
}

static struct node *receive(void)
{
    return shared;
}
