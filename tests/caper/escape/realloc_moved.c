// A block that has grown, and had to move, is stored.
// RULE: store
#define OWN_FRAME
#include "escape.h"

static struct node *shared;

NOINLINE void fill(struct node *all)
{
    all[999].value = 1; // PRIVATE
}

THREAD(owner)
{
    struct node *small = fresh(), *large;
    void *wall = malloc(16); /* behind it, so that it has to move */

    large = (struct node *)realloc(small, 1000 * sizeof(*large));
    MUST(large && wall);
    fill(large);
    shared = large;
    mark();
    large->value = 2; // ESCAPED
    return NULL;
}

THREAD(other)
{
    after(1);
    MUST(shared->seal == SEAL); // ESCAPED
    shared[999].value = 3;      // ESCAPED
    shared[0].value = 4;        // ESCAPED
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
