// realloc(NULL) and reallocarray allocate.
// RULE: store
#define OWN_FRAME
#include "escape.h"

static struct node *shared;

NOINLINE void fill(struct node *all)
{
    all[unknown(499)].value = 1; // PRIVATE
}

THREAD(owner)
{
    struct node *n = (struct node *)realloc(NULL, sizeof(*n));

    prepare(n);
    n = (struct node *)reallocarray(n, 500, sizeof(*n));
    fill(n);
    shared = n;
    mark();
    n->value = 2; // ESCAPED
    return NULL;
}

THREAD(other)
{
    after(1);
    MUST(shared->seal == SEAL); // ESCAPED
    shared[499].value = 3;      // ESCAPED
    shared[0].value = 4;        // ESCAPED
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
