// A local variable that holds the pointer before its address is given away.
// RULE: store
#define OWN_FRAME
#include "escape.h"

static struct node **shared;

THREAD(owner)
{
    struct node *volatile local = fresh();

    shared = (struct node **)&local;
    mark();
    local->value = 2; // ESCAPED
    after(2);
    return NULL;
}

THREAD(other)
{
    struct node *n;

    after(1);
    n = *shared;
    MUST(n->seal == SEAL); // ESCAPED
    n->value = 3;          // ESCAPED
    mark();
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
