// swab copies to a private block, with every two bytes swapped; the block is stored afterwards.
// RULE: copy,contents
#include <unistd.h>

#include "escape.h"

static struct node **shared;

static void publish(struct node *n)
{
    struct node **box = (struct node **)malloc(sizeof(*box)),
                **swapped = (struct node **)malloc(sizeof(*box));

    *box = n;
    swab(box, swapped, (ssize_t)unknown(sizeof(*box)));
    shared = swapped;
}

static struct node *receive(void)
{
    struct node *n;

    swab(shared, &n, sizeof(n));
    return n;
}
