// Code that was not compiled by us gets it, and keeps it.
// RULE: call
// PLAIN: keep.c
#include "escape.h"

void *plain_get(int i);
void plain_keep(int i, void *p);

static void publish(struct node *n)
{
    plain_keep(1, n);
}

static struct node *receive(void)
{
    return (struct node *)plain_get(1);
}
