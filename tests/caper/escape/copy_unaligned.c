// memcpy to an odd address and back: the words at the destination are no pointers.
// RULE: copy
#include "escape.h"

struct box {
    long before;
    struct node *node;
    long behind[6];
};

static char odd[sizeof(struct box) + 1];

static void publish(struct node *n)
{
    struct box *box = (struct box *)calloc(1, sizeof(*box));

    box->node = n;
    memcpy(odd + 1, box, (size_t)unknown(sizeof(*box)));
}

static struct node *receive(void)
{
    struct box box;

    memcpy(&box, odd + 1, (size_t)unknown(sizeof(box)));
    return box.node;
}
