// Such code calls a function of ours, which returns a structure with it.
// RULE: return
// PLAIN: keep.c
#include "escape.h"

void *plain_get(int i);
struct pair {
    long first;
    void *second;
};
void plain_keep_pair(int i, struct pair (*make)(void));
static _Thread_local struct node *own;

static struct pair make(void)
{
    return (struct pair){1, own};
}

static void publish(struct node *n)
{
    own = n;
    plain_keep_pair(1, make);
}

static struct node *receive(void)
{
    return (struct node *)plain_get(1);
}
