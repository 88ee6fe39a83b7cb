// Blocks that an allocator of the program carves out of one that malloc gave it: a list of free ones goes through them.
// RULE: store,transitive
#define OWN_FRAME
#include "escape.h"

enum { MANY = 100 };
static struct node *shared;
static _Thread_local struct node *unused;

NOINLINE struct node *take(void)
{
    struct node *n = unused;

    unused = n->next;
    n->next = NULL;
    return n;
}

THREAD(owner)
{
    struct node *pool = (struct node *)malloc(MANY * sizeof(*pool)), *box, *n;

    for (int i = 0; i < MANY; i++)
        pool[i].next = i + 1 < MANY ? &pool[i + 1] : NULL;
    unused = pool;
    box = take();
    n = take();
    prepare(n);
    n->next = NULL;
    shared = box;
    mark();
    n->value = 2; // ESCAPED
    return NULL;
}

THREAD(other)
{
    struct node *n;

    after(1);
    n = shared + 1;
    MUST(n->seal == SEAL); // ESCAPED
    n->value = 3;          // ESCAPED
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
