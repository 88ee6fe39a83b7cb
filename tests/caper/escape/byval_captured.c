// A structure that is passed by value: the function that gets it gives its address away.
// RULE: byval
#define OWN_FRAME
#include "escape.h"

struct box {
    long many[10];
    struct node *node;
};
static struct box *shared;

NOINLINE void keep(struct box box)
{
    shared = &box;
    mark();
    box.node->value = 2; // ESCAPED
    after(2);
}

THREAD(owner)
{
    struct box *box = (struct box *)calloc(1, sizeof(*box));

    box->node = fresh();
    possibly(box->node);
    keep(*box);
    return NULL;
}

THREAD(other)
{
    struct node *n;

    after(1);
    n = perhaps(shared->node);
    MUST(n->seal == SEAL); // ESCAPED
    n->value = 3;          // ESCAPED
    mark();
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
