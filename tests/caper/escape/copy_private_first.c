// From one private block to another, which is stored afterwards.
// RULE: transitive
#include "escape.h"

struct box {
    long before;
    struct node *node;
};
static struct box *shared;

static void publish(struct node *n)
{
    struct box *box = (struct box *)calloc(1, sizeof(*box)), *twin = (struct box *)calloc(1, sizeof(*twin));

    box->node = n;
    memcpy(twin, box, (size_t)unknown(sizeof(*box)));
    shared = twin;
}

static struct node *receive(void)
{
    return shared->node;
}
