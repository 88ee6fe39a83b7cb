// A loop over the bytes.
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
    for (size_t i = 0; i < sizeof(shared); i++)
        ((volatile unsigned char *)&shared)[i] = ((volatile unsigned char *)box)[i];
}

static struct node *receive(void)
{
    return shared.node;
}
