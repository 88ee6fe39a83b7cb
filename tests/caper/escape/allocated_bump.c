// Two nodes of one block, by an allocator of the program: one is stored, and both escape.
// RULE: store
#define OWN_FRAME
#include "escape.h"

static struct node *shared;

NOINLINE struct node *make(void)
{
    static _Thread_local char *next;
    char *p;

    if (!next)
        next = (char *)malloc(4096);
    p = next;
    next += sizeof(struct node);
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
