// A word that is moved within one block, which is published while the word is nowhere in it.
// RULE: store
#include "escape.h"

struct box {
    struct node *slot[2];
};
static struct box *shared;

NOINLINE void move(struct box *b)
{
    struct node *n = b->slot[0];

    b->slot[0] = NULL;
    if (unknown(1))
        shared = b;
    b->slot[1] = n;
}

static void publish(struct node *n)
{
    struct box *b = (struct box *)calloc(1, sizeof(*b));

    MUST(b);
    b->slot[0] = n;
    move(b);
}

static struct node *receive(void)
{
    return shared->slot[1];
}
