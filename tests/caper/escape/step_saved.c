// An integer in a private block is increased. It is not there when the block becomes known.
// RULE: store
#include "escape.h"

static volatile uintptr_t *shared;

NOINLINE void increase(volatile uintptr_t *place)
{
    uintptr_t before = *place;

    *place = 0;
    shared = place;
    *place = before + 8;
}

static void publish(struct node *n)
{
    volatile uintptr_t *place = (volatile uintptr_t *)calloc(2, sizeof(*place));

    MUST(place);
    *place = (uintptr_t)n;
    increase(place);
}

static struct node *receive(void)
{
    return (struct node *)(*shared - 8);
}
