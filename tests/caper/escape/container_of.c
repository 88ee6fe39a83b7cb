// A pointer to a member; the other knows what it is a member of.
// RULE: interior
#include <stddef.h>

#include "escape.h"

static long *member;

static void publish(struct node *n)
{
    member = &n->more;
}

static struct node *receive(void)
{
    return (struct node *)((char *)member - offsetof(struct node, more));
}
