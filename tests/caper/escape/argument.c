// The argument of a thread.
// RULE: thread
#define OWN_FRAME
#include "escape.h"

THREAD(other)
{
    struct node *n = (struct node *)arg;

    MUST(n->seal == SEAL);
    n->value = 3; // ESCAPED
    return NULL;
}

int main(void)
{
    struct node *n = fresh();
    pthread_t t = spawn(other, n);

    n->value = 2; // ESCAPED
    join(t);
    return 0;
}
