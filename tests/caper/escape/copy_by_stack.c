// By a private variable on the stack into a variable that is not.
// RULE: copy
#include "escape.h"

struct box {
    long before;
    struct node *node;
    long behind[30];
};
static struct box shared;

static void publish(struct node *n)
{
    struct box box = {.node = n};

    box.behind[unknown(3)] = 1;
    shared = box;
}

static struct node *receive(void)
{
    return shared.node;
}
