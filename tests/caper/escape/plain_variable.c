// A variable of code that was not compiled by us.
// RULE: store
// PLAIN: variable.c
#include "escape.h"

extern struct node *plain_variable;

static void publish(struct node *n)
{
    plain_variable = n;
}

static struct node *receive(void)
{
    return plain_variable;
}
