// Through a stream, a byte at a time.
// RULE: piece
#include <stdio.h>
#include <unistd.h>

#include "escape.h"

static FILE *ends[2];

__attribute__((constructor)) static void open_ends(void)
{
    int fds[2];

    MUST(pipe(fds) == 0);
    ends[0] = fdopen(fds[0], "r");
    ends[1] = fdopen(fds[1], "w");
    MUST(ends[0] && ends[1]);
}

static void publish(struct node *n)
{
    struct node **box = (struct node **)malloc(sizeof(*box));
    const unsigned char *bytes = (const unsigned char *)box;

    *box = n;
    for (int i = 0; i < (int)unknown(sizeof(*box)); i++)
        fputc(bytes[i], ends[1]);
    fflush(ends[1]);
}

static struct node *receive(void)
{
    uintptr_t word = 0;

    for (int i = 0; i < 64; i += 8)
        word |= (uintptr_t)(unsigned char)fgetc(ends[0]) << i;
    return (struct node *)word;
}
