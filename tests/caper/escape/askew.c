// Words that have half of the pointer each are loaded from a private block, and stored.
// RULE: piece
#include "escape.h"

typedef uint64_t askew __attribute__((aligned(4), may_alias));

static uint64_t first, second;

static void publish(struct node *n)
{
    struct node **box = (struct node **)calloc(4, sizeof(*box));

    box[2] = n;
    first = *(const askew *)((const char *)box + unknown(12));
    second = *(const askew *)((const char *)box + unknown(20));
}

static struct node *receive(void)
{
    return (struct node *)(first >> 32 | second << 32);
}
