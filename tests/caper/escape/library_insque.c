// insque links it into a list.
// RULE: call
#include <search.h>

#include "escape.h"

struct element {
    struct element *next, *previous;
    struct node *node;
};
static struct element head;

static void publish(struct node *n)
{
    struct element *e = (struct element *)calloc(1, sizeof(*e));

    e->node = n;
    insque(e, &head);
}

static struct node *receive(void)
{
    return head.next->node;
}
