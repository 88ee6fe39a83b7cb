// Such code gets it by a function pointer.
// RULE: indirect
// PLAIN: keep.c
#include "escape.h"

void *plain_get(int i);
void plain_keep(int i, void *p);
static void (*volatile keep)(int i, void *p) = plain_keep;

static void publish(struct node *n)
{
    keep(1, n);
}

static struct node *receive(void)
{
    return (struct node *)plain_get(1);
}
