// The halves of the pointer are swapped in a vector, which is stored.
// RULE: piece
#include "escape.h"

typedef uint32_t two __attribute__((vector_size(8), may_alias));

static two shared;

static void publish(struct node *n)
{
    struct node **box = (struct node **)calloc(4, sizeof(*box));
    two halves;

    box[2] = n;
    halves = *(const two *)&box[unknown(2)];
    shared = __builtin_shufflevector(halves, halves, 1, 0);
}

static struct node *receive(void)
{
    return (struct node *)((uintptr_t)shared[0] << 32 | shared[1]);
}
