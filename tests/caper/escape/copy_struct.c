// A structure is assigned.
// RULE: copy
#include "escape.h"

struct box {
    long before;
    struct node *node;
    long behind[6];
};
static struct box shared;

static void publish(struct node *n)
{
    struct box *box = (struct box *)calloc(1, sizeof(*box));

    box->node = n;
    shared = *box;
}

static struct node *receive(void)
{
    return shared.node;
}
