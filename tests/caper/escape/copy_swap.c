// Two structures are swapped by three copies.
// RULE: copy
#include "escape.h"

struct box {
    long before;
    struct node *node;
    long behind[30];
};
static struct box shared;

static void publish(struct node *n)
{
    struct box *box = (struct box *)calloc(1, sizeof(*box));
    struct box between;

    box->node = n;
    memcpy(&between, &shared, (size_t)unknown(sizeof(between)));
    memcpy(&shared, box, (size_t)unknown(sizeof(between)));
    memcpy(box, &between, (size_t)unknown(sizeof(between)));
}

static struct node *receive(void)
{
    return shared.node;
}
