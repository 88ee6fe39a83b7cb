// A pool of the program, told by lard.h: its block is one that others can reach.
#define OWN_FRAME
#define NO_PRIVATE
#include <deadheat/lard.h>

#include "escape.h"

static struct node *shared;
static struct node pool[64];

THREAD(owner)
{
    struct node *n = &pool[unknown(3)];

    dh_lard_clear(n, sizeof(*n));
    prepare(n);
    shared = n;
    mark();
    n->value = 2; // ESCAPED
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
