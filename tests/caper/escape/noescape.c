// Code that was not compiled by us promises not to keep what it gets, a part of a local variable, and keeps what that points to.
// RULE: call
// PLAIN: keep.c
#include "escape.h"

void plain_keep_content(int i, void *const *p __attribute__((noescape)));
void *plain_get(int i);

static void publish(struct node *n)
{
    struct {
        long before[3];
        void *words[2];
    } local;

    local.words[unknown(0)] = NULL;
    local.words[unknown(1)] = n;
    plain_keep_content(3, local.words);
}

static struct node *receive(void)
{
    return (struct node *)plain_get(3);
}
