// A list of 100,000 nodes: following it must not need a stack.
// RULE: transitive
#include "escape.h"

static struct node *shared;

static void publish(struct node *n)
{
    struct node *head = n;

    for (int i = 0; i < 100000; i++) {
        struct node *next = fresh();
        next->next = head;
        head = next;
    }
    shared = head;
}

static struct node *receive(void)
{
    struct node *last = shared;

    while (last->next)
        last = last->next;
    return last;
}
