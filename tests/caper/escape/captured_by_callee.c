// A local variable whose address a function gets, and gives away.
#define OWN_FRAME
#include "escape.h"

static struct node **shared;

NOINLINE void hand_over(struct node **where)
{
    shared = where;
}

NOINLINE void fill(struct node **where, struct node *n)
{
    *where = n;
}

THREAD(owner)
{
    struct node *local = NULL;

    hand_over(&local);
    fill(&local, fresh());
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
