// bcopy, whose arguments are the other way round.
// RULE: copy
#include "escape.h"

struct box {
    long before;
    struct node *node;
    long behind[6];
};
static struct box shared;

#include <strings.h>

static void publish(struct node *n)
{
    struct box *box = (struct box *)calloc(1, sizeof(*box));

    box->node = n;
    bcopy(box, &shared, (size_t)unknown(sizeof(shared)));
}

static struct node *receive(void)
{
    return shared.node;
}
