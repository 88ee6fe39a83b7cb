// A loop over pieces of three bytes, which no pointer begins with.
// RULE: copy
#include "escape.h"

struct box {
    long before;
    struct node *node;
    long behind[6];
};
static struct box shared;

struct three {
    unsigned char bytes[3];
};

static void publish(struct node *n)
{
    struct box *box = (struct box *)calloc(1, sizeof(*box));

    box->node = n;
    for (size_t i = 0; i + 3 <= sizeof(shared); i += 3)
        *(volatile struct three *)((char *)&shared + i) = *(volatile struct three *)((char *)box + i);
}

static struct node *receive(void)
{
    return shared.node;
}
