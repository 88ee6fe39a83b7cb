// Such code gets a block that holds it.
// RULE: call
// PLAIN: keep.c
#include "escape.h"

void *plain_get(int i);
void plain_keep_content(int i, void **p);

static void publish(struct node *n)
{
    void **box = (void **)calloc(2, sizeof(*box));

    box[1] = n;
    plain_keep_content(1, box);
}

static struct node *receive(void)
{
    return (struct node *)plain_get(1);
}
