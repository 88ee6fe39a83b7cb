// A structure on the stack, whose address is the argument of a thread, has the pointer.
// RULE: store
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
    struct argument a = {1, fresh()};
    pthread_t t = spawn(other, &a);

    a.node->value = 2; // ESCAPED
    join(t);
    return 0;
}
