// The argument of a thread of C11.
// RULE: thread
#define OWN_FRAME
#include <threads.h>

#include "escape.h"

static int other(void *arg)
{
    struct node *n = (struct node *)arg;

    MUST(n->seal == SEAL);
    n->value = 3; // ESCAPED
    return 0;
}

int main(void)
{
    struct node *n = fresh();
    thrd_t t;

    MUST(thrd_create(&t, other, n) == thrd_success);
    n->value = 2; // ESCAPED
    thrd_join(t, NULL);
    return 0;
}
