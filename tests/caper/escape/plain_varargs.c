// Such code gets it after the dots.
// RULE: call
// PLAIN: keep.c
// FLAGS: -Wno-deprecated-non-prototype -Wno-strict-prototypes
#include "escape.h"

void *plain_get(int i);
void plain_keep();

static void publish(struct node *n)
{
    ((void (*)(int, ...))plain_keep)(1, n);
}

static struct node *receive(void)
{
    return (struct node *)plain_get(1);
}
