// A loop over half words.
// RULE: piece
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
    for (size_t i = 0; i < sizeof(shared) / 4; i++)
        ((volatile uint32_t *)&shared)[i] = ((volatile uint32_t *)box)[i];
}

static struct node *receive(void)
{
    return shared.node;
}
