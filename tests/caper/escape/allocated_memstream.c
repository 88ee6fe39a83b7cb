// The buffer of open_memstream has the pointer in it.
// RULE: contents
#include <stdio.h>

#include "escape.h"

static char *shared;

static void publish(struct node *n)
{
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    MUST(stream && fwrite(&n, sizeof(n), 1, stream) == 1 && fclose(stream) == 0);
    shared = text;
}

static struct node *receive(void)
{
    struct node *n;

    memcpy(&n, shared, sizeof(n));
    return n;
}
