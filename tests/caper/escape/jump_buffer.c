// A block in a private variable outlives a longjmp out of a call of code that was not compiled by us; then it is stored.
// RULE: store
// PLAIN: keep.c
#include <setjmp.h>

#include "escape.h"

void plain_keep_result(int i, void *(*make)(void));

static struct node *shared;
static jmp_buf back;

static void *leave(void)
{
    longjmp(back, 1);
}

static void publish(struct node *n)
{
    struct node *volatile local = n;

    if (setjmp(back) == 0)
        plain_keep_result(1, leave);
    shared = local;
}

static struct node *receive(void)
{
    return shared;
}
