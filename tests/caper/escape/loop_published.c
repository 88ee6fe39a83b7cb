// Stored again and again in a loop: a barrier that was moved out of it comes too late.
// RULE: store
#define OWN_FRAME
#include "escape.h"

static struct node *shared;

NOINLINE struct node *link_all(long n)
{
    struct node *last = NULL;

    for (long i = 0; i < n; i++) {
        struct node *node = fresh();
        shared = node;
        node->next = last;
        last = node;
    }
    return last;
}

THREAD(owner)
{
    struct node *n = link_all(unknown(100));

    mark();
    n->next->value = 2; // ESCAPED
    return NULL;
}

THREAD(other)
{
    after(1);
    MUST(shared->seal == SEAL); // ESCAPED
    shared->next->value = 3;    // ESCAPED
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
