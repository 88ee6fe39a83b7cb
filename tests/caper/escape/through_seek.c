// The position of a stream, which all threads share.
// RULE: cast
#include <stdio.h>
#include <sys/mman.h>

#include "escape.h"

static FILE *stream;

__attribute__((constructor)) static void open_stream(void)
{
    stream = fdopen(memfd_create("stream", 0), "w+");
    MUST(stream);
}

static void publish(struct node *n)
{
    MUST(fseeko(stream, (off_t)(uintptr_t)n, SEEK_SET) == 0);
}

static struct node *receive(void)
{
    return (struct node *)(uintptr_t)ftello(stream);
}
