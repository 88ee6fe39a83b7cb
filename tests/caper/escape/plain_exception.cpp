// An exception out of such code ends the call of it: what a function returns afterwards is the caller's alone.
// RULE: store
// PLAIN: keep.c
#include "escape.h"

extern "C" void plain_keep_result(int i, void *(*make)(void));

static struct node *shared;
static _Thread_local bool throwing;

static __attribute__((noinline)) void *make(void)
{
    if (throwing)
        throw 1;
    return fresh();
}

static void publish(struct node *n)
{
    struct node *own;

    throwing = unknown(1);
    try {
        plain_keep_result(1, make);
    } catch (int) {
        throwing = false;
    }
    own = (struct node *)make();
    possibly(own);
    own->more = 4; // PRIVATE
    shared = n;
}

static struct node *receive(void)
{
    struct node *n = shared;

    n->more = perhaps(n)->more + 1;
    return n;
}
