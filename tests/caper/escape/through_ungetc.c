// The bytes of the pointer, each put back into a stream.
// RULE: piece
#include <stdio.h>
#include <sys/mman.h>

#include "escape.h"

enum { BYTES = sizeof(void *) };
static FILE *streams[BYTES];

__attribute__((constructor)) static void open_streams(void)
{
    for (int i = 0; i < BYTES; i++) {
        streams[i] = fdopen(memfd_create("stream", 0), "w+");
        MUST(streams[i]);
    }
}

NOINLINE void put_back(const unsigned char *bytes)
{
    for (int i = 0; i < BYTES; i++)
        MUST(ungetc(bytes[i], streams[i]) == bytes[i]);
}

static void publish(struct node *n)
{
    struct node **box = (struct node **)malloc(sizeof(*box));

    MUST(box);
    *box = n;
    put_back((const unsigned char *)box);
}

static struct node *receive(void)
{
    uintptr_t all = 0;

    for (int i = 0; i < BYTES; i++)
        all |= (uintptr_t)getc(streams[i]) << (8 * i);
    return (struct node *)all;
}
