// A floating-point number of 80 bits, ten bytes of which are moved.
// RULE: float
#include "escape.h"

union box {
    long double number;
    struct node *node;
};
static union box shared;

static void publish(struct node *n)
{
    union box *box = (union box *)calloc(1, sizeof(*box));

    box->node = n;
    *(volatile long double *)&shared.number = *(volatile long double *)&box->number;
}

static struct node *receive(void)
{
    return shared.node;
}
