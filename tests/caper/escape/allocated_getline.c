// A block of getline.
#define OWN_FRAME
#define NO_PRIVATE
#include <stdio.h>

#include "escape.h"

static struct node *shared;

NOINLINE struct node *make(void)
{
    char *line = NULL;
    size_t size = 0;
    FILE *f = fopen("/proc/self/status", "r");

    MUST(f && getline(&line, &size, f) > 0 && size >= sizeof(struct node));
    fclose(f);
    return (struct node *)line;
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
