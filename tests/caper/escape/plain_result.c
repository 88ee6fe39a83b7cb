// Such code calls a function of ours, which returns it.
// RULE: return
// PLAIN: keep.c
#include "escape.h"

void *plain_get(int i);
void plain_keep_result(int i, void *(*make)(void));
static _Thread_local struct node *own;

static void *make(void)
{
    return own;
}

static void publish(struct node *n)
{
    own = n;
    plain_keep_result(1, make);
}

static struct node *receive(void)
{
    return (struct node *)plain_get(1);
}
