// posix_memalign stores the pointer into a block, which is then handed on.
// RULE: link
#define OWN_FRAME
#include "escape.h"

struct box {
    long other[4];
    void *node;
};

static struct box *shared;

NOINLINE void fill(struct box *box)
{
    MUST(posix_memalign(&box->node, 64, sizeof(struct node)) == 0);
}

THREAD(owner)
{
    struct box *box = (struct box *)calloc(1, sizeof(*box));
    struct node *n;

    fill(box);
    n = (struct node *)box->node;
    prepare(n);
    shared = box;
    mark();
    n->value = 2; // ESCAPED
    return NULL;
}

THREAD(other)
{
    after(1);
    MUST(((struct node *)shared->node)->seal == SEAL); // ESCAPED
    ((struct node *)shared->node)->value = 3;          // ESCAPED
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
