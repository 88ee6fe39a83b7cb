// At an odd address in a private block, which is stored afterwards.
// RULE: store
#include "escape.h"

struct __attribute__((packed)) box {
    char kind;
    struct node *node;
};
static struct box *shared;

static void publish(struct node *n)
{
    struct box *box = (struct box *)calloc(2, sizeof(*box));

    box->node = n;
    shared = box;
}

static struct node *receive(void)
{
    return shared->node;
}
