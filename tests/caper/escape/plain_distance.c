// Distances within a block, and what printf reads as a string, tell nobody of the block.
#define OWN_FRAME
#include <stdio.h>

#include "escape.h"

static volatile long shared;
static char text[40];

NOINLINE long distance(const struct node *a, const struct node *b)
{
    return a - b;
}

THREAD(owner)
{
    struct node *all = (struct node *)malloc(3 * sizeof(*all)), *n = &all[unknown(2)];

    possibly(all);
    shared = distance(n, all);
    prepare(n);
    memcpy(&n->more, "text", 5);
    MUST(snprintf(text, sizeof(text), "%ld %.4s", shared, (const char *)&n->more) == 6);
    n->value = 2; // PRIVATE
    mark();
    return NULL;
}

THREAD(other)
{
    struct node *n = fresh();

    after(1);
    perhaps(n)->value = 3; // PRIVATE
    shared = 0;            // ESCAPED
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
