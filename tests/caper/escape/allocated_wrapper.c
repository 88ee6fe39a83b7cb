// A block of a function that calls malloc for others.
// RULE: store
#define OWN_FRAME
#include "escape.h"

static struct node *shared;

NOINLINE void *xmalloc(size_t n)
{
    void *p = malloc(n);

    MUST(p);
    return p;
}

NOINLINE struct node *make(void)
{
    return (struct node *)xmalloc(sizeof(struct node));
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
