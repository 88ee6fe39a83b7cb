// hsearch puts it into a table of the library.
// RULE: call
#include <search.h>

#include "escape.h"

static void publish(struct node *n)
{
    char name[] = "node";
    ENTRY entry = {strdup(name), n};

    MUST(hcreate(10) && hsearch(entry, ENTER));
}

static struct node *receive(void)
{
    char name[] = "node";
    ENTRY entry = {name, NULL}, *found = hsearch(entry, FIND);

    MUST(found);
    return (struct node *)found->data;
}
