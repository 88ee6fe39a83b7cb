// A vector of four words.
// RULE: vector
#include "escape.h"

struct box {
    long before;
    struct node *node;
    long behind[6];
};
static struct box shared;

typedef long four __attribute__((vector_size(32), aligned(8)));

static void publish(struct node *n)
{
    struct box *box = (struct box *)calloc(1, sizeof(*box));

    box->node = n;
    *(volatile four *)&shared = *(volatile four *)box;
}

static struct node *receive(void)
{
    return shared.node;
}
