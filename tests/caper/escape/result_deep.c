// The result of a thread points to the node.
// RULE: transitive
#define OWN_FRAME
#include "escape.h"

static struct node *never;

THREAD(maker)
{
    struct node *head = fresh();

    head->next = fresh();
    return head;
}

THREAD(third)
{
    if (never)
        never->value = 4;
    return NULL;
}

int main(void)
{
    pthread_t t = spawn(third, NULL);
    struct node *n = ((struct node *)join(spawn(maker, NULL)))->next;

    n->value = 2; // ESCAPED
    if (unknown(0))
        never = n; /* for the analysis: it could be */
    join(t);
    return 0;
}
