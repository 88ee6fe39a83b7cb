// Memory is freed and allocated again, a thousand times: private, escaped, private.
// RULE: store
#define OWN_FRAME
#include "escape.h"

static struct node *shared;

THREAD(owner)
{
    for (int i = 1; i <= 1000; i++) {
        struct node *n = fresh();

        shared = n;
        mark();
        n->value = 2; // ESCAPED
        after(2 * i);
        free(n);
    }
    return NULL;
}

THREAD(other)
{
    for (int i = 1; i <= 1000; i++) {
        after(2 * i - 1);
        MUST(shared->seal == SEAL); // ESCAPED
        shared->value = 3;          // ESCAPED
        mark();
    }
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
