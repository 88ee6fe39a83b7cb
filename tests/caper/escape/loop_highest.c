// The highest of many addresses, found by a loop that the compiler turns into vectors.
// RULE: store
// FLAGS: -O3 -mavx2
#include "escape.h"

enum { MANY = 64 };
static uintptr_t shared;

NOINLINE void keep_highest(const uintptr_t *all, int n)
{
    uintptr_t best = 0;

    for (int i = 0; i < n; i++)
        best = all[i] > best ? all[i] : best;
    shared = best;
}

static void publish(struct node *n)
{
    uintptr_t *all = (uintptr_t *)calloc(MANY, sizeof(*all));

    all[unknown(33)] = (uintptr_t)n;
    keep_highest(all, MANY);
}

static struct node *receive(void)
{
    return (struct node *)shared;
}
