// A loop over the words, as machines see them.
// RULE: store
#include "escape.h"

struct box {
    long before;
    struct node *node;
    long behind[6];
};
static struct box shared;
typedef uintptr_t word __attribute__((may_alias));

static void publish(struct node *n)
{
    struct box *box = (struct box *)calloc(1, sizeof(*box));

    box->node = n;
    for (size_t i = 0; i < sizeof(shared) / sizeof(word); i++)
        ((volatile word *)&shared)[i] = ((volatile word *)box)[i];
}

static struct node *receive(void)
{
    return shared.node;
}
