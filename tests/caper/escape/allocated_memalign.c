// A block of posix_memalign.
// RULE: store
#define OWN_FRAME
#include "escape.h"

static struct node *shared;

NOINLINE struct node *make(void)
{
    void *p = NULL;

    MUST(posix_memalign(&p, 64, sizeof(struct node)) == 0);
    return (struct node *)p;
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
