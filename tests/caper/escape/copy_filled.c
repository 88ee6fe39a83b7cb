// Each byte of the pointer, by filling memory with it.
// RULE: piece
#include "escape.h"

enum { BYTES = sizeof(void *) };
static unsigned char shared[BYTES];

NOINLINE void fill(const unsigned char *bytes)
{
    for (int i = 0; i < BYTES; i++)
        memset(&shared[i], bytes[i], (size_t)unknown(1));
}

static void publish(struct node *n)
{
    struct node **box = (struct node **)malloc(sizeof(*box));

    MUST(box);
    *box = n;
    fill((const unsigned char *)box);
}

static struct node *receive(void)
{
    struct node *n;

    memcpy(&n, shared, sizeof(n));
    return n;
}
