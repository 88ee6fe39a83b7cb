// A vector of sixteen bytes.
// RULE: vector
#include "escape.h"

struct box {
    long before;
    struct node *node;
    long behind[6];
};
static struct box shared;

typedef unsigned char sixteen __attribute__((vector_size(16), aligned(8)));

static void publish(struct node *n)
{
    struct box *box = (struct box *)calloc(1, sizeof(*box));

    box->node = n;
    *(volatile sixteen *)&shared = *(volatile sixteen *)box;
}

static struct node *receive(void)
{
    return shared.node;
}
