// A block of asprintf.
#define OWN_FRAME
#define NO_PRIVATE
#include <stdio.h>

#include "escape.h"

static struct node *shared;

NOINLINE struct node *make(void)
{
    char *text;

    MUST(asprintf(&text, "%064d", (int)unknown(7)) == 64);
    return (struct node *)text;
}

THREAD(owner)
{
    struct node *n = make();

    prepare(n);
    shared = n;
    mark();
    n->value = 2; // ESCAPED
    return NULL;
}

THREAD(other)
{
    after(1);
    MUST(shared->seal == SEAL); // ESCAPED
    shared->value = 3;          // ESCAPED
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
