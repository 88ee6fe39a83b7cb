// A block that is the argument of a thread has the pointer.
// RULE: transitive
#define OWN_FRAME
#include "escape.h"

struct argument {
    long number;
    struct node *node;
};

THREAD(other)
{
    struct node *n = ((struct argument *)arg)->node;

    MUST(n->seal == SEAL);
    n->value = 3; // ESCAPED
    return NULL;
}

int main(void)
{
    struct argument *a = (struct argument *)malloc(sizeof(*a));
    struct node *n = fresh();
    pthread_t t;

    a->node = n;
    t = spawn(other, a);
    n->value = 2; // ESCAPED
    join(t);
    return 0;
}
