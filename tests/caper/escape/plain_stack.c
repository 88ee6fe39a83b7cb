// Such code gets a local variable that holds it.
// RULE: store
// PLAIN: keep.c
#include "escape.h"

void *plain_get(int i);
void plain_keep_content(int i, void **p);

static void publish(struct node *n)
{
    void *box[2] = {NULL, n};

    plain_keep_content(1, box);
}

static struct node *receive(void)
{
    return (struct node *)plain_get(1);
}
