// A list of arguments handed on.
// RULE: vararg,store
#include <stdarg.h>

#include "escape.h"

static struct node *shared;

NOINLINE void keep_list(int n, va_list list)
{
    for (int i = 0; i < n; i++)
        shared = va_arg(list, struct node *);
}

NOINLINE void keep(int n, ...)
{
    va_list list, again;

    va_start(list, n);
    va_copy(again, list);
    keep_list(n, again);
    va_end(again);
    va_end(list);
}

static void publish(struct node *n)
{
    keep((int)unknown(2), NULL, n);
}

static struct node *receive(void)
{
    return shared;
}
