// What is copied points to a block that points to the node.
// RULE: transitive
#include "escape.h"

struct box {
    struct node *node;
};
static struct box shared;

static void publish(struct node *n)
{
    struct box *box = (struct box *)calloc(1, sizeof(*box));
    struct node *between = fresh();

    between->next = n;
    box->node = between;
    memcpy(&shared, box, (size_t)unknown(sizeof(shared)));
}

static struct node *receive(void)
{
    return shared.node->next;
}
