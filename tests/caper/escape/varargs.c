// An argument after the dots.
// RULE: vararg,store
#include <stdarg.h>

#include "escape.h"

static struct node *shared;

NOINLINE void keep(int n, ...)
{
    va_list list;

    va_start(list, n);
    for (int i = 0; i < n; i++)
        shared = va_arg(list, struct node *);
    va_end(list);
}

static void publish(struct node *n)
{
    keep((int)unknown(9), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, n);
}

static struct node *receive(void)
{
    return shared;
}
