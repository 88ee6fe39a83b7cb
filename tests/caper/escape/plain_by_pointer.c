// Such code calls a function of ours, which stores it where it is told.
// RULE: store
// PLAIN: keep.c
#include "escape.h"

void *plain_get(int i);
void plain_keep_by_pointer(int i, void (*make)(void **));
static _Thread_local struct node *own;

static void make(void **where)
{
    *where = own;
}

static void publish(struct node *n)
{
    own = n;
    plain_keep_by_pointer(1, make);
}

static struct node *receive(void)
{
    return (struct node *)plain_get(1);
}
