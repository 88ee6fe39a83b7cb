// A private block is freed, and code that was not compiled by us gets its memory: that block is not private.
// RULE: free
// PLAIN: make.c
#define OWN_FRAME
#include "escape.h"

void plain_make(size_t n);
void *plain_made(void);

THREAD(owner)
{
    struct node *n = fresh();
    uintptr_t was = (uintptr_t)n;

    free(n);
    plain_make(sizeof(*n));
    n = perhaps((struct node *)plain_made());
    MUST((uintptr_t)n == (uintptr_t)unknown((long)was));
    n->seal = SEAL; // ESCAPED
    possibly(n);
    mark();
    n->value = 2; // ESCAPED
    return NULL;
}

THREAD(other)
{
    struct node *n;

    after(1);
    n = perhaps((struct node *)plain_made());
    MUST(n->seal == SEAL); // ESCAPED
    n->value = 3;          // ESCAPED
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
