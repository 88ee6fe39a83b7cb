// A block that others can reach grows where it is, or moves: what it was and what it becomes is theirs.
#define OWN_FRAME
#include "escape.h"

static struct node *shared;

THREAD(owner)
{
    struct node *n = fresh(), *again;

    shared = n;
    again = (struct node *)realloc(n, sizeof(*n) - 8);
    MUST(again == n);
    mark();
    again->value = 2; // ESCAPED
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
