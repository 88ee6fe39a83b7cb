// A private block is made smaller, and what is behind it given out again; then both are stored.
// RULE: realloc,store
#define OWN_FRAME
#include "escape.h"

static struct node *shared[2];

THREAD(owner)
{
    struct node *n = (struct node *)malloc(3000), *rest;

    prepare(n);
    n = (struct node *)realloc(n, (size_t)unknown(sizeof(*n)));
    rest = (struct node *)malloc(2000);
    prepare(rest);
    shared[0] = n;
    shared[1] = rest;
    mark();
    n->value = 2;    // ESCAPED
    rest->value = 2; // ESCAPED
    return NULL;
}

THREAD(other)
{
    after(1);
    MUST(shared[0]->seal == SEAL && shared[1]->seal == SEAL); // ESCAPED
    shared[0]->value = 3;                                     // ESCAPED
    shared[1]->value = 3;                                     // ESCAPED
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
