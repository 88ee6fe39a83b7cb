// An array of a length that only the run knows, on the stack.
// RULE: store
#define OWN_FRAME
#include <alloca.h>

#include "escape.h"

static struct node **shared;

THREAD(owner)
{
    struct node **local = (struct node **)alloca((size_t)unknown(100) * sizeof(*local));
    struct node *n = fresh();

    shared = local;
    local[unknown(50)] = n;
    mark();
    n->value = 2; // ESCAPED
    after(2);
    return NULL;
}

THREAD(other)
{
    struct node *n;

    after(1);
    n = shared[50];
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
