// memfrob changes the bytes where they are, in a private block; the block is stored afterwards.
// RULE: contents
#include "escape.h"

static struct node **shared;

static void publish(struct node *n)
{
    struct node **box = (struct node **)malloc(sizeof(*box));

    *box = n;
    memfrob(box, (size_t)unknown(sizeof(*box)));
    shared = box;
}

static struct node *receive(void)
{
    struct node *n = *shared;

    memfrob(&n, sizeof(n));
    return n;
}
