// What was in the memory before the block was allocated is not in the block: nothing that it points to escapes.
#define OWN_FRAME
#include "escape.h"

struct large {
    struct node *node[16];
};

static struct node *shared;
static struct large *volatile block;

/* Leaves a pointer to the node in memory that the next block of this size is made of. */
NOINLINE void leave(struct node *n)
{
    struct large *old = (struct large *)malloc(sizeof(*old));

    for (int i = 0; i < 16; i++)
        *(struct node *volatile *)&old->node[i] = n;
    free(old);
}

THREAD(owner)
{
    struct node *n = fresh(), *mine = fresh();

    possibly(mine);
    leave(mine);
    block = (struct large *)malloc(sizeof(struct large));
    shared = n;
    mark();
    n->value = 2;    // ESCAPED
    mine->value = 2; // PRIVATE
    return NULL;
}

THREAD(other)
{
    after(1);
    MUST(block);
    perhaps(shared)->value = 3; // ESCAPED
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
