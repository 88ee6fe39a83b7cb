// Through a pipe and a stream: the second of two elements that fwrite is given.
// RULE: contents
#include <stdio.h>
#include <unistd.h>

#include "escape.h"

static int ends[2];
static FILE *stream;

__attribute__((constructor)) static void open_pipe(void)
{
    MUST(pipe(ends) == 0 && (stream = fdopen(ends[1], "w")));
}

static void publish(struct node *n)
{
    struct node **box = (struct node **)calloc(2, sizeof(*box));

    box[1] = n;
    MUST(fwrite(box, sizeof(*box), (size_t)unknown(2), stream) == 2 && fflush(stream) == 0);
}

static struct node *receive(void)
{
    struct node *n[2];

    MUST(read(ends[0], n, sizeof(n)) == sizeof(n));
    return n[1];
}
