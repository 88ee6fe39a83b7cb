// A copy of a list of arguments, in a block that others can reach.
// RULE: vararg
#define OWN_FRAME
#include <stdarg.h>

#include "escape.h"

static va_list *shared;

NOINLINE void keep(int n, ...)
{
    va_list list;

    va_start(list, n);
    shared = (va_list *)malloc(sizeof(*shared));
    va_copy(*shared, list);
    mark();
    after(2);
    va_end(list);
}

THREAD(owner)
{
    struct node *n = fresh();

    possibly(n);
    keep(1, n);
    n->value = 2; // ESCAPED
    return NULL;
}

THREAD(other)
{
    struct node *n;

    after(1);
    n = perhaps(va_arg(*shared, struct node *));
    MUST(n->seal == SEAL); // ESCAPED
    n->value = 3;          // ESCAPED
    mark();
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
