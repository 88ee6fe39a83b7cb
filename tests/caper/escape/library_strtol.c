// strtol stores, in a variable, where it has stopped reading: in the block.
// RULE: link
#include <stddef.h>

#include "escape.h"

static char *shared;

static void publish(struct node *n)
{
    memcpy(&n->more, "12,", 4);
    MUST(strtol((const char *)&n->more, &shared, 10) == 12);
}

static struct node *receive(void)
{
    return (struct node *)(shared - 2 - offsetof(struct node, more));
}
