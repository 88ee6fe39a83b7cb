// A block of aligned_alloc.
// RULE: store
#define OWN_FRAME
#include "escape.h"

static struct node *shared;

NOINLINE struct node *make(void)
{
    return (struct node *)aligned_alloc(4096, 4096);
}

THREAD(owner)
{
    struct node *n = make();

    prepare(n);
    shared = n;
    mark();
    n->value = 2; // ESCAPED
    return NULL;
}

THREAD(other)
{
    after(1);
    MUST(shared->seal == SEAL); // ESCAPED
    shared->value = 3;          // ESCAPED
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
